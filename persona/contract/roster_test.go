package contract

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/okf"
)

// voice is a canon document with a profile in its body, as drafts write it.
const voice = "---\ntype: canon\nuri: acme://canon/voice/oddie-the-river-guide\nversion: \"1.0\"\n---\n\n# Oddie\n\n```json\nother: block\n```\n\n```yaml\n" + `persona: oddie
version: 1
system_prompt_uri: acme://canon/voice/oddie-the-river-guide
role_default: detection-only
mcp_servers:
 operational: # always on
 - oddkit
 task_relevant:
   []
knowledge_bases:
 - acme://
surface_profiles:
 real_time_stream: { density: high, max_tokens_per_emission: 60 }
 audit: { density: medium, structured_output: required }
 strategic_translation: { density: medium, bidirectional: true }
brand_discipline_uri: acme://canon/voice/oddie-the-river-guide#brand-guide
inheritance:
 - acme://canon/constraints/guide-posture
retraction_conditions: acme://canon/voice/oddie-the-river-guide#oddie
` + "```\n\n## Brand Guide — Emoji Discipline\n"

func TestVoiceCanon(t *testing.T) {
	t.Parallel()
	r := LoadRoster(bundle(t, "voice.md", voice))
	if len(r.Profiles) != 1 || len(r.Problems) != 1 {
		t.Fatalf("%d profiles, problems %v", len(r.Profiles), r.Problems)
	}
	if got, want := r.Problems[0].Error(), "voice.md:17: the role detection-only is deprecated; write role: [validator, observer], or one of them"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	yes, p := true, r.Profiles[0]
	want := &Profile{
		Name: "oddie", Version: 1, ID: "voice", Path: "voice.md", Line: 14, Blob: p.Blob, URI: "acme://canon/voice/oddie-the-river-guide",
		SystemPromptURI: "acme://canon/voice/oddie-the-river-guide", Roles: []Role{Validator, Observer}, Operational: []string{"oddkit"}, KnowledgeBases: []string{"acme://"},
		Surfaces: map[Surface]Settings{
			RealTimeStream: {Density: "high", MaxTokens: 60}, Audit: {Density: "medium", Structured: &yes}, StrategicTranslation: {Density: "medium", Bidirectional: &yes},
		},
		BrandDiscipline: "acme://canon/voice/oddie-the-river-guide#brand-guide", Inheritance: []string{"acme://canon/constraints/guide-posture"},
		Retraction: []string{"acme://canon/voice/oddie-the-river-guide#oddie"}, Standing: InForce, brandSet: true,
	}
	if diff := cmp.Diff(want, p, cmp.AllowUnexported(Profile{})); diff != "" {
		t.Errorf("profile (-want +got):\n%s", diff)
	}
}

// profileIn is a one-line-a-key profile of type persona; more is added to it.
func profileIn(more string) string {
	return "---\ntype: persona\npersona: ann\nversion: 1\n" + more + "---\n"
}

