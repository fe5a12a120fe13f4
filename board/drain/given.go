package drain

import (
	"cmp"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
	"github.com/odd-cli/odd/persona/handoff"
	"github.com/odd-cli/odd/persona/invoke"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// Given is what an invocation works on when that is not on the board: a change
// of the repository, judged by the rules it starts from. It takes the place of
// what the board would say. Its claims are encoded as a handoff of the run, so
// that the session has one as every other has.
type Given struct {
	Rules     *okf.Graph // whose profiles are meant
	Claims    handoff.Handoff
	Artifacts []invoke.File
	Canon     []invoke.Ref
	Prompts   map[string][]byte // as invoke.Input has them
	Files     fs.FS             // what the session sees as the repository

	text []byte // of the handoff
}

// encodeGiven makes the handoff of what is given. From here on it goes by the path
// and the blob that the board will have it under.
func (l *runLog) encodeGiven(given *Given, by string) (*Given, error) {
	if given == nil {
		return nil, nil
	}
	g := *given
	c := g.Claims
	m := handoff.Meta{
		Slug: "claims", Title: "Claims of " + c.Artifact, From: c.From, To: c.To, Artifact: c.Artifact, Run: l.id, By: by,
		At: l.started.Format(time.RFC3339), Journal: l.journalPath(),
	}
	name, text, err := handoff.Make(m, c.Deliverable)
	if err != nil {
		return nil, err
	}
	g.text = secrets.Redact(text)
	a, err := okf.Parse(name, g.text)
	if err == nil {
		g.Claims, err = handoff.Read(&a)
	}
	if err != nil {
		return nil, fmt.Errorf("the claims: %w", err)
	}
	return &g, nil
}

func (cs contracts) loadRoster() contract.Roster {
	if cs.given != nil {
		return contract.LoadRoster(cs.given.Rules)
	}
	return contract.LoadRoster(cs.at.graph)
}

func (rec recorder) addGiven(p *draft) error {
	g := rec.given
	if g == nil {
		return nil
	}
	file := rec.at.file(g.Claims.Path)
	p.changes[file] = g.text
	title, content := handoff.Entry(g.Claims, file, rec.log.now().UTC().Format(time.RFC3339))
	return p.tell("H", "", title, content)
}

// Spoke is what a session came to by itself, without a board.
func Spoke(c contract.Contract, res invoke.Result) Spoken {
	e := res.Emission
	s := Spoken{Role: c.Role, Mode: c.Mode, Outcome: string(e.Outcome), Deliverable: e.Deliverable, Said: e.Says, Hints: res.Verdict.Hints}
	switch e.Outcome {
	case session.Completed:
	case session.HandoffInsufficient:
		s.Reason = "handoff_insufficient: the claims are missing: " + strings.Join(e.Missing, ", ")
	default:
		s.Reason = joinDetail(cmp.Or(e.Failure, string(e.Outcome)), e.Detail)
	}
	return s
}

// nameArtifact names what a validator was given as what its findings are about, however
// it called it: it was shown nothing else.
func (cs contracts) nameArtifact(made *deliver.Deliverable, c contract.Contract) {
	if made.Findings != nil && c.Artifact != "" && (cs.given != nil || c.Strict) {
		made.Findings.Artifact = c.Artifact
	}
}
