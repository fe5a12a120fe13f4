package cmd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/odd-cli/odd/journal"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
	"github.com/odd-cli/odd/persona/handoff"
)

// mode reads a mode however it is spelled.
func mode(verb, flag, s string) (contract.Mode, error) {
	m, err := contract.Named(s, contract.ModeNames())
	if err != nil {
		return "", usage("%s: --%s: %v", verb, flag, err)
	}
	return m, nil
}

// transition reads two modes that a handoff joins.
func transition(verb, from, to string) (a, b contract.Mode, err error) {
	if a, err = mode(verb, "from", from); err != nil {
		return "", "", err
	}
	if to == "" {
		t, _ := handoff.After(a)
		return a, t.To, nil
	}
	if b, err = mode(verb, "to", to); err != nil {
		return "", "", err
	}
	if _, ok := handoff.Find(a, b); !ok {
		t, _ := handoff.After(a)
		return "", "", refuse("transition", "%s: %s → %s is no transition; %s hands over to %s, going back is odd agent handoff revert and leaving out odd agent handoff skip", verb, a, b, a, t.To)
	}
	return a, b, nil
}

// deliverableFrom reads a deliverable that holds its whole minimum.
func deliverableFrom(env Env, m handoff.Meta, file string) (*deliver.Deliverable, error) {
	if file == "" {
		return nil, nil
	}
	var b []byte
	var err error
	if file == "-" {
		b, err = io.ReadAll(env.Stdin)
	} else {
		b, err = readFile(env, file)
	}
	if err != nil {
		return nil, err
	}
	t, _ := handoff.Find(m.From, m.To)
	d, err := deliver.Decode(t.Schema, b)
	var ps deliver.Problems
	if errors.As(err, &ps) {
		lines := make([]string, len(ps))
		for i, p := range ps {
			lines[i] = fmt.Sprintf("%s: %s", file, p.Error())
		}
		return nil, errors.New(strings.Join(lines, "\n"))
	}
	if a := d.Artifact(); a == "" && m.Artifact != "" {
		d.Set("artifact", m.Artifact, nil)
	} else if m.Artifact != "" && a != m.Artifact {
		return nil, usage("agent handoff new: --artifact %s, and the deliverable is about %s", m.Artifact, a)
	}
	var lacks []string
	for _, key := range d.Missing() {
		lacks = append(lacks, fmt.Sprintf("%s: no %s: %s", file, key, deliver.Ask(t.Schema, key)))
	}
	if len(lacks) > 0 {
		return nil, refuse("incomplete", "%s", strings.Join(lacks, "\n"))
	}
	return &d, nil
}

// handOver makes the handoff's file, a template where there is no deliverable,
// and the journal's entry about it.
func (v *view) handOver(m handoff.Meta, d *deliver.Deliverable) (handoff.Handoff, handoffAct, error) {
	name, text, err := handoff.Template(m)
	if d != nil {
		name, text, err = handoff.Make(m, *d)
	}
	if err != nil {
		return handoff.Handoff{}, handoffAct{}, err
	}
	if _, err := fs.Stat(v.bundle, name); !errors.Is(err, fs.ErrNotExist) {
		return handoff.Handoff{}, handoffAct{}, refuse("exists", "%s is there already; choose another --title", v.file(name))
	}
	a, err := okf.Parse(name, text)
	if err != nil {
		return handoff.Handoff{}, handoffAct{}, err
	}
	h, err := handoff.Read(&a)
	if err != nil {
		return h, handoffAct{}, err
	}
	title, content := handoff.Entry(h, v.file(name), m.At)
	return h, handoffAct{repo.Changes{v.file(name): text}, "handoff: " + h.Title, journal.Entry{Type: "H", TypeName: journal.TypeName("H", ""), Title: title, Content: content, More: owner(h.To)}}, nil
}

// owner says in the journal who is next.
func owner(m contract.Mode) []journal.Field {
	return []journal.Field{{Name: "owner", Value: string(handoff.Worker(m))}}
}

// lacking is whether a handoff holds its minimum, in words.
func lacking(missing []string) string {
	if len(missing) == 0 {
		return "complete"
	}
	return "missing " + strings.Join(missing, ", ")
}
