package rules

import (
	"fmt"
	"strings"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona"
	"github.com/odd-cli/odd/reconcile/secrets"
)

var floorRule = Rule{Row{
	N: 6, Name: "Persona floor", Unit: "sessions",
	Promise:  "No session runs in a role with too little knowledge.",
	Reads:    "every session record; the role of its claim; the bundle and [persona.floor] at that claim",
	Compares: "The role is compiled from the bundle in the commit of the claim. It is in force, and below no rule of the floor.",
	Attested: "that a session without a work role needed none",
	Remedy:   "send the result back with odd reject TASK; odd compile-persona ROLE shows what the role lacks",
	Broken:   "A session worked in a role that knows too little.",
}, judgeFloor, false}

func judgeFloor(j *judge) {
	j.checkLines(func(l Line) string {
		if l.Record.Kind != event.Session {
			return ""
		}
		role, claim, law := j.findSessionRole(l)
		if role == "" {
			return ""
		}
		j.checked++
		p := j.CompilePersona(claim, law.Root, role)
		if p.Err != nil {
			return fmt.Sprintf("a session ran as the role %s, which did not exist at its claim: %v", role, p.Err)
		}
		short := p.Below(personaFloor(law))
		if len(short) == 0 {
			return ""
		}
		why := make([]string, len(short))
		for i, s := range short {
			why[i] = fmt.Sprintf("%s %s, want %s", s.Rule, s.Have, s.Want)
		}
		return fmt.Sprintf("a session ran as the role %s, which had too little knowledge at its claim: %s", role, strings.Join(why, "; "))
	})
}

func personaFloor(law *config.Config) persona.Floor {
	f := law.Floor
	return persona.Floor{MinAtoms: f.Atoms, MinProcesses: f.Processes, MinGuides: f.Guides, MaxUnresolvedPct: f.UnresolvedPct}
}

// findSessionRole returns a session's work role, the commit of its claim and the odd.toml in force then. role is "" if
// the session has no role or this clone lacks its claim.
func (j *judge) findSessionRole(l Line) (role string, claim repo.OID, law *config.Config) {
	if l.Claim == nil {
		return "", "", law // invariant 5 reports it
	}
	if law, claim = j.findTerms(l.Record.Run, l.Record.Task); claim == "" {
		return "", "", law
	}
	role = l.Claim.Role
	if t, _, ok := j.readClaimedTask(l.Record.Run, l.Record.Task); ok {
		role = t.Role
	}
	return role, claim, law
}

// Persona is a role's persona as a commit's bundle makes it. Err says that the bundle has no such role.
type Persona struct {
	persona.Persona
	Err   error
	texts map[string]string // by Root, see text
}

// NewPersona compiles a role's persona. The result does for every commit with the same knowledge, with another Commit.
func NewPersona(g *okf.Graph, role string) Persona {
	p, err := persona.Compile(g, role)
	return Persona{p, err, map[string]string{}}
}

// namedAs returns p with paths as a brief names them: older ones put the bundle's root before them.
func (p Persona) namedAs(brief, root string) Persona {
	if strings.Contains(brief, "\nCompiled from `"+root+"/") {
		p.Root = root
	}
	return p
}

// text returns the persona as briefs show it. It is made once for all commits.
func (p Persona) text() string {
	at, zeros := p.Commit, strings.Repeat("0", 40)
	if p.texts[p.Root] == "" {
		p.Commit = zeros
		p.texts[p.Root] = p.render()
	}
	return strings.Replace(p.texts[p.Root], zeros, at, 1)
}

// render makes the text for this Commit.
func (p Persona) render() string {
	text := strings.ToValidUTF8(string(p.Markdown(nil, false)), "\uFFFD")
	return strings.TrimSpace(secrets.RedactText(okf.Visible(text))) + "\n"
}
