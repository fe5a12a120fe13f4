package anchor

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/odd-cli/odd/persona/jsontree"
)

// hookCommand is what a harness runs before each tool.
const hookCommand = "odd anchor gate --hook claude"

// Where the hook stands in a settings file: a list of groups by event.
const (
	keyHooks = "hooks"
	keyEvent = "PreToolUse"
)

// The group that InstallHook adds, and its hook. The group matches every tool, because a
// tool that the gate never sees is open whatever the gate thinks of it; a hook
// that fails or is slower than its timeout in seconds blocks.
const (
	hookItem = `{"type":"command","command":"` + hookCommand + `","timeout":5,"onFailure":"block"}`
	fragment = `{"matcher":"*","hooks":[` + hookItem + `]}`
)

// HookState says how a settings file stands to the hook.
type HookState string

// The states, and the empty one for a file that is not there or does not
// mention it.
const (
	HookInstalled HookState = "installed"
	HookMissing   HookState = "missing"
	HookAltered   HookState = "altered"  // it is there and not as it was installed
	HookShadowed  HookState = "shadowed" // the file turns every hook off
)

// CheckHook says how a settings file stands to the hook, at which line and why;
// nil is a file that is not there. The error is a settingsError.
func CheckHook(file string, b []byte) (state HookState, line int, why string, err error) {
	if b == nil {
		return HookMissing, 0, "no such file", nil
	}
	s, err := readSettings(file, b)
	if err != nil {
		return "", 0, "", err
	}
	if off, ok := s.top.Get("disableAllHooks"); ok && s.text(off) != "false" {
		return HookShadowed, s.lineAt(off.From), "disableAllHooks turns every hook off", nil
	}
	found, err := s.findHooks()
	if err != nil {
		return "", 0, "", err
	}
	for _, f := range found {
		if f.why != "" {
			return HookAltered, s.lineAt(f.at), f.why, nil
		}
	}
	switch len(found) {
	case 0:
		return HookMissing, 0, "no hook of odd", nil
	case 1:
		return HookInstalled, s.lineAt(found[0].at), "", nil
	}
	return HookAltered, s.lineAt(found[1].at), "the hook stands there more than once", nil
}

// InstallHook adds the hook to a settings file; nil is a file that is not there.
// Where it stands already nothing changes, an altered one is replaced. No byte
// outside the new group, the brackets it needs and one comma changes, and
// RemoveHook takes exactly these away again. The error is a settingsError.
func InstallHook(file string, b []byte) ([]byte, error) {
	state, line, why, err := CheckHook(file, b)
	switch {
	case err != nil:
		return nil, err
	case state == HookInstalled:
		return b, nil
	case state == HookShadowed:
		return nil, settingsError(fmt.Sprintf("%s:%d: %s; delete the key first", file, line, why))
	case state == HookAltered:
		if b, err = RemoveHook(file, b); err != nil {
			return nil, err
		}
	}
	if b == nil {
		return []byte(layout{"\n", "  "}.format(`{"hooks":{"PreToolUse":[%]}}`, 0) + "\n"), nil
	}
	s, err := readSettings(file, b)
	if err != nil {
		return nil, err
	}
	to, name, text, depth := s.top, `"hooks": `, `{"PreToolUse":[%]}`, 1
	if hooks, ok := to.Get(keyHooks); ok {
		to, name, text, depth = hooks, `"PreToolUse": `, `[%]`, 2
		if groups, ok := to.Get(keyEvent); ok {
			to, name, text, depth = groups, "", `%`, 3
		}
	}
	return s.insertMember(to, name+s.readLayout().format(text, depth)), nil
}

// insertMember puts a new member behind the last one of n. A member that comes alone into
// brackets which were there stands right behind the bracket: by that, deleteMember
// knows whose brackets they are.
func (s settings) insertMember(n jsontree.Node, text string) []byte {
	at, before := n.From+1, ""
	if k := len(n.Members); k > 0 {
		last := n.Members[k-1]
		at, before = last.Value.To, ","+s.spaceBefore(n, k-1)
	}
	return slices.Concat(s.b[:at], []byte(before+text), s.b[at:])
}

// spaceBefore returns the white space before a member.
func (s settings) spaceBefore(n jsontree.Node, i int) string {
	from := n.Members[i].From
	return string(s.b[n.From+1+len(bytes.TrimRight(s.b[n.From+1:from], " \t\r\n")) : from])
}

// RemoveHook takes the hook out of a settings file, altered or not, and the
// brackets that were made for it. nil is a file that holds nothing else and was
// made for it. The error is a settingsError.
func RemoveHook(file string, b []byte) ([]byte, error) {
	for b != nil {
		s, err := readSettings(file, b)
		if err != nil {
			return nil, err
		}
		found, err := s.findHooks()
		if err != nil || len(found) == 0 {
			return b, err
		}
		b = s.deleteMember(found[0].path)
	}
	return nil, nil
}

// deleteMember deletes the member at a path of indexes and every bracket around it that
// then holds nothing and was made with it; nil is the whole file.
func (s settings) deleteMember(path []int) []byte {
	chain := []jsontree.Node{s.top}
	for k, i := range path {
		chain = append(chain, chain[k].Members[i].Value)
	}
	for k, i := range slices.Backward(path) {
		switch n := chain[k]; {
		case i > 0:
			return slices.Concat(s.b[:n.Members[i-1].Value.To], s.b[n.Members[i].Value.To:])
		case len(n.Members) > 1:
			return slices.Concat(s.b[:n.Members[0].From], s.b[n.Members[1].From:])
		case s.spaceBefore(n, 0) == "":
			return slices.Concat(s.b[:n.Members[0].From], s.b[n.Members[0].Value.To:])
		}
	}
	return nil
}

