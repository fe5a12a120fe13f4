package invoke

import (
	"fmt"
	"slices"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
)

// Fresh is all that a strict contract's brief is made of: who judges, what, by
// which claims, under which rules. There is no member for a task, its earlier
// attempts, its inputs, a journal, a plan, findings or a person's words, and so
// no way for them to reach who must not know them (canon: fresh context is
// structural). A test pins the members; adding one is a decision about canon.
type Fresh struct {
	Run       string
	Terms     Terms
	Limits    Limits
	Profiles  []Profile
	Canon     []Ref
	Claims    []Claim
	Artifacts []File
}

// Terms is what a contract says to the session it binds. It holds names, never
// somebody's text: no reason of an override, no note.
type Terms struct {
	Role        contract.Role
	Modes       []contract.Mode // one, none, or several under an override
	Surface     contract.SurfaceRule
	Engagement  contract.Engagement
	Voice       contract.Voice
	Mutates     bool
	Bound       string
	Deliverable string
	Next        contract.Role
	Artifact    string
	Tools       []string // it may use
	Without     []string // it may not
	Servers     []string
	Tainted     bool // its input or itself is an override's; whose, and why, is not said
}

// Profile is a persona profile as a brief points at it.
type Profile struct {
	Name, Path, Blob string // Name is name@version
	Prompt           string // uri of the system prompt
	Brand            string // uri of the brand discipline
	Knowledge        []string
	Text             []byte // of the system prompt, for a session that cannot fetch; nil is a pointer
}

// Claim is one handoff a validator reads: what a builder claims, or what a
// resolver says it remedied. Path and Blob name the handoff.
type Claim struct {
	Path, Blob  string
	From, To    contract.Mode
	Claims      *deliver.Claims
	Remediation *deliver.Remediation
}

// BuildFresh makes a strict contract's brief.
func BuildFresh(in Fresh) Brief {
	b := Brief{title: fmt.Sprintf("a session of run %s", oneLine(okf.Visible(in.Run)))}
	b.addPart("contract", contractOrders(in.Terms, in.Profiles, in.Limits, string(in.Terms.Role)), capContract)
	b.addProfiles(in.Profiles)
	b.addTexts("canon", in.Canon, capCanon)
	b.addClaims(in.Claims)
	b.addArtifact(in.Terms.Artifact, in.Artifacts)
	b.addForm(in.Terms)
	return b.withText()
}

// freshInput takes from in what a strict contract may know.
func freshInput(in Input) Fresh {
	f := Fresh{Run: in.Run, Terms: readTerms(in), Limits: in.Limits, Profiles: contractProfiles(in),
		Canon: in.Canon, Artifacts: in.Artifacts}
	for _, h := range in.Handoffs {
		d := h.Deliverable
		if h.To != contract.Validation || d.Claims == nil && d.Remediation == nil {
			continue
		}
		f.Claims = append(f.Claims, Claim{Path: h.Path, Blob: h.Blob, From: h.From, To: h.To,
			Claims: d.Claims, Remediation: d.Remediation})
	}
	return f
}

// readTerms reads what a contract says to its session, and of the tools those that it has.
func readTerms(in Input) Terms {
	c := in.Contract
	t := Terms{Role: c.Role, Modes: modesOf(c), Surface: c.Surface, Engagement: c.Engagement, Voice: c.Voice,
		Mutates: c.Mutates, Bound: c.Bound, Deliverable: c.Deliverable, Next: c.Next, Artifact: c.Artifact,
		Tainted: c.Tainted != "", Servers: c.Servers}
	for _, tool := range c.Tools {
		switch {
		case !slices.Contains(in.Offered, tool.Name):
		case tool.In:
			t.Tools = append(t.Tools, tool.Name)
		default:
			t.Without = append(t.Without, tool.Name)
		}
	}
	return t
}

// modesOf are the modes a contract is in: none for an unbound role.
func modesOf(c contract.Contract) []contract.Mode {
	switch {
	case len(c.Modes) > 0:
		return c.Modes
	case c.Mode != "":
		return []contract.Mode{c.Mode}
	}
	return nil
}

// contractProfiles are the contract's personas, with the prompts' texts that were passed.
func contractProfiles(in Input) []Profile {
	var out []Profile
	for _, p := range append([]*contract.Profile{in.Contract.Persona}, in.Contract.Participants...) {
		if p == nil {
			continue
		}
		name := fmt.Sprintf("%s@%d", p.Name, p.Version)
		out = append(out, Profile{Name: name, Path: p.Path, Blob: p.Blob, Prompt: p.SystemPromptURI,
			Brand: p.BrandDiscipline, Knowledge: p.KnowledgeBases, Text: in.Prompts[name]})
	}
	return out
}
