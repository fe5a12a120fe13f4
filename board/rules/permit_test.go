package rules

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/event/eventtest"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/anchor"
)

// noon is when the sessions of these tests happen.
var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// claimed is a claim of t-1 by run-1 with these data.
func claimed(data map[string]any) *Claim {
	return &Claim{Record: event.Record{Kind: event.Claim, Run: "run-1", Task: "t-1", Data: eventtest.Data(event.Claim, data)}}
}

// TestPermitTerms breaks one term of a permit a row.
func TestPermitTerms(t *testing.T) {
	t.Parallel()
	law := config.Default()
	deny := []string{"odd.toml"}
	for _, kept := range []string{"governance/**", "ledger/**", "journal/**", "proposals/**", "pause.toml"} {
		deny = append(deny, law.Root+"/"+kept)
	}
	without := func(kept string) func(*permit, *Line) {
		return func(p *permit, _ *Line) {
			p.Deny = slices.DeleteFunc(slices.Clone(p.Deny), func(s string) bool { return s == kept })
		}
	}
	for name, c := range map[string]struct {
		mode string
		do   func(*permit, *Line)
		want string
	}{
		"as odd releases it":  {"express", func(*permit, *Line) {}, ""},
		"full":                {"full", func(p *permit, _ *Line) { p.Mode, p.GeneratedBy = "full", "agent" }, ""},
		"full, for a refresh": {"full", func(_ *permit, l *Line) { l.Claim = claimed(map[string]any{"refresh_of": "run-0"}) }, ""},
		"untracked refresh": {"untracked", func(p *permit, l *Line) {
			p.Mode, p.GeneratedBy = "untracked", "agent"
			l.Claim = claimed(map[string]any{"refresh_of": "run-0"})
		}, ""},
		"as long as may be":    {"express", func(p *permit, _ *Line) { p.ended = p.bound.Add(law.Anchor.TTL) }, ""},
		"a second longer":      {"express", func(p *permit, _ *Line) { p.ended = p.bound.Add(law.Anchor.TTL + time.Second) }, "a permit for 1h0m1s"},
		"another mode":         {"full", func(p *permit, _ *Line) { p.GeneratedBy = "agent" }, "an anchor of mode express; odd.toml asks for full"},
		"another tier":         {"express", func(p *permit, _ *Line) { p.Tier = "deep" }, "an anchor of tier deep"},
		"proven by the agent":  {"express", func(p *permit, _ *Line) { p.GeneratedBy = "agent" }, "under express the server proves"},
		"proven by the server": {"full", func(p *permit, _ *Line) { p.Mode = "full" }, "under full the agent proves"},
		"no time at all":       {"express", func(p *permit, _ *Line) { p.ended = p.bound }, "ended before it began"},
		"no path":              {"express", func(p *permit, _ *Line) { p.Allow = []string{" "} }, "names no path"},
		"odd.toml":             {"express", without("odd.toml"), "does not deny odd.toml"},
		"the pause":            {"express", without(law.Root + "/pause.toml"), "does not deny knowledge/pause.toml"},
		"what people propose":  {"express", without(law.Root + "/proposals/**"), "does not deny knowledge/proposals/**"},
		"what is governed":     {"express", without(law.Root + "/governance/**"), "does not deny knowledge/governance/**"},
		"the ledger":           {"express", without(law.Root + "/ledger/**"), "does not deny knowledge/ledger/**"},
		"the journal":          {"express", without(law.Root + "/journal/**"), "does not deny knowledge/journal/**"},
	} {
		is := law
		is.Anchor.Mode = c.mode
		p := permit{Record: &event.Record{Run: "run-1", Task: "t-1"}, bound: noon, ended: noon.Add(time.Minute), AnchorData: event.AnchorData{Mode: "express", Tier: is.Anchor.Strictness, GeneratedBy: "server", Allow: []string{"doc/**"}, Deny: deny}}
		l := Line{Claim: claimed(nil)}
		c.do(&p, &l)
		if got := p.checkTerms(l, &is); got == "" != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestReadWhilePermitted: a session is read from the moment that it is bound, before its
// permit ends and not after it was released.
func TestReadWhilePermitted(t *testing.T) {
	t.Parallel()
	p := permit{bound: noon, released: noon.Add(time.Minute), ended: noon.Add(time.Minute)}
	for read, want := range map[string]string{
		"2026-03-02T12:00:00Z": "", "2026-03-02T12:00:59Z": "", "2026-03-02T11:59:59Z": "before it was bound", "2026-03-02T12:01:00Z": "after its permit had ended",
		"2026-03-02T12:01:01Z": "released before it was read", "noon": "is no moment",
	} {
		got := (&judge{Act: &Act{}}).checkReadTime(p, Line{Record: event.Record{Kind: event.Session, Run: "run-1", Task: "t-1"}}, read)
		if got == "" != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", read, got, want)
		}
	}
	own := event.SessionAnchor{Token: "oa-1", SHA256: "s", Mode: "m", Tier: "t"}
	held := permit{Record: &event.Record{Task: "t-1"}, AnchorData: event.AnchorData{Token: "oa-1", AnchorSHA256: "s", Mode: "m", Tier: "t"}}
	for want, do := range map[string]func(p *permit, of *event.SessionAnchor){
		"":                        func(*permit, *event.SessionAnchor) {},
		"which is another's":      func(p *permit, _ *event.SessionAnchor) { p.Record = &event.Record{Task: "t-2"} },
		"oa-1, which is another":  func(p *permit, _ *event.SessionAnchor) { p.Record = &event.Record{Task: "t-1", DeadRun: "run-0"} },
		"the hashes differ":       func(_ *permit, of *event.SessionAnchor) { of.SHA256 = "x" },
		"another mode or tier":    func(_ *permit, of *event.SessionAnchor) { of.Mode = "x" },
		"mode or tier than its a": func(_ *permit, of *event.SessionAnchor) { of.Tier = "x" },
	} {
		p, of := held, own
		do(&p, &of)
		if got := p.compareSession(of, "t-1"); got == "" != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestPermitMoments: each time of a permit must be one, and the first that is none is named.
func TestPermitMoments(t *testing.T) {
	t.Parallel()
	whole := event.AnchorData{BoundAt: "2026-03-02T12:00:00Z", ExpiresAt: "2026-03-02T12:01:00Z", ReleasedAt: "2026-03-02T12:00:30Z"}
	for want, do := range map[string]func(*event.AnchorData){
		"":                                      func(*event.AnchorData) {},
		`an anchor whose bound_at is no moment`: func(d *event.AnchorData) { d.BoundAt, d.ReleasedAt = "x", "" },
		`an anchor whose expires_at is no moment`: func(d *event.AnchorData) { d.ExpiresAt = "" },
		`whose released_at is no moment: "y"`:     func(d *event.AnchorData) { d.ReleasedAt = "y" },
	} {
		d := whole
		do(&d)
		p := readPermit(&event.Record{Kind: event.Anchor, Data: d})
		if got := p.broken; got == "" != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		if want == "" && (!p.bound.Equal(noon) || !p.ended.Equal(noon.Add(time.Minute)) || !p.released.Equal(noon.Add(30*time.Second))) {
			t.Errorf("%v, %v, %v", p.bound, p.released, p.ended)
		}
	}
}

// TestPermitPaths: a permit covers what it allows and does not deny, allows what task and role
// write, and denies what the role may not touch.
func TestPermitPaths(t *testing.T) {
	t.Parallel()
	p := permit{AnchorData: event.AnchorData{Allow: []string{"doc/**", ""}, Deny: []string{"doc/a/**", ""}}}
	for name, want := range map[string]bool{"doc/x.md": true, "doc/a/x.md": false, "x.md": false} {
		if p.coversPath(name) != want {
			t.Errorf("%s: not %v", name, want)
		}
	}
	law := []byte("[agent]\n")
	for name, c := range map[string]struct {
		allow, task []string
		role        anchor.Constitution
		deny        string
		want        string
	}{
		"the task's":               {[]string{"doc/**", "knowledge/**"}, []string{"doc/**"}, anchor.Constitution{}, "", ""},
		"more than the task's":     {[]string{"**"}, []string{"doc/**"}, anchor.Constitution{}, "", "a permit for **; its task and its role write doc/**, knowledge/**"},
		"handoffs alone":           {[]string{"knowledge/handoffs/**"}, []string{"doc/**"}, anchor.Constitution{}, "", ""},
		"handoffs too":             {[]string{"doc/**", "knowledge/handoffs/**"}, []string{"doc/**"}, anchor.Constitution{}, "", "a permit for doc/**, knowledge/handoffs/**"},
		"what the role may not":    {[]string{"doc/**", "knowledge/**"}, []string{"doc/**"}, anchor.Constitution{BlockedPath: []string{"doc/law/**"}}, "", "does not deny doc/law/**"},
		"the role's limit is kept": {[]string{"doc/**", "knowledge/**"}, []string{"doc/**"}, anchor.Constitution{BlockedPath: []string{"doc/law/**"}}, "doc/law/**", ""},
	} {
		p := permit{AnchorData: event.AnchorData{Allow: c.allow, Deny: []string{c.deny}}}
		if got := p.checkPaths(c.task, c.role, "knowledge"); got == "" != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	for want, do := range map[string]func(p *permit, l *Line, name *string){
		"":                           func(*permit, *Line, *string) {},
		"without a work role it is":  func(_ *permit, _ *Line, name *string) { *name = "x.toml" },
		"odd.toml; without a work r": func(p *permit, _ *Line, _ *string) { p.law.SHA256 = "x" },
		"an anchor as general; its claim is for the role planner": func(_ *permit, l *Line, _ *string) { l.Claim = claimed(map[string]any{"contract_role": "planner"}) },
		"an anchor as nobody": func(p *permit, _ *Line, _ *string) { p.Role = "" },
		"a permit for doc/**": func(p *permit, _ *Line, _ *string) { p.Allow = []string{"doc/**"} },
	} {
		p := permit{Record: &event.Record{Role: "general"}, law: event.Constitution{SHA256: gate.Sum(law)}, AnchorData: event.AnchorData{Allow: []string{"a.md", "knowledge/**"}}}
		l, name := Line{Claim: claimed(nil)}, "odd.toml"
		do(&p, &l, &name)
		if got := p.checkWithoutRole(l, name, []string{"a.md"}, "knowledge", law); got == "" != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestNamesRole: a role goes by its id, path, URI or file, in any case.
func TestNamesRole(t *testing.T) {
	t.Parallel()
	atoms := []*okf.Atom{{ID: "roles/pilot", Path: "roles/pilot.md", URI: "acme://roles/pilot"}}
	for name, want := range map[string]bool{
		"pilot": true, "Pilot": true, "roles/pilot": true, "/roles/pilot.md": true, "acme://roles/pilot": true, "crew/roles": false, "cook": false, "": false,
	} {
		if namesRole(name, "pilot", atoms) != want {
			t.Errorf("%q: not %v", name, want)
		}
	}
	if !namesRole("HARBOR_pilot", "harbor-pilot", nil) || namesRole("roles/pilot", "steersman", nil) || !namesRole("roles/pilot", "steersman", atoms) {
		t.Error("a file's name with _ is the role with -, and an atom goes by its id")
	}
}