// TestProblems gives one broken profile a row; line and words must be told.
func TestProblems(t *testing.T) {
	t.Parallel()
	block := func(text string) string { return "---\ntype: canon\n---\n\n```yaml\n" + text + "```\n" }
	for name, row := range map[string]struct {
		text string
		want string
	}{
		"quoted version":           {"---\ntype: persona\npersona: ann\nversion: \"1\"\n---\n", ":4: version is not a whole number; write version: 1, without quotes"},
		"truth for a version":      {"---\ntype: persona\npersona: ann\nversion: true\n---\n", ":4: version is not a whole number"},
		"version nought":           {"---\ntype: persona\npersona: ann\nversion: 0\n---\n", ":4: version: 0 is out of range"},
		"no version":               {"---\ntype: persona\npersona: ann\n---\n", ":2: a profile without a version"},
		"no name":                  {"---\ntype: persona\nversion: 1\n---\n", ":2: a profile without a name"},
		"number for a name":        {"---\ntype: persona\npersona: 7\nversion: 1\n---\n", ":3: persona: 7 is not a text"},
		"no name of a thing":       {"---\ntype: persona\npersona: a b\nversion: 1\n---\n", `:3: "a b" is no name`},
		"another name in the uri":  {profileIn("uri: acme://personas/bob\n"), ":3: persona ann contradicts its uri acme://personas/bob"},
		"another version there":    {profileIn("uri: acme://personas/ann@2\n"), ":3: version 1 contradicts the uri"},
		"unknown role":             {profileIn("role: bilder\n"), `:5: role: unknown role "bilder"; did you mean "builder"?`},
		"one surface twice":        {profileIn("surface_profiles:\n  real_time_stream: {}\n  real-time-stream: {}\n"), ":7: surface_profiles: real-time-stream is set twice"},
		"unknown setting":          {profileIn("surface_profiles:\n  audit:\n    densty: high\n"), `:7: unknown key "surface_profiles.audit.densty"; did you mean "density"?`},
		"a setting like none":      {profileIn("surface_profiles: {audit: {colour: red}}\n"), `unknown key "surface_profiles.audit.colour"; want one of `},
		"two documents in a body":  {block("persona: ann\nversion: 1\n---\n- a\n"), ":6: the profile is no YAML: expected single document"},
		"unknown density":          {profileIn("surface_profiles: {audit: {density: higher}}\n"), `unknown word "higher"; did you mean "high"?`},
		"cap of nought":            {profileIn("surface_profiles: {audit: {max_tokens_per_emission: 0}}\n"), "is out of range"},
		"quoted truth":             {profileIn("surface_profiles: {audit: {narrative: \"true\"}}\n"), "narrative is not a truth value"},
		"servers as a list":        {profileIn("mcp_servers: [a]\n"), ":5: mcp_servers is not a mapping"},
		"unknown server key":       {profileIn("mcp_servers: {operationl: [a]}\n"), `unknown key "mcp_servers.operationl"; did you mean "operational"?`},
		"an item of nothing":       {profileIn("knowledge_bases: [a, null]\n"), ":5: knowledge_bases has an empty item"},
		"a list in a list":         {profileIn("knowledge_bases: [[a]]\n"), ":5: knowledge_bases is not a text"},
		"an alias":                 {profileIn("role: &r builder\nroles: *r\n"), ":6: roles is an alias"},
		"hidden characters":        {profileIn("system_prompt_uri: \"a\\u200bb\"\n"), ":5: system_prompt_uri has characters nobody can see"},
		"brand discipline twice":   {profileIn("brand_discipline: a\nbrand_discipline_uri: b\n"), ":6: brand_discipline is set twice"},
		"custom role of canon":     {profileIn("custom_role: {name: builder}\n"), ":5: custom_role: builder is a role of canon"},
		"custom role unnamed":      {profileIn("custom_role: {tools: builder}\n"), ":5: custom_role has no name"},
		"unknown key in a body":    {block("persona: ann\nversion: 1\nsytem_promt_uri: x\n"), `:8: unknown key "sytem_promt_uri"; did you mean "system_prompt_uri"?`},
		"a key twice in a body":    {block("persona: ann\nversion: 1\nversion: 2\n"), ":8: "},
		"a text in a body":         {block("\"a\npersona: b\nversion: 1\"\n"), ":6: the profile is not one mapping"},
		"no YAML in a body":        {block("persona: ann\nversion: [1\n"), ":8: the profile is no YAML: did not find expected ','"},
		"an open block":            {"---\ntype: canon\n---\n```yaml\npersona: ann\nversion: 1\n", ":4: the yaml block of the profile is never closed"},
		"two profiles in a file":   {profileIn("") + "\n```yaml\npersona: ann\nversion: 1\n```\n", ":7: the profile is in the frontmatter and in the body"},
		"another uri in the body":  {"---\ntype: canon\nuri: acme://ann\n---\n```yaml\npersona: ann\nversion: 1\nuri: acme://x/ann\n```\n", ":6: the profile says uri acme://x/ann, its file acme://ann"},
		"a prompt of two lines":    {profileIn("system_prompt_uri: |\n  a\n  b\n"), ":5: system_prompt_uri has a line break or a tab"},
		"an empty text":            {profileIn("system_prompt_uri: ' '\n"), ":5: system_prompt_uri is empty"},
		"joined behind the glyphs": {profileIn("glyphs: {signature: [x]}\nsystem_prompt_uri: \"a\\u200db\"\n"), ":6: system_prompt_uri has characters nobody can see"},
		"another version as v2":    {profileIn("uri: acme://personas/ann-v2\n"), ":3: version 1 contradicts the uri"},
		"palettes as a list":       {profileIn("glyphs: {palettes: [x]}\n"), ":5: glyphs.palettes is not a mapping"},
		"custom role of no tools":  {profileIn("custom_role: {name: x, tools: bilder}\n"), `:5: custom_role.tools: unknown role "bilder"; want one of `},
		"a palette without a name": {profileIn("glyphs: {palettes: {\"a\\u200bb\": [x]}}\n"), "set twice or no name"},
		"inherits itself":          {profileIn("inheritance: [ann@1]\n"), ":3: circle of inheritance: ann@1 → ann@1"},
		"a key that is a list":     {block("persona: ann\nversion: 1\n? [a]\n: b\n"), ":8: a key is not a plain name"},
		"surfaces as a list":       {profileIn("surface_profiles: [audit]\n"), ":5: surface_profiles is not a mapping"},
		"custom role of no mode":   {profileIn("custom_role: {name: x, mode: doing}\n"), `:5: custom_role.mode: unknown mode "doing"`},
		"custom role that is old":  {profileIn("custom_role: {name: x, tools: detection-only}\n"), `:5: custom_role.tools: unknown role "detection-only"`},
		"custom role of nothing":   {profileIn("custom_role: null\n"), ":5: custom_role has no name"},
		"inherits nobody's second": {profileIn("inheritance: [eve@2]\n"), `:3: inherits eve@2: unknown persona "eve@2"`},
		"inherits no version":      {profileIn("inheritance: [ann@7]\n"), ":3: inherits ann@7: ann has no version 7"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := LoadRoster(bundle(t, "p.md", row.text))
			if len(r.Profiles) > 0 {
				t.Errorf("read all the same: %+v", r.Profiles[0])
			}
			if got := fmt.Sprint(r.Problems); !strings.Contains(got, "p.md"+row.want) && !strings.Contains(got, row.want) || !strings.Contains(got, "p.md:") {
				t.Errorf("problems %s, want %s", got, row.want)
			}
		})
	}
}

