package contract

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/deliver"
)

// bundle is a graph of files given as path, text, path, text.
func bundle(t *testing.T, files ...string) *okf.Graph {
	t.Helper()
	var atoms []okf.Atom
	for i := 0; i+1 < len(files); i += 2 {
		a, err := okf.Parse(files[i], []byte(files[i+1]))
		if err != nil {
			t.Fatal(err)
		}
		atoms = append(atoms, a)
	}
	return okf.NewGraph(atoms)
}

const oddie1 = `---
type: persona
uri: acme://personas/oddie
persona: oddie
version: 1
roles: [validator, observer]
mcp_servers: {operational: [oddkit], task_relevant: [github, tracker]}
surface_profiles:
  real_time_stream: {density: high, max_tokens_per_emission: 40}
  audit: {structured_output: narrative}
---
`

const maker = `---
type: persona
persona: maker
version: 3
custom_role: {name: drafting, tools: builder, freshness: explorer, deliverable: builder}
---
`

// A role that a profile composes is no way around a critic's limits: who
// delivers findings changes nothing, and who validates has a fresh context.
func TestAComposedCriticIsOne(t *testing.T) {
	t.Parallel()
	for role, want := range map[string][2]bool{ // mutates, strict
		"{name: judge, tools: builder, freshness: general, deliverable: validator}":                   {false, false},
		"{name: judge, tools: builder, freshness: general, deliverable: validator, mode: validation}": {false, true},
		"{name: judge, tools: general, freshness: observer, deliverable: builder, mode: validation}":  {false, true},
		"{name: judge, tools: resolver, freshness: general, deliverable: validator, mode: execution}": {false, false},
		"{name: judge, tools: builder, freshness: general, deliverable: builder, mode: execution}":    {true, false},
	} {
		r := LoadRoster(bundle(t, "personas/judge.md", "---\ntype: persona\npersona: judge\nversion: 1\ncustom_role: "+role+"\n---\n"))
		c, _ := Resolve(Call{Persona: "judge", Role: "judge", Artifact: "a.md"}, World{Roster: r})
		if got := [2]bool{c.Mutates, c.Strict}; got != want {
			t.Errorf("%s: mutates and strict are %v, want %v", role, got, want)
		}
		if c.Bound != "" && !c.Mutates {
			t.Errorf("%s changes nothing within a %s", role, c.Bound)
		}
		for _, tool := range c.Tools {
			if tool.In && tool.Class == Mutates && !c.Mutates {
				t.Errorf("%s has the tool %s", role, tool.Name)
			}
		}
	}
}

// world has both profiles, and the servers oddkit and github.
func world(t *testing.T) World {
	t.Helper()
	r := LoadRoster(bundle(t, "personas/oddie.md", oddie1, "personas/maker.md", maker))
	for _, p := range r.Problems {
		t.Error(p)
	}
	return World{Roster: r, Servers: []string{"oddkit", "github"}}
}

