package anchor

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"
)

// Verdict says whether a session's permit holds now.
type Verdict struct {
	Valid    bool      `json:"valid"`
	Token    string    `json:"token"`
	Errors   []Problem `json:"errors,omitempty"`   // why not: the first step that failed
	Warnings []Problem `json:"warnings,omitempty"` // HEAD moved on, a cited line changed, a file changed
	Permit   *Permit   `json:"permit,omitempty"`   // nil unless its MAC holds
	Anchor   *Anchor   `json:"anchor,omitempty"`   // nil unless its MAC holds
}

// HasValid asks, in this order and stopping at the first no: is it a token, is
// there a work tree, is it active, has it an anchor, does that
// read, does it say validated, and that it is, is it ours (MAC), is it the role
// asked for ("" is any), has it not expired, is it on its branch, is its
// constitution unchanged, has HEAD only moved on. It takes no lock and writes
// nothing. Of Facts it needs the branch and HEAD only.
func (d Desk) HasValid(token, role string) Verdict { return d.newPermitCheck().checkToken(token, role) }

// Permits judges every active session, by HasValid; with a harness's session
// id, only those that it opened. Sorted by token. What does not read belongs to
// no harness and is left out if one is named.
func (d Desk) Permits(harness string) ([]Verdict, error) {
	c := d.newPermitCheck()
	state, err := d.Store.open(false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer state.close()
	tokens, err := state.listTokens(active)
	var out []Verdict
	for _, token := range tokens {
		f := state.readSession(token)
		if harness == "" || f.place == active && f.err == nil && f.bound.Permit.Harness == harness {
			out = append(out, c.judgeSession(token, "", f))
		}
	}
	return out, err
}

// permitCheck is what several verdicts at one moment share: each fact is asked once.
type permitCheck struct {
	Desk
	facts   func() (Facts, error)
	key     func() ([]byte, error)
	anyTime bool // the permit may have ended
}

func (d Desk) newPermitCheck() *permitCheck {
	return &permitCheck{
		Desk:  d,
		facts: sync.OnceValues(d.World.Facts),
		key:   sync.OnceValues(func() ([]byte, error) { return d.Store.readKey(nil, "") }),
	}
}

func (c *permitCheck) checkToken(token, role string) Verdict {
	state, no := c.openState(token, false)
	if no != nil {
		return Verdict{Token: token, Errors: no}
	}
	defer state.close()
	return c.judgeSession(token, role, state.readSession(token))
}

// openState opens the state directory for a call about a token, to write with its lock, or
// says why it cannot.
func (d Desk) openState(token string, lock bool) (*dir, []Problem) {
	if !IsToken(token) {
		return nil, []Problem{{Code: TokenFormat, At: "token", Text: "this is no token: its letters are not those of one", Found: truncate(fmt.Sprintf("%q", token)),
			Want: "the token that `odd anchor identity ROLE` answered, as oa- and 26 letters and digits"}}
	}
	if no := d.World.checkWorkTree(); no != nil {
		return nil, no
	}
	open := d.Store.open
	if lock {
		open = d.Store.lockState
	}
	state, err := open(false)
	switch {
	case err == nil:
		return state, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, []Problem{unknownToken(token)}
	case lock && !errors.Is(err, errIrregular) && !errors.Is(err, errFile):
		return nil, []Problem{persistProblem(err)}
	}
	return nil, []Problem{damagedRecord(Damaged, d.Store.at.Dir, err)}
}

func (w World) checkWorkTree() []Problem {
	if info, err := fs.Stat(w.Files, "."); err == nil && info.IsDir() {
		return nil
	}
	return []Problem{{Code: NoWorkTree, At: "work tree", Text: "the work tree is not there", Found: w.WorkTree, Want: "a work tree of the repository"}}
}

// judgeSession goes on where the records were read.
func (c *permitCheck) judgeSession(token, role string, f storedSession) Verdict {
	v := Verdict{Token: token}
	switch {
	case f.place == "":
		v.Errors = []Problem{unknownToken(token)}
	case f.err != nil:
		v.Errors = []Problem{firstProblem(f.err)}
	case f.place == pending:
		v.Errors = []Problem{{Code: Locked, At: "token", Text: fmt.Sprintf("the session is at %s and not bound", f.stage), Found: token, Want: "a session that is bound; " + nextCommand(f.stage, f.hand.Mode, token)}}
	}
	if v.Errors != nil {
		return v
	}
	key, err := c.key()
	if err == nil {
		err = f.bound.checkSignature(token, key)
	}
	if err != nil {
		v.Errors = []Problem{damagedRecord(Forged, path.Join(c.Store.at.Dir, active, token, anchorFile), err)}
		return v
	}
	v.Anchor, v.Permit = &f.bound.Anchor, &f.bound.Permit
	v.Warnings, v.Errors = c.checkPermit(*v.Permit, role)
	v.Valid = v.Errors == nil
	return v
}

// checkPermit says why a permit that is ours does not hold now: the first thing that is
// wrong. That HEAD moved on to a descendant is a warning.
func (c *permitCheck) checkPermit(p Permit, role string) (warnings, no []Problem) {
	if want := roleName(role); want != "" && p.Role != want {
		return nil, []Problem{{Code: RoleOther, At: "permit.role", Text: "the permit is of another role", Found: p.Role, Want: want}}
	}
	if now := c.World.Now; !c.anyTime && (now.Before(p.IssuedAt) || !now.Before(p.ExpiresAt)) {
		return nil, []Problem{{Code: PermitExpired, At: "permit.expires_at", Text: fmt.Sprintf("the permit holds from %s to %s", formatTime(p.IssuedAt), formatTime(p.ExpiresAt)),
			Found: formatTime(now), Want: "`odd anchor renew " + p.Token + "`, else a new session"}}
	}
	f, err := c.facts()
	if err != nil {
		return nil, []Problem{noGitProblem(err)}
	}
	if f.Branch != p.Branch {
		return nil, []Problem{{Code: BranchOther, At: "permit.branch", Text: "the work tree is on another branch than the session was bound on", Found: f.Branch, Want: p.Branch}}
	}
	switch law, err := c.World.Constitution(p.Role); {
	case err != nil:
		return nil, []Problem{changedProblem(p.Role, "it does not read now: "+err.Error())}
	case law.SHA256 != p.Constitution:
		return nil, []Problem{changedProblem(p.Role, "it is not the one that was bound")}
	}
	moved := []Problem{{Code: HeadMoved, At: "permit.head_oid", Text: "HEAD moved on", Found: f.Head, Want: p.Head + " or a descendant of it"}}
	switch {
	case f.Head == p.Head:
		return nil, nil
	case strings.HasPrefix(p.Head, "("): // bound before the first commit
		return moved, nil
	case strings.HasPrefix(f.Head, "("):
		moved[0].Text = "HEAD has no commit any more"
		return nil, moved
	}
	below, err := c.World.Descends(f.Head, p.Head)
	switch {
	case err != nil:
		moved[0].Text = "whether HEAD only moved on cannot be told: " + err.Error()
	case !below:
		moved[0].Text = "HEAD moved to where the permit's commit is not behind it"
	default:
		return moved, nil
	}
	return nil, moved
}

func unknownToken(token string) Problem {
	return Problem{Code: TokenUnknown, At: "token", Text: "there is no session of this token", Found: token, Want: "one that `odd anchor ls` lists, or a new one by `odd anchor identity ROLE`"}
}

// noGitProblem says that git does not answer, or knows no work tree.
func noGitProblem(err error) Problem {
	return Problem{Code: NoWorkTree, At: "work tree", Text: "git does not answer: " + err.Error(), Want: "a work tree of a git repository"}
}

func changedProblem(role, why string) Problem {
	return Problem{Code: ConstChanged, At: "constitution", Text: "the constitution of " + role + " changed: " + why, Want: "the constitution as it was, or a new session by `odd anchor identity " + role + "`"}
}
