package pipeline

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/odd-cli/odd/journal/event"
)

// Tell is every op that the ledgers of a bundle hold, in the order of their
// beginnings, and what is wrong with their records. A ledger file that is damaged
// tells what can be read of it; that it is, odd check says.
func Tell(bundle fs.FS) ([]Story, []Problem, error) {
	var all []event.Record
	err := event.Walk(bundle, func(_ string, b []byte) error {
		all = append(all, opRecords(b)...)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	stories, problems := inOrder(all)
	return stories, problems, nil
}

// TellIn is Tell for the ops that only these files of the bundle tell of, by path.
func TellIn(bundle fs.FS, files []string) ([]Story, error) {
	var all []event.Record
	for _, name := range slices.Sorted(slices.Values(files)) {
		b, err := fs.ReadFile(bundle, name)
		if err != nil {
			return nil, err
		}
		all = append(all, opRecords(b)...)
	}
	stories, _ := inOrder(all)
	return stories, nil
}

// opRecords are the records of a ledger file that tells of an op, none of another.
func opRecords(b []byte) []event.Record {
	if !bytes.Contains(b, []byte(`"kind":"op`)) {
		return nil
	}
	records, _ := event.Read(b)
	return records
}

// inOrder is ReadOps in the order of the ops' beginnings.
func inOrder(all []event.Record) ([]Story, []Problem) {
	stories, problems := ReadOps(all)
	slices.SortStableFunc(stories, func(a, b Story) int { return a.Op().Began.Compare(b.Op().Began) })
	return stories, problems
}

// Find is the one story whose op a person means by name, see [Match].
func Find(stories []Story, name string) (Story, error) {
	ids := make([]string, len(stories))
	for i, s := range stories {
		ids[i] = s.Op().ID
	}
	id, err := Match(ids, name)
	if err != nil {
		return Story{}, err
	}
	return stories[slices.Index(ids, id)], nil
}

// Match is the one op that a person means by name: its id, or what only its id
// begins with or ends in, the op- left out or not. The error of a name that several
// have lists them.
func Match(ids []string, name string) (string, error) {
	var found []string
	bare := strings.ToUpper(strings.TrimPrefix(strings.ToLower(name), "op-"))
	for _, id := range ids {
		ulid := strings.ToUpper(strings.TrimPrefix(id, "op-"))
		switch {
		case id == name:
			return id, nil
		case bare != "" && (strings.HasPrefix(ulid, bare) || strings.HasSuffix(ulid, bare)):
			found = append(found, id)
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("%s: there is no change with this id; odd op list --all lists them", name)
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("%s: it fits several changes: %s; type more of the id", name, strings.Join(found, ", "))
}

// WaitingFor is the story of the op that waits for a person with what a task
// proposes, whose commit is given; ok is false where none does.
func WaitingFor(stories []Story, task, proposal string) (s Story, ok bool) {
	for _, s := range stories {
		o := s.Op()
		if o.Task == task && o.Phase == Waiting && len(o.Moved) > 0 && o.Moved[0].New == proposal {
			return s, true
		}
	}
	return Story{}, false
}

// LandedWith is the story of the op that landed by itself what a task proposes,
// whose commit is given; ok is false where none did.
func LandedWith(stories []Story, task, proposal string) (s Story, ok bool) {
	for _, s := range stories {
		o := s.Op()
		if o.Task == task && o.Reason == Landed && len(o.Moved) == 2 && o.Moved[1].New == proposal {
			return s, true
		}
	}
	return Story{}, false
}

// Unbound lists what of a proposal is not what the op was judged on, nil for
// nothing: an approval of it would be of something else. branch is a short name;
// op and tier are the proposal commit's own trailers.
func (o Op) Unbound(commit, branch, base, op, tier string) []string {
	var out []string
	say := func(what, is, was string) {
		if is != was {
			out = append(out, fmt.Sprintf("its %s is %s, checked was %s", what, cmp.Or(is, "none"), cmp.Or(was, "none")))
		}
	}
	var moved Effect
	if len(o.Moved) > 0 {
		moved = o.Moved[0]
	}
	say("commit", commit, moved.New)
	say("branch", branch, strings.TrimPrefix(moved.Ref, "refs/heads/"))
	say("base", base, o.facts[FactBase])
	say("op", op, o.ID)
	say("tier", tier, o.facts[FactTier])
	return out
}