// What a call leaves open follows from its profile where that says one thing only.
func TestWhatFollowsFromAProfile(t *testing.T) {
	t.Parallel()
	r := LoadRoster(bundle(t, "personas/oddie.md", oddie1, "personas/maker.md", maker,
		"personas/both.md", "---\ntype: persona\npersona: both\nversion: 1\nroles: [builder, observer]\n---\n",
		"personas/own.md", "---\ntype: persona\npersona: own\nversion: 1\nrole: validator\n"+strings.SplitAfterN(maker, "\n", 5)[4],
		"personas/one.md", "---\ntype: persona\npersona: one\nversion: 1\nroles: [planner]\nsurface_profiles: {audit: {density: low}}\n---\n",
		"personas/none.md", "---\ntype: persona\npersona: none\nversion: 1\n---\n"))
	for _, c := range []struct {
		call Call
		role Role
		code string // of a refusal, "" for any or none
	}{
		{Call{Persona: "oddie"}, Validator, ""},
		{Call{Persona: "oddie", Surface: SidebarChat}, Observer, ""},
		{Call{Persona: "oddie", Surface: Audit}, Validator, ""},
		{Call{Persona: "oddie", Surface: "audyt"}, Validator, "unknown-surface"},
		{Call{Persona: "one"}, Planner, ""},
		{Call{Persona: "one", Surface: SidebarChat}, Planner, ""},
		{Call{Persona: "maker"}, "drafting", ""},
		{Call{Persona: "maker", Role: "drafting"}, "drafting", ""},
		{Call{Persona: "own", Role: "drafting"}, "drafting", ""},
		{Call{Persona: "maker", Role: "drafter"}, "", "unknown-role"},
		{Call{Persona: "oddie", Role: "drafting"}, "", "unknown-role"},
		{Call{Persona: "both"}, "", "role-missing"},
		{Call{Persona: "none"}, "", "role-missing"},
		{Call{}, "", "role-missing"},
		{Call{Mode: Planning}, Planner, ""},
	} {
		got, no := Resolve(c.call, World{Roster: r})
		found := (c.code == "") != slices.ContainsFunc(no, func(r Refusal) bool { return r.Code == cmp.Or(c.code, "role-not-allowed") })
		if says := slices.ContainsFunc(got.Notes, func(n string) bool {
			return strings.HasSuffix(n, "@1 says nothing of sidebar-chat; the table's settings hold")
		}); says != (c.call.Surface == SidebarChat) {
			t.Errorf("%+v: %q", c.call, got.Notes)
		}
		if c.code == "" && got.Role != c.role || !found {
			t.Errorf("%+v: %q, %v; want %q, %s", c.call, got.Role, no, c.role, c.code)
		}
	}
}

// Who takes part is listed once, and who leads does not take part too.
func TestParticipants(t *testing.T) {
	t.Parallel()
	c, _ := Resolve(Call{Persona: "oddie", Role: Observer, Participants: []string{"maker", "oddie", "maker@3"}}, world(t))
	if len(c.Participants) != 1 || c.Participants[0].Ref() != "maker@3" {
		t.Errorf("%v", c.Participants)
	}
	c, _ = Resolve(Call{Role: Observer, Participants: []string{"oddie", "maker"}}, world(t))
	if len(c.Participants) != 2 || c.Participants[0].Ref() != "maker@3" {
		t.Errorf("in the order of the call: %v", c.Participants)
	}
}

// A call that is rare is resolved, and says what is rare about it.
func TestRareIsNoted(t *testing.T) {
	t.Parallel()
	for e, want := range map[Engagement]bool{Agent: true, Assistant: false} {
		c, no := Resolve(Call{Role: Explorer, Surface: Conversational, Engagement: e}, World{})
		if got := slices.Contains(c.Notes, "rare: exploration by an agent: exploration usually talks"); len(no) > 0 || got != want {
			t.Errorf("%s: %v, %q", e, no, c.Notes)
		}
	}
	w := World{Roster: LoadRoster(bundle(t, "p.md", version(1, "status: draft\n")))}
	if c, no := Resolve(Call{Persona: "ann", Role: General}, w); no.Refused() != "" || !slices.Contains(c.Notes, "ann@1 is a draft") {
		t.Errorf("%v, %q", no, c.Notes)
	}
	h := handed(Validator)[0]
	h.Path, h.Missing = "handoffs/a.md", []string{"does"}
	if c, no := Resolve(Call{Role: General, Handoffs: []Handoff{h}}, World{}); len(no) > 0 || !slices.Contains(c.Notes, "handoffs/a.md lacks does") {
		t.Errorf("%v, %q", no, c.Notes)
	}
}

// audit is the well-trodden call: everything is in order.
func audit() Call {
	return Call{Persona: "oddie", Role: Validator, Handoffs: handed(Validator)[:1]}
}