// installedHook is one command of odd's gate in the file: its path of indexes, its place,
// and why it is not as installed.
type installedHook struct {
	path []int
	at   int
	why  string
}

// findHooks lists every command of the gate. A file whose hooks have another shape is
// refused: the harness may read what odd cannot.
func (s settings) findHooks() (all []installedHook, err error) {
	i := s.top.Index(keyHooks)
	if i < 0 {
		return nil, nil
	}
	events := s.top.Members[i].Value
	if events.Kind != '{' {
		return nil, s.errorAt(events.From, "hooks is no object; the harness reads none from it either")
	}
	j := events.Index(keyEvent)
	if j < 0 {
		return nil, nil
	}
	groups := events.Members[j].Value
	if groups.Kind != '[' {
		return nil, s.errorAt(groups.From, "hooks.PreToolUse is no list; the harness reads none from it either")
	}
	for k, g := range groups.Members {
		h := g.Value.Index(keyHooks)
		if h < 0 || g.Value.Members[h].Value.Kind != '[' {
			continue
		}
		items := g.Value.Members[h].Value.Members
		for l, item := range items {
			if command, _ := item.Value.Get("command"); !runsGate().MatchString(command.Text) {
				continue
			}
			f := installedHook{path: []int{i, j, k}, at: item.From, why: s.describeChange(g.Value, item.Value)}
			if len(items) > 1 {
				f.path = append(f.path, h, l)
			}
			all = append(all, f)
		}
	}
	return all, nil
}

// runsGate finds odd's gate in a command, by whatever path.
var runsGate = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|[\s/"'])odd["']*\s+anchor\s+gate(?:\s|$)`) })

func (s settings) describeChange(group, item jsontree.Node) string {
	is, want := jsontext.Value(s.text(item)), jsontext.Value(hookItem)
	if err := errors.Join(is.Canonicalize(), want.Canonicalize()); err != nil || !bytes.Equal(is, want) {
		return "the entry is not as installed: want type command, command " + hookCommand + ", timeout 5, onFailure block and no more"
	}
	for _, m := range group.Members {
		switch {
		case m.Name == "matcher" && !slices.Contains([]string{`"*"`, `""`}, s.text(m.Value)):
			return "the matcher leaves tools out; want *"
		case m.Name != "matcher" && m.Name != keyHooks:
			return "the group has " + m.Name + ", which may leave tools out"
		}
	}
	return ""
}

// layout is how a file is written: its line end and its step of indentation;
// without a line end everything stands on one line.
type layout struct{ end, step string }

// readLayout reads how the file is written off its first member.
func (s settings) readLayout() layout {
	if len(s.top.Members) == 0 {
		return layout{"\n", "  "}
	}
	gap := s.spaceBefore(s.top, 0)
	_, step, ok := strings.Cut(gap, "\n")
	switch {
	case !ok:
		return layout{}
	case strings.Contains(gap, "\r\n"):
		return layout{"\r\n", step}
	}
	return layout{"\n", step}
}

// format writes a value with the fragment for its % at a depth of brackets. Every
// bracket opens with white space, by which deleteMember knows it again.
func (l layout) format(text string, depth int) string {
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(strings.Replace(text, "%", fragment, 1)), strings.Repeat(l.step, depth), l.step); err != nil {
		panic("unreachable: " + err.Error())
	}
	return strings.ReplaceAll(b.String(), "\n", cmp.Or(l.end, " "))
}

// maxSettings is the largest settings file that is edited, in bytes.
const maxSettings = 1 << 20

// settingsError is a settings file that is not edited, and at which line: it does not read
// as one JSON object with unique names, or the hook has no place in it.
type settingsError string

func (e settingsError) Error() string { return string(e) }

// Refused returns the reason code.
func (e settingsError) Refused() string { return "settings-unread" }

// settings is a harness's settings file with the place of every value in it, so
// that an edit touches no other byte.
type settings struct {
	file string
	b    []byte
	top  jsontree.Node
}

// readSettings locates every value. A name that an object has twice is an error,
// because a harness may believe either.
func readSettings(file string, b []byte) (settings, error) {
	top, bad := jsontree.ParseUnique(b)
	s := settings{file, b, top}
	switch {
	case len(b) > maxSettings:
		return s, s.errorAt(0, "longer than 1 MiB; no settings file is")
	case len(bytes.TrimSpace(b)) == 0:
		return s, s.errorAt(0, "empty; write {} or delete the file first")
	case bad != nil:
		return s, s.errorAt(bad.Offset, "%v; repair it first", bad)
	case top.Kind != '{':
		return s, s.errorAt(top.From, "not a JSON object; settings are one")
	}
	return s, nil
}

// errorAt returns an error that names the line of an offset.
func (s settings) errorAt(at int, format string, args ...any) error {
	return settingsError(fmt.Sprintf("%s:%d: ", s.file, s.lineAt(at)) + fmt.Sprintf(format, args...))
}

func (s settings) lineAt(at int) int { return 1 + bytes.Count(s.b[:at], []byte("\n")) }

// text returns a value as it stands in the file.
func (s settings) text(n jsontree.Node) string { return string(s.b[n.From:n.To]) }
