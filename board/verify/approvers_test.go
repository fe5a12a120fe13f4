package verify

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/board/review"
	"github.com/odd-cli/odd/journal/repo"
)

// addEndorsement endorses the proposal as who.
func (s *story) addEndorsement(w *run, who string) {
	s.Helper()
	b, err := review.Endorse(s.task(w.task), s.human(who), s.now)
	if err != nil {
		s.Fatal(err)
	}
	s.land(s.make("endorse", w.task, draft{who: who, parents: []repo.OID{s.tip()}, ch: repo.Changes{taskFile(w.task): b}}))
}

// An approval takes only what the approvers of odd.toml approved or endorsed.
func TestApproversAreProven(t *testing.T) {
	t.Parallel()
	const bobs, both = "[governance.approvers]\n\"knowledge/terms/**\" = [\"bob@example.org\"]\n", "approvals = 2\n[governance.approvers]\nterm = [\"Ann@example.org\", \"bob@example.org\"]\n"
	edit := func(_ *story, d *draft) { d.ch["knowledge/terms/keel.md"] = []byte("---\ntype: role\nid: keel\n---\n") }
	for _, c := range []struct {
		name, law, at string
		do            func(*story, *draft)
		endorses      string
		want          []string
	}{
		{name: "everybody", want: []string{}},
		{name: "another must", law: bobs, want: []string{"3 tasks/t.md:5 the approval takes knowledge/terms/keel.md, and 1 more of bob@example.org must approve it, by [governance.approvers] knowledge/terms/**"}},
		{name: "another endorsed", law: bobs, endorses: bobMail, want: []string{}},
		{name: "two must", law: both, want: []string{"3 tasks/t.md:5 the approval takes knowledge/terms/keel.md, and 1 more of bob@example.org must approve it, by [governance.approvers] term"}},
		{name: "one twice", law: both, endorses: annMail, want: []string{"3 tasks/t.md:5 the approval takes knowledge/terms/keel.md, and 1 more of bob@example.org must approve it, by [governance.approvers] term"}},
		{name: "two did", law: both, endorses: bobMail, want: []string{}},
		{name: "what the second edits", law: both, endorses: bobMail, at: "approve t",
			do: func(s *story, d *draft) {
				edit(s, d)
				d.set("Odd-Edited", "knowledge/terms/keel.md@"+string(get(s.r.WriteBlob(d.ch["knowledge/terms/keel.md"]))))
			},
			want: []string{"3 tasks/t.md:5 the approval takes knowledge/terms/keel.md, and 1 more of bob@example.org must approve it, by [governance.approvers] term"}},
		{name: "a yes that another wrote", law: both, endorses: bobMail, at: "endorse t",
			do:   func(_ *story, d *draft) { d.who = annMail },
			want: []string{"3 tasks/t.md:5 writes that human:bob@example.org endorsed #, in a commit by ann@example.org"}},
		{name: "a yes to another proposal", law: both, endorses: bobMail, at: "endorse t",
			do: func(s *story, d *draft) {
				replaceIn(s, d, taskFile("t"), "proposal: \"", "proposal: \"0")
			},
			want: []string{"3 tasks/t.md:5 the approval takes knowledge/terms/keel.md, and 1 more of bob@example.org must approve it, by [governance.approvers] term"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			hooks := map[string]func(*story, *draft){}
			if c.at != "" {
				hooks[c.at] = c.do
			}
			s := begin(t, lawWith(t, c.law), hooks)
			s.add("t", "team: docs\n")
			w := work(s, "t")
			if c.endorses != "" {
				s.addEndorsement(w, c.endorses)
			}
			s.approve(w, false)
			if d := cmp.Diff(c.want, listFindings(s.check("", s.tip()))); d != "" {
				t.Error(d)
			}
		})
	}
}

func get[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