func TestResolveAudit(t *testing.T) {
	t.Parallel()
	c, no := Resolve(audit(), world(t))
	if len(no) > 0 {
		t.Fatal(no)
	}
	in := func(tools []Tool) (out []string) {
		for _, tool := range tools {
			if tool.In {
				out = append(out, tool.Name)
			}
			if tool.Why == "" {
				t.Errorf("tool %s without a reason", tool.Name)
			}
		}
		return out
	}
	if got, want := strings.Join(in(c.Tools), " "), "search fetch get related expand why audit validate say emit_deliverable finish"; got != want {
		t.Errorf("tools %s, want %s", got, want)
	}
	if len(c.Tools) != len(ToolRows()) {
		t.Errorf("%d tools are told of, want all %d", len(c.Tools), len(ToolRows()))
	}
	if c.Mode != Validation || c.Surface.Name != Audit || c.Engagement != Agent || c.Voice != VoicePersona || c.Mutates || !c.Strict || c.Next != Resolver {
		t.Errorf("contract %+v", c)
	}
	if c.Surface.Structured || !c.Surface.Narrative || c.Surface.Density != "medium" {
		t.Errorf("surface %+v, want the profile's settings over the table's", c.Surface)
	}
	if c.Artifact != "terms/slack-water.md" || !slices.Equal(c.Servers, []string{"oddkit"}) {
		t.Errorf("artifact %q, servers %q", c.Artifact, c.Servers)
	}
}

// TestGranted: what the configuration gives goes to its roles, and to none with a
// fresh context.
func TestGranted(t *testing.T) {
	t.Parallel()
	w := World{Servers: []string{"files", "sea"}, Granted: []Grant{{Server: "sea"}, {"files", []Role{Explorer}}}}
	for role, want := range map[Role][]string{Explorer: {"files", "sea"}, General: {"sea"}, Validator: nil} {
		c, _ := Resolve(Call{Role: role, Artifact: "a.md"}, w)
		if !slices.Equal(c.Servers, want) {
			t.Errorf("%s: %q, want %q", role, c.Servers, want)
		}
	}
}

