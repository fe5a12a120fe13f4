package anchor

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Paths of a task narrow its atoms where one of them may be an atom's; others
// are what its change may touch beside them.
func TestWritable(t *testing.T) {
	t.Parallel()
	type globs = []string
	for _, c := range []struct {
		name             string
		task, role, want globs
	}{
		{"nobody says", nil, nil, globs{"knowledge/**"}},
		{"the role", nil, globs{"knowledge/terms/**"}, globs{"knowledge/terms/**"}},
		{"the task narrows", globs{"knowledge/terms/**"}, nil, globs{"knowledge/terms/**"}},
		{"a file of the bundle narrows", globs{"knowledge/terms/tide.md", "cmd/**"}, nil, globs{"knowledge/terms/tide.md", "cmd/**"}},
		{"a change", globs{"docs/**", "cmd/**"}, nil, globs{"docs/**", "cmd/**", "knowledge/**"}},
		{"a file beside the bundle", globs{"knowledge"}, nil, globs{"knowledge", "knowledge/**"}},
		{"a folder named alike", globs{"knowledge-base/**"}, nil, globs{"knowledge-base/**", "knowledge/**"}},
		{"anywhere, but no atom", globs{"**/*.go"}, nil, globs{"**/*.go", "knowledge/**"}},
		{"anywhere, an atom too", globs{"**/*.md"}, nil, globs{"**/*.md"}},
		{"by a letter", globs{"k*/terms/*"}, nil, globs{"k*/terms/*"}},
		{"everything", globs{"**"}, nil, globs{"**"}},
		{"within the role's", globs{"docs/**"}, globs{"docs/**", "knowledge/terms/**"}, globs{"docs/**", "knowledge/terms/**"}},
		{"a role without atoms", globs{"docs/api/**"}, globs{"docs/**"}, globs{"docs/api/**"}},
		{"a role for everything", globs{"docs/**"}, globs{"**"}, globs{"docs/**", "knowledge/**"}},
		{"a role that writes no docs", globs{"docs/**"}, globs{"knowledge/**"}, nil},
		{"a role of other atoms", globs{"knowledge/terms/**"}, globs{"knowledge/decisions/**"}, nil},
	} {
		if d := cmp.Diff(c.want, Writable(c.task, c.role, "knowledge/**")); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
	if got := Writable([]string{"docs/**"}, nil, "**"); !cmp.Equal(got, []string{"docs/**"}) {
		t.Errorf("where the bundle is the repository: %v", got)
	}
}

// TestSession walks the stages of a session that one process holds: nothing of it is on
// disk, it answers as one that is kept does, and its permit is held to the world.
func TestSession(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	w := s.desk().World
	on, r := Begin(w, IdentityRequest{Role: "editor"})
	refusedAs(t, r)
	if no := on.Live().Check(w); no == nil || problemsOf(no, "", "")[0].Code != Locked {
		t.Errorf("before it is bound: %v", no)
	}
	refusedAs(t, on.Send(w, []byte(badBind)), BindMismatch)
	refusedAs(t, on.Send(w, []byte(bindEditor)))
	refusedAs(t, on.Send(w, []byte(proofOf(first, second))))
	refusedAs(t, on.Send(w, []byte(proofOf(first, second))), Taken)
	a := on.Live().Anchor()
	if a.Token != r.Token || a.MAC != "" || a.SHA256 == "" || a.Permit.Payload != hexSum([]byte(proofOf(first, second))) || len(s.all()) != 0 {
		t.Errorf("%+v\n%v", a, s.all())
	}
	if no := on.Live().Check(w); no != nil {
		t.Error(no)
	}
	w.Now = w.Now.Add(2 * time.Hour)
	if no := on.Live().Check(w); no == nil || problemsOf(no, "", "")[0].Code != PermitExpired {
		t.Errorf("after its time: %v", no)
	}
	on, _ = Begin(s.desk().World, IdentityRequest{Role: "editor"})
	for range 2 {
		refusedAs(t, on.Send(s.desk().World, []byte(badBind)), BindMismatch)
	}
	if r := on.Send(s.desk().World, []byte(badBind)); !r.Terminal {
		t.Errorf("the third failure: %+v", r)
	}
	refusedAs(t, on.Send(s.desk().World, []byte(bindEditor)), Exhausted)
	if on, r := Begin(w, IdentityRequest{Role: "editor", Mode: Untracked}); on != nil || r.Success {
		t.Errorf("untracked: %+v", r)
	}
}