// TestNotProfiles: what only looks like one is left alone.
func TestNotProfiles(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a type agents may propose": "---\ntype: term\n---\n```yaml\npersona: ann\nversion: 1\n```\n",
		"canon that names one":      "---\ntype: canon\npersona: ann\n---\n",
		"a block in a block":        "---\ntype: canon\n---\n````markdown\n```yaml\npersona: ann\n```\n````\n",
		"an example of a persona":   "---\ntype: canon\n---\n```yaml\npersona: ann\nsurfaces: wrong\n```\n",
		"a later block":             "---\ntype: canon\n---\n```yaml\na: b\n```\n```yaml\npersona: ann\nversion: 1\n```\n",
		"another language":          "---\ntype: canon\n---\n```json\npersona: ann\n```\n",
		"a persona of no profile":   "---\ntype: persona\ntitle: The busy reader\n---\n",
	} {
		r := LoadRoster(bundle(t, "p.md", text))
		for _, p := range r.Problems {
			if p.Severity != okf.Info || p.Line != 1 {
				t.Errorf("%s: %v", name, p)
			}
		}
		if len(r.Profiles) > 0 {
			t.Errorf("%s: read as %s", name, r.Profiles[0].Ref())
		}
	}
	r := LoadRoster(bundle(t, "p.md", profileIn("sytem_prompt_uri: x\nmood: fine\n")))
	if len(r.Profiles) != 1 || len(r.Problems) != 1 || r.Problems[0].Severity != okf.Warn {
		t.Errorf("a misspelled key of the frontmatter: %v", r.Problems)
	}
}