// TestRefusals breaks one rule a row.
func TestRefusals(t *testing.T) {
	t.Parallel()
	over := func(modes []Mode, reason string, risks ...string) *Override { return &Override{modes, reason, risks} }
	const good = "production incident, a working patch is needed within thirty minutes"
	rows := map[string]struct {
		do   func(c *Call, w *World)
		want string // codes
		says string // in a message or way
	}{
		"unknown persona": {func(c *Call, _ *World) { c.Persona = "oddy" }, "unknown-persona", `did you mean "oddie"?`},
		"unreadable persona": {func(c *Call, w *World) {
			c.Persona, w.Roster = "ann", LoadRoster(bundle(t, "p.md", profileIn("role: x\n")))
		}, "persona-unreadable", "p.md:5"},
		"unknown version":     {func(c *Call, _ *World) { c.Persona = "oddie@4" }, "unknown-version", "it has oddie@1"},
		"unknown participant": {func(c *Call, _ *World) { c.Participants = []string{"x"} }, "unknown-persona", "want one of maker, oddie"},
		"unknown role":        {func(c *Call, _ *World) { c.Role = "validater" }, "unknown-role", `did you mean "validator"?`},
		"unknown mode":        {func(c *Call, _ *World) { c.Mode = "validating" }, "unknown-mode", "validation"},
		"unknown surface":     {func(c *Call, _ *World) { c.Surface = "audits" }, "unknown-surface", `did you mean "audit"?`},
		"schema of nobody": {func(_ *Call, w *World) {
			p, _ := w.Roster.Find("oddie")
			p.Surfaces = map[Surface]Settings{Audit: {OutputSchema: "acme://x"}}
		}, "schema-unmet", "can only answer in odd.findings.1"},
		"unknown engagement": {func(c *Call, _ *World) { c.Engagement = "agents" }, "unknown-engagement", "agent"},
		"unknown voice":      {func(c *Call, _ *World) { c.Voice = "stricter" }, "unknown-voice", "strict"},
		"unknown tool":       {func(c *Call, _ *World) { c.Tools = []string{"serch"} }, "unknown-tool", `did you mean "search" or "fetch"?`},
		"unknown server":     {func(c *Call, _ *World) { c.MCP = []string{"gihub"} }, "unknown-server", `did you mean "github"?`},
		"no role":            {func(c *Call, _ *World) { c.Role, c.Persona = "", "" }, "role-missing", "explorer"},
		"role of another":    {func(c *Call, _ *World) { c.Role, c.Handoffs = Explorer, nil }, "role-not-allowed", "oddie@1 may be validator or observer, not explorer"},
		"role of a participant": {func(c *Call, _ *World) {
			c.Persona, c.Participants, c.Role, c.Handoffs = "", []string{"oddie"}, General, nil
		}, "role-not-allowed", ""},
		"mode of another role":                    {func(c *Call, _ *World) { c.Mode = Execution }, "mode-mismatch", "take the role builder"},
		"mode of a role without":                  {func(c *Call, _ *World) { c.Role, c.Mode = Observer, Validation }, "mode-mismatch", "observer has no mode"},
		"dialogue on a stream":                    {func(c *Call, _ *World) { c.Role, c.Surface, c.Engagement = Observer, "Real_Time_Stream", "assistant" }, "surface-engagement", "take the engagement agent"},
		"agent in a chat":                         {func(c *Call, _ *World) { c.Role, c.Surface, c.Engagement = Observer, SidebarChat, Agent }, "surface-engagement", ""},
		"validator that writes":                   {func(c *Call, _ *World) { c.Tools = []string{"search", "write"} }, "tool-mutates", "tool write changes things"},
		"observer that writes":                    {func(c *Call, _ *World) { c.Role, c.Tools = Observer, []string{"commit"} }, "tool-mutates", "observer changes nothing"},
		"an observer that drafts":                 {func(c *Call, _ *World) { c.Role, c.Tools = Observer, []string{"encode"} }, "tool-not-allowed", "observer only reads"},
		"a tool of another mode":                  {func(c *Call, _ *World) { c.Tools = []string{"web_search"} }, "tool-not-allowed", "not on the list of validation"},
		"a person's tool":                         {func(c *Call, _ *World) { c.Persona, c.Role, c.Handoffs, c.Tools = "", General, nil, []string{"merge"} }, "tool-not-allowed", "a person's act"},
		"task-relevant server of a fresh context": {func(c *Call, _ *World) { c.MCP = []string{"github"} }, "server-not-listed", "fresh context"},
		"server not listed":                       {func(c *Call, w *World) { c.MCP, w.Servers = []string{"extra"}, append(w.Servers, "extra") }, "server-not-listed", "task_relevant"},
		"server not configured":                   {func(c *Call, _ *World) { c.MCP = []string{"tracker"} }, "server-not-configured", "tracker is not configured"},
		"operational server gone":                 {func(_ *Call, w *World) { w.Servers = []string{"github"} }, "server-not-configured", "oddie@1 needs the server oddkit"},
		"no handoff":                              {func(c *Call, _ *World) { c.Handoffs, c.Artifact = nil, "x" }, "handoff-missing", "execution to validation"},
		"no handoff, no artifact":                 {func(c *Call, _ *World) { c.Handoffs = nil }, "handoff-missing artifact-missing", "--artifact"},
		"incomplete handoff":                      {func(c *Call, _ *World) { c.Handoffs[0].Missing = []string{"does", "scope"} }, "handoff-incomplete", "lacks does, scope"},
		"a handoff for another":                   {func(c *Call, _ *World) { c.Handoffs = handed(Resolver) }, "handoff-wrong-transition handoff-missing", "validator may not read"},
		"a handoff of no passage":                 {func(c *Call, _ *World) { c.Handoffs[0].To = Execution }, "handoff-wrong-transition handoff-missing", "not a transition"},
		"no journal entry":                        {func(c *Call, _ *World) { c.Handoffs[0].Journal = "" }, "journal-missing", "execution to validation"},
		"findings of one name": {func(c *Call, _ *World) {
			*c = Call{Role: Resolver, Handoffs: append(handed(Resolver)[:1], handed(Resolver)[:1]...)}
			for i := range c.Handoffs {
				c.Handoffs[i].Path = []string{"handoffs/a.md", "handoffs/b.md"}[i]
				c.Handoffs[i].Findings = map[string]deliver.Disposition{"F3": deliver.Fix, "F1": deliver.Fix, "F2": deliver.Fix}
			}
		}, "findings-collide", "F1 (handoffs/a.md), F2 (handoffs/a.md), F3 (handoffs/a.md)"},
		"two artifacts":            {func(c *Call, _ *World) { c.Artifact = "other.md" }, "artifact-differs", "other.md"},
		"artifact in another mode": {func(_ *Call, w *World) { w.Busy = []Busy{{"./terms/slack-water.md", Execution, "run-1"}} }, "artifact-busy", "held in execution by run-1"},
		"artifact of a general":    {func(_ *Call, w *World) { w.Busy = []Busy{{"terms/slack-water.md", "", "run-1"}} }, "artifact-busy", "held in no mode"},
		"override in a hurry": {func(c *Call, _ *World) {
			c.Override = over([]Mode{Execution, Validation}, "in a hurry", "shared context")
		}, "override-vague", "haste"},
		"override without a reason": {func(c *Call, _ *World) { c.Override = over([]Mode{Execution, Validation}, " ", "shared context") }, "override-vague", "is empty"},
		"override of no risk":       {func(c *Call, _ *World) { c.Override = over([]Mode{Execution, Validation}, good, "None.", "n/a", "-") }, "override-no-risks", ""},
		"override without risks":    {func(c *Call, _ *World) { c.Override = over([]Mode{Execution, Validation}, good, " ") }, "override-no-risks", ""},
		"override of one mode":      {func(c *Call, _ *World) { c.Override = over([]Mode{Validation, Validation}, good, "r") }, "override-modes", "one mode"},
		"override of others":        {func(c *Call, _ *World) { c.Override = over([]Mode{Exploration, Planning}, good, "r") }, "override-modes", "name validation too"},
		"override of no mode":       {func(c *Call, _ *World) { c.Override = over([]Mode{"excution", Validation}, good, "r") }, "unknown-mode override-modes", `did you mean "execution"?`},
		"override of an observer":   {func(c *Call, _ *World) { c.Role, c.Override = Observer, over([]Mode{Execution, Validation}, good, "r") }, "override-role", ""},
		"a tool its composed role lacks": {func(c *Call, w *World) {
			*c = Call{Persona: "maker", Role: "drafting", Tools: []string{"challenge"}}
			w.Roster = LoadRoster(bundle(t, "m.md", strings.Replace(maker, "tools: builder", "tools: validator, mode: planning", 1)))
		}, "handoff-missing tool-not-allowed", "planning may have it, drafting's tools do not"},
		"override beside another": {func(c *Call, w *World) {
			c.Override, w.Busy = over([]Mode{Execution, Validation}, good, "r"), []Busy{{"terms/slack-water.md", Validation, "run-1"}}
		}, "artifact-busy", ""},
		"override without a journal": {func(c *Call, _ *World) {
			c.Override, c.Handoffs[0].Journal = over([]Mode{Execution, Validation}, good, "r"), ""
		}, "journal-missing", "no override waives it"},
		"everything at once": {func(c *Call, w *World) {
			*c, w.Servers = Call{Persona: "oddie@9", Participants: []string{"oddie"}, Role: Planner, Mode: Execution, Surface: SidebarChat, Engagement: Agent, Tools: []string{"write"}}, nil
		}, "unknown-version mode-mismatch surface-engagement role-not-allowed handoff-missing tool-mutates server-not-configured", ""},
	}
	broken := map[string]bool{}
	for name, row := range rows {
		for code := range strings.FieldsSeq(row.want) {
			broken[code] = true
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, w := audit(), world(t)
			row.do(&c, &w)
			_, no := Resolve(c, w)
			if got := strings.Join(no.Codes(), " "); got != row.want {
				t.Errorf("refused with %q, want %q\n%v", got, row.want, no)
			}
			if !strings.Contains(no.Error(), row.says) {
				t.Errorf("%v\ndoes not say %q", no, row.says)
			}
		})
	}
	for _, code := range RefusalCodes {
		if !broken[code] {
			t.Errorf("%s: no row breaks it", code)
		}
		delete(broken, code)
	}
	if len(broken) > 0 {
		t.Errorf("not in RefusalCodes: %v", broken)
	}
}

