package anchor

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func FuzzTension(f *testing.F) {
	for _, s := range []string{first, deep1, "L3::[A]<->CTX:x:1[s]->TRIGGER[t],", "[A] vs CTX:a[b]/c:9-99[s[0]]→TRIGGER[[t]]", "[a]⇌CTX:→TRIGGER[b]", "[", "L1::"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		got, bad := scanTension(line)
		if bad != nil {
			if bad.Text == "" || bad.Want == "" || bad.Code == "" {
				t.Errorf("%q: %+v says too little", line, bad)
			}
			return
		}
		again, bad := scanTension(got.String())
		got.N = 0
		if bad != nil || again != got {
			t.Errorf("%q: printed %q, read back %+v, %v; want %+v", line, got.String(), again, bad, got)
		}
	})
}

func FuzzReadBind(f *testing.F) {
	f.Add([]byte(envelope + "BIND:\n  ROLE::editor\n  COGNITION::LOGOS\n  AUTHORITY::\"RESPONSIBLE[x]\"\n===END===\n"))
	f.Add([]byte("## BIND\nROLE::r\nCOGNITION::LOGOS::ATLAS⊕X\nAUTHORITY::DELEGATED[a::b]\n"))
	f.Add([]byte("BIND::[ROLE::x,\n ROLE::y]"))
	f.Fuzz(func(t *testing.T, b []byte) {
		bind, ps := takeBind(b, editor(), "editor", nil)
		for _, p := range ps {
			if p.Code == "" || p.At == "" || p.Text == "" {
				t.Errorf("%+v says too little", p)
			}
		}
		if len(ps) > 0 {
			return
		}
		again, ps := readBind(anchorText(Anchor{Bind: bind}))
		if d := cmp.Diff(bind, again); d != "" || len(ps) > 0 {
			t.Errorf("%v\n%s", ps, d)
		}
	})
}

func FuzzReadProof(f *testing.F) {
	f.Add([]byte(proofOf(first, second)))
	f.Add([]byte("## TENSION\nL1::" + deep1 + "\n## COMMIT\nARTIFACT::docs/x.md\nGATE::go test ./...\n"))
	f.Add([]byte("TENSIONS::[\"" + first + "\"]\n" + okCommit))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, ps := judged(string(b), Quick)
		for _, q := range ps {
			if q.Code == "" || q.At == "" || q.Text == "" {
				t.Errorf("%+v says too little", q)
			}
		}
		guidance, template := given(AtContext).guide(editor(), ps)
		if guidance == "" || template == "" {
			t.Error("no guidance")
		}
		if len(ps) > 0 {
			return
		}
		text := anchorText(Anchor{Tensions: p.Tensions, Commit: p.Commit})
		rereads(t, text)
		again, ps := takeProof(text, Judging{Protected: unprotected, Strictness: Quick, Files: tree(), Constitution: editor()})
		for i := range again.Tensions {
			again.Tensions[i].Line = p.Tensions[i].Line
		}
		if d := cmp.Diff(p, again); d != "" || len(ps) > 0 {
			t.Errorf("%v\n%s", ps, d)
		}
	})
}

func TestAnyAnchorIsStrict(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := func(name string) string { return rapid.String().Draw(t, name) }
		a := Anchor{
			GeneratedBy: rapid.SampledFrom([]string{"agent", "server"}).Draw(t, "by"),
			Bind: Bind{Role: text("role"), Cognition: text("cognition"), Archetypes: rapid.SliceOf(rapid.String()).Draw(t, "archetypes"),
				Authority: Authority{Delegated: rapid.Bool().Draw(t, "delegated"), Scope: text("scope"), Parent: text("parent")}},
			Arm: Arm{Phase: text("phase"), Branch: text("branch"), Focus: text("focus"), Hash: text("hash"), Ahead: rapid.IntRange(0, 3).Draw(t, "ahead")},
			Tensions: rapid.SliceOf(rapid.Custom(func(t *rapid.T) Tension {
				return Tension{Constraint: rapid.String().Draw(t, "c"), Path: rapid.String().Draw(t, "p"), Start: 1, End: 2, State: rapid.String().Draw(t, "s"), Trigger: rapid.String().Draw(t, "a")}
			})).Draw(t, "tensions"),
			Commit: Commit{text("artifact"), text("gate")},
		}
		for _, p := range rapid.SliceOf(rapid.String()).Draw(t, "files") {
			a.Arm.Files = append(a.Arm.Files, Change{Path: p})
		}
		rereads(t, anchorText(a))
	})
}