// TestUnknownSurface: settings of a surface that odd does not know are left out.
func TestUnknownSurface(t *testing.T) {
	t.Parallel()
	r := LoadRoster(bundle(t, "p.md", profileIn("surface_profiles:\n  dispatch: {density: high}\n  audits: {density: high}\n  audit: {density: low}\n")))
	if len(r.Profiles) != 1 || len(r.Profiles[0].Surfaces) != 1 || len(r.Problems) != 2 {
		t.Fatalf("%+v %v", r.Profiles, r.Problems)
	}
	if got, want := r.Problems[1].Error(), `p.md:7: surface_profiles: unknown surface "audits"; odd leaves it out; did you mean "audit"?`; got != want || r.Problems[1].Severity != okf.Warn {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestSchemaThatNobodyMeets(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string]string{
		"acme://schemas/x": `p.md:8: output_schema: acme://schemas/x cannot be met: a validator can only answer in odd.findings.1`,
		"odd.findings.2":   `p.md:8: output_schema: odd.findings.2 cannot be met: a validator can only answer in odd.findings.1`,
		"odd.plan.1":       `p.md:8: output_schema: odd.plan.1 cannot be met: a validator can only answer in odd.findings.1`,
		"odd.findings.1":   "",
	} {
		g := bundle(t, "p.md", profileIn("role: validator\nsurface_profiles:\n  audit:\n    output_schema: "+schema+"\n"))
		got := ""
		for _, p := range Check(g, LoadRoster(g)) {
			p.Hint = ""
			got += p.Error()
		}
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestSchemaOfSeveralRoles: one of the profile's roles has to answer in the schema, or where
// it names none, any role.
func TestSchemaOfSeveralRoles(t *testing.T) {
	t.Parallel()
	for keys, bad := range map[string]bool{"roles: [validator, observer]|odd.findings.1": false, "roles: [validator, observer]|odd.plan.1": true, "|odd.plan.1": false, "|x": true, "role: general|x": true} {
		roles, schema, _ := strings.Cut(keys, "|")
		g := bundle(t, "p.md", profileIn("surface_profiles: {audit: {output_schema: "+schema+"}}\n"+roles+"\n"))
		got := fmt.Sprint(Check(g, LoadRoster(g)))
		why := "a session can only answer in odd."
		if roles == "role: general" {
			why = "a general delivers no structured output"
		}
		if bad != strings.Contains(got, why) || bad == (got == "[]") {
			t.Errorf("%s: %s", keys, got)
		}
	}
}

// version is version n of ann, with more keys.
func version(n int, more string) string {
	return fmt.Sprintf("---\ntype: persona\npersona: ann\nversion: %d\n%s---\n", n, more)
}

func TestFind(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		files []string
		ref   string
		want  string // name@version and its note, or the error
	}{
		"the highest":             {[]string{"a.md", version(1, ""), "b.md", version(2, "")}, "ann", "ann@2 "},
		"spelled otherwise":       {[]string{"a.md", version(1, "")}, "Ann", "ann@1 "},
		"two spellings, drafts":   {[]string{"a.md", version(1, "status: draft\n"), "b.md", strings.Replace(version(2, "status: draft\n"), "ann", "Ann", 1)}, "ann", "Ann@2 Ann@2 is a draft"},
		"pinned and superseded":   {[]string{"a.md", version(1, ""), "b.md", version(2, "")}, "ann@1", "ann@1 ann@1 (pinned) is superseded by ann@2"},
		"pinned as v1":            {[]string{"a.md", version(1, ""), "b.md", version(2, "")}, "ann@v1", "ann@1 ann@1 (pinned) is superseded by ann@2"},
		"a draft is not in force": {[]string{"a.md", version(1, ""), "b.md", version(2, "status: draft\n")}, "ann", "ann@1 "},
		"only a draft":            {[]string{"b.md", version(2, "status: draft\n")}, "ann", "ann@2 ann@2 is a draft"},
		"superseded by another":   {[]string{"a.md", version(1, "superseded_by: b\n"), "b.md", "---\ntype: persona\npersona: bob\nversion: 1\n---\n"}, "ann", "ann@1 ann@1 (not pinned) is superseded by bob@1"},
		"by uri":                  {[]string{"a.md", version(1, "uri: acme://x/ann\n")}, "acme://x/ann", "ann@1 "},
		"by uri, pinned wrong":    {[]string{"a.md", version(1, "uri: acme://x/ann\n")}, "acme://x/ann@2", "acme://x/ann has no version 2; it has ann@1"},
		"by id":                   {[]string{"personas/a.md", version(1, "")}, "personas/a", "ann@1 "},
		"nobody":                  {nil, "ann", `unknown persona "ann"; this bundle has no profile`},
		"version nought":          {[]string{"a.md", version(1, "")}, "ann@0", `unknown persona "ann@0"; did you mean "ann"?`},
		"two of one version":      {[]string{"a.md", version(1, ""), "b.md", version(1, "")}, "ann", "a.md:3: ann@1 is also at b.md:3"},
		"broken is another one":   {[]string{"a.md", version(1, ""), "b.md", strings.Replace(version(2, "role: x\n"), "ann", "bob", 1)}, "eve", `unknown persona "eve"`},
		"the nearest is named":    {[]string{"b.md", strings.Replace(version(1, ""), "ann", "anna", 1), "c.md", strings.Replace(version(1, ""), "ann", "aanxa", 1)}, "annna", `did you mean "anna"`},
		"a newer one is broken":   {[]string{"a.md", version(1, ""), "b.md", version(2, "role: x\n")}, "ann", "persona ann cannot be read: b.md:5"},
		"deprecated":              {[]string{"a.md", version(1, "status: Deprecated\n")}, "ann", "ann@1 ann@1 is deprecated"},
		"archived":                {[]string{"a.md", version(1, "status: archived\n")}, "ann", "ann@1 ann@1 is deprecated"},
		"superseded in a circle":  {[]string{"a.md", version(1, "superseded_by: b\n"), "b.md", "---\ntype: canon\nsuperseded_by: a\n---\n"}, "ann", "persona ann cannot be read: a.md:3: "},
		"by a document":           {[]string{"a.md", version(1, "superseded_by: b\n"), "b.md", "---\ntype: canon\n---\n"}, "ann", "ann@1 ann@1 (not pinned) is superseded by b"},
		"an older one is pinned":  {[]string{"a.md", version(1, ""), "b.md", version(2, "role: x\n")}, "ann@1", "ann@1 "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := LoadRoster(bundle(t, row.files...)).Find(row.ref)
			got := fmt.Sprint(err)
			if err == nil {
				_, pinned := splitRef(row.ref)
				if behind := strings.Contains(row.want, "superseded"); behind != (p.Standing == Superseded) {
					t.Errorf("%s stands as %v", p.Ref(), p.Standing)
				}
				got = p.Ref() + " " + p.usageNote(pinned > 0)
			}
			if !strings.Contains(got, row.want) || err == nil && got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

// TestLooseText: a sentence may go over lines, and a glyph may be joined of several.
func TestLooseText(t *testing.T) {
	t.Parallel()
	r := LoadRoster(bundle(t, "p.md", profileIn("retraction_conditions:\n  - >\n    nobody\n    reads it\nglyphs: {signature: [\"👩\u200d🚀\"]}\n")))
	if len(r.Problems) > 0 {
		t.Fatal(r.Problems)
	}
	p := r.Profiles[0]
	if p.Retraction[0] != "nobody reads it" || p.Glyphs.Signature[0] != "👩\u200d🚀" {
		t.Errorf("%q, %q", p.Retraction, p.Glyphs.Signature)
	}
}

func TestInheritance(t *testing.T) {
	t.Parallel()
	base := version(1, "roles: [observer]\nmcp_servers: {operational: [x]}\nknowledge_bases: ['acme://']\nglyphs: {signature: [🦦], palettes: {river: [🌊]}}\nbrand_discipline: acme://b#c\nsurface_profiles: {mentorship: {density: low, narrative: true}, audit: {density: low, max_tokens_per_emission: 9, max_emissions_per_session: 1}}\n")
	child := "---\ntype: persona\npersona: bob\nversion: 1\ninheritance: [acme://other, ann@1]\nbrand_discipline: null\nsurface_profiles: {audit: {density: high}, mentorship: {max_tokens_per_emission: 5}}\n---\n"
	r := LoadRoster(bundle(t, "a.md", base, "b.md", child))
	p, err := r.Find("bob")
	if err != nil || len(r.Problems) > 0 {
		t.Fatal(err, r.Problems)
	}
	if got := p.Surfaces[Audit]; got.Density != "high" || got.MaxTokens != 9 || got.MaxEmissions != 1 || p.Surfaces[Mentorship].Density != "low" || p.Surfaces[Mentorship].Narrative == nil {
		t.Errorf("surfaces %+v", p.Surfaces)
	}
	if p.BrandDiscipline != "" || len(p.KnowledgeBases) != 1 || len(p.Glyphs.Signature) != 1 || !slices.Equal(p.Glyphs.Palettes["river"], []string{"🌊"}) {
		t.Errorf("profile %+v", p)
	}
	if p.Roles != nil || p.Operational != nil {
		t.Errorf("a right was inherited: %+v", p)
	}
	if got := p.Surfaces[Audit].applyTo(SurfaceRule{MaxEmissions: 7, MaxTokens: 7, Density: "low"}); got.MaxEmissions != 1 || got.MaxTokens != 9 || got.Density != "high" {
		t.Errorf("the profile's settings of a surface do not hold: %+v", got)
	}
	broken := LoadRoster(bundle(t, "a.md", version(1, "role: x\n"), "b.md", strings.Replace(child, "ann@1", "a", 1)))
	if got := fmt.Sprint(broken.Problems); len(broken.Profiles) > 0 || strings.Count(got, "a.md:5") != 2 {
		t.Errorf("%d profiles, problems %s", len(broken.Profiles), got)
	}
	if far := LoadRoster(bundle(t, "a.md", version(1, "inheritance: [nobody]\n"))); len(far.Profiles) != 1 || len(far.Problems) > 0 {
		t.Errorf("a name that this bundle has not: %v", far.Problems)
	}
	circle := LoadRoster(bundle(t, "a.md", version(1, "inheritance: [bob]\n"), "b.md", child, "c.md", "---\ntype: persona\npersona: cyn\nversion: 1\ninheritance: [bob]\n---\n"))
	if len(circle.Profiles) > 0 || len(circle.Problems) != 3 {
		t.Errorf("%d profiles, problems %v", len(circle.Profiles), circle.Problems)
	}
}

// TestInheritedFromAFile: a profile may be inherited by the path of its file, and one that
// cannot be read takes the heir along.
func TestInheritedFromAFile(t *testing.T) {
	t.Parallel()
	for more, want := range map[string]string{"glyphs: {signature: [x]}\n": "[x] []", "role: x\n": "unread"} {
		got := "unread"
		if p, err := LoadRoster(bundle(t, "p/a.md", version(1, more), "p/b.md", "---\ntype: persona\npersona: bob\nversion: 1\ninheritance: [./a.md]\n---\n")).Find("bob"); err == nil {
			got = fmt.Sprint(p.Glyphs.Signature, p.KnowledgeBases)
		}
		if got != want {
			t.Errorf("%q: %s, want %s", more, got, want)
		}
	}
}

// TestNothingSet: a key that is null sets nothing, and is no problem.
func TestNothingSet(t *testing.T) {
	t.Parallel()
	r := LoadRoster(bundle(t, "p.md", profileIn("mcp_servers: null\nsurface_profiles: null\ncustom_role: {name: x, mode: none}\n"),
		"q.md", "---\ntype: persona\npersona: bob\nversion: 1\nsurface_profiles: {audit: {density: null, structured_output: null}}\n---\n"))
	if len(r.Problems) > 0 || len(r.Profiles) != 2 {
		t.Fatal(r.Problems)
	}
	if p := r.Profiles[0]; p.Surfaces != nil || p.Custom.Mode != "" || r.Profiles[1].Surfaces[Audit] != (Settings{}) {
		t.Errorf("%+v, %+v", p, r.Profiles[1])
	}
}

func TestCheckReferences(t *testing.T) {
	t.Parallel()
	files := []string{"voice.md", voice, "heir.md", "---\ntype: persona\npersona: heir\nversion: 1\ninheritance: [ann]\n---\n", "ann.md", profileIn("system_prompt_uri: acme://canon/gone\nbrand_discipline: acme://canon/voice/oddie-the-river-guide#nowhere\ninheritance: [klappy://elsewhere]\nretraction_conditions: when nobody reads it\n")}
	g := bundle(t, files...)
	var got []string
	for _, p := range Check(g, LoadRoster(g)) {
		got = append(got, fmt.Sprintf("%s %s %s:%d", p.Severity, p.Code, p.Path, p.Line))
	}
	want := []string{
		"error odd-persona-reference ann.md:5", "error odd-persona-anchor ann.md:6", "error odd-persona-anchor heir.md:3",
		"warning odd-persona-deprecated voice.md:17", "warning odd-persona-anchor voice.md:29", "error odd-persona-reference voice.md:30",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func FuzzProfile(f *testing.F) {
	f.Add(profileIn("custom_role: {name: x}\nglyphs: {palettes: {a: [b]}}\n"))
	f.Add(voice)
	f.Add(version(2, "surface_profiles: {audit: {structured_output: mixed}}\n"))
	f.Add("---\ntype: canon\n---\n~~~yaml\npersona: &a [*a]\n<<: {version: 1}\n~~~\n")
	f.Fuzz(func(t *testing.T, text string) {
		a, err := okf.Parse("p.md", []byte(text))
		if err != nil {
			return
		}
		g := okf.NewGraph([]okf.Atom{a})
		r := LoadRoster(g)
		lines := strings.Count(text, "\n") + 1
		for _, p := range Check(g, r) {
			if p.Line < 1 || p.Line > lines || p.Message == "" || !slices.ContainsFunc(Codes(), func(c okf.Code) bool { return c.Name == p.Code }) {
				t.Errorf("%v: the file has %d lines", p, lines)
			}
		}
		for _, p := range r.Profiles {
			if q, err := r.Find(p.Ref()); err != nil || q != p {
				t.Errorf("%s is not found: %v", p.Ref(), err)
			}
			if p.Version < 1 || !okf.ValidID(p.Name) {
				t.Errorf("read %+v", p)
			}
		}
	})
}