// RefusalCodes are all that Resolve refuses with. They are stable: scripts and ledgers rely on them.
var RefusalCodes = []string{
	"unknown-persona", "unknown-version", "persona-unreadable", "unknown-role", "role-missing", "unknown-mode", "mode-mismatch",
	"unknown-surface", "schema-unmet", "unknown-engagement", "surface-engagement", "unknown-voice", "override-vague", "override-no-risks",
	"override-modes", "override-role", "role-not-allowed", "handoff-wrong-transition", "handoff-incomplete", "journal-missing",
	"findings-collide", "handoff-missing", "artifact-differs", "artifact-missing", "artifact-busy", "unknown-tool", "tool-mutates",
	"tool-not-allowed", "unknown-server", "server-not-listed", "server-not-configured",
}

func TestResolveLegal(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		call func() Call
		busy []Busy
		want func(c Contract) bool
	}{
		"fan-out in one mode": {audit, []Busy{{"terms/slack-water.md", Validation, "run-1"}}, nil},
		"another artifact":    {audit, []Busy{{"terms/tide.md", Execution, "run-1"}}, nil},
		"observer beside work": {func() Call { return Call{Role: Observer, Artifact: "a.md"} }, []Busy{{"a.md", Execution, "run-1"}},
			func(c Contract) bool { return c.Surface.MaxTokens == 60 && c.Deliverable != "" && !c.Mutates }},
		"role by the mode":        {func() Call { return Call{Mode: "Exploration"} }, nil, func(c Contract) bool { return c.Role == Explorer && !c.Mutates && c.Voice == VoiceNeutral }},
		"detection-only on audit": {func() Call { c := audit(); c.Role = "detection_only"; return c }, nil, func(c Contract) bool { return c.Role == Validator && len(c.Notes) == 1 }},
		"detection-only elsewhere": {func() Call {
			return Call{Persona: "oddie", Role: DetectionOnly, Surface: "mentorship", Engagement: Assistant}
		}, nil, func(c Contract) bool { return c.Role == Observer }},
		"role by the profile": {func() Call { return Call{Persona: "oddie", Surface: "real_time_stream"} }, nil, func(c Contract) bool { return c.Role == Observer && c.Surface.MaxTokens == 40 }},
		"custom role": {func() Call { return Call{Persona: "maker"} }, nil, func(c Contract) bool {
			return c.Role == "drafting" && c.Mode == "" && c.Mutates && c.Freshness == FreshLight && c.Deliverable == "odd.claims.1"
		}},
		"servers it has anyway": {func() Call { c := audit(); c.MCP = []string{"OddKit"}; return c }, nil, func(c Contract) bool { return strings.Join(c.Servers, " ") == "oddkit" }},
		"operational server":    {audit, nil, func(c Contract) bool { return c.Strict && strings.Join(c.Servers, " ") == "oddkit" }},
		"task-relevant server": {func() Call {
			return Call{Persona: "oddie", Role: Validator, Artifact: "a.md", MCP: []string{"GitHub"}, Override: &Override{[]Mode{Validation, Execution}, "production incident, a working patch is needed within thirty minutes", []string{"b", "a"}}}
		}, nil, func(c Contract) bool { return strings.Join(c.Servers, " ") == "github oddkit" }},
		"fewer tools": {func() Call { c := audit(); c.Tools = []string{"search"}; return c }, nil, func(c Contract) bool { return !c.Tools[1].In && c.Tools[1].Why == "allowed, and not asked for" }},
		"override waives the gate": {func() Call {
			return Call{Persona: "oddie", Role: Validator, Artifact: "a.md", Tools: []string{"write"}, Override: &Override{[]Mode{Validation, Execution}, "production incident, a working patch is needed within thirty minutes", []string{"b", "a"}}}
		}, nil, func(c Contract) bool {
			return c.Mutates && !c.Strict && c.Freshness == FreshNone && slices.Contains(c.Notes, "override: no fresh context is claimed") && strings.HasPrefix(c.Tainted, "override of execution+validation: production") && c.Override.Risks[0] == "a"
		}},
		"tainted input taints": {func() Call { c := audit(); c.Handoffs[0].Tainted = "override of x: y"; return c }, nil, func(c Contract) bool { return c.Tainted == "override of x: y" && c.Strict }},
		"a builder is bound":   {func() Call { return Call{Role: Builder, Handoffs: handed(Builder)} }, nil, func(c Contract) bool { return c.Mutates && c.Bound != "" }},
		"general takes what it gets": {func() Call { return Call{Role: General, Handoffs: handed(Builder)} }, nil,
			func(c Contract) bool { return c.Mutates && len(c.Handoffs) == 1 }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world(t)
			w.Busy = row.busy
			c, no := Resolve(row.call(), w)
			if len(no) > 0 {
				t.Fatalf("refused: %v", no)
			}
			if row.want != nil && !row.want(c) {
				t.Errorf("contract %+v", c)
			}
		})
	}
}

// TestOverrideAndBound: an override lifts the bound of a role that may write the bounding
// document itself, and only that.
func TestOverrideAndBound(t *testing.T) {
	t.Parallel()
	const lifted = "override: what it may change is bounded by no "
	for _, c := range []struct {
		role  Role
		modes []Mode
		bound string
		note  string // "" for none
	}{
		{Builder, []Mode{Planning, Execution}, "", lifted + "plan"},
		{Builder, []Mode{Execution, Validation}, "plan", ""},
		{Resolver, []Mode{Validation, Resolution}, "", lifted + "findings"},
		{Validator, []Mode{Execution, Validation}, "", ""},
	} {
		got, no := Resolve(Call{Role: c.role, Artifact: "a.md", Handoffs: handed(c.role), Override: &Override{c.modes, "production incident, a working patch is needed within thirty minutes", []string{"r"}}}, World{})
		note := ""
		for _, n := range got.Notes {
			if strings.HasPrefix(n, lifted) {
				note = n
			}
		}
		if got.Bound != c.bound || note != c.note {
			t.Errorf("%s under %v: bound %q and note %q, want %q and %q (%v)", c.role, c.modes, got.Bound, note, c.bound, c.note, no)
		}
	}
}

// TestCustomRoleInAMode: what the mode forbids, no composed role has.
func TestCustomRoleInAMode(t *testing.T) {
	t.Parallel()
	text := strings.Replace(maker, "deliverable: builder}", "deliverable: builder, mode: exploration}", 1)
	w := World{Roster: LoadRoster(bundle(t, "m.md", text))}
	c, no := Resolve(Call{Persona: "maker", Role: "Drafting"}, w)
	if len(no) > 0 || c.Mode != Exploration || c.Mutates || c.Bound != "" {
		t.Errorf("contract %+v, refused %v", c, no)
	}
	if _, no = Resolve(Call{Persona: "maker", Role: "drafting", Tools: []string{"write"}}, w); no.Refused() != "tool-mutates" {
		t.Errorf("refused %v, want tool-mutates", no)
	}
	judge := World{Roster: LoadRoster(bundle(t, "m.md", strings.Replace(text, "mode: exploration", "mode: validation", 1)))}
	if _, no = Resolve(Call{Persona: "maker", Role: "drafting"}, judge); !slices.ContainsFunc(no, func(r Refusal) bool { return r.Code == "artifact-missing" }) {
		t.Errorf("refused %v, want artifact-missing", no)
	}
}

func TestRiskless(t *testing.T) {
	t.Parallel()
	for risk, want := range map[string]bool{"": true, "None.": true, "n/a": true, "risk": true, "Risks!": true, "some risk": true, "TBD": true, "the cache may lose a night of readings": false, "risk of loss": false} {
		if got := Riskless(risk); got != want {
			t.Errorf("Riskless(%q) is %v", risk, got)
		}
	}
}

func TestVagueReasons(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]bool{
		"In a hurry!": true, "we are in a bit of a hurry": true, "this is really very urgent, please": true, "ASAP": true, "quick fix": true, "need it done quickly today because of the deadline": true, "": true,
		"...": true, "we need to rush because this is important": true, "production incident; we need a working patch in the next thirty minutes": false, "new canon for handoffs has no earlier mode to hand over": false,
	} {
		if got := Vague(reason) != ""; got != want {
			t.Errorf("Vague(%q) is %v (%s)", reason, got, Vague(reason))
		}
	}
}
