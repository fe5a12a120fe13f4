package anchor

import (
	"errors"
	"io/fs"
	"path"
	"time"
)

// Release ends a session: its directory gets a name that is no session's, which ends
// the permit, and is removed. A session whose records are damaged, forged or expired
// can be released too. It returns the role, "" where that does not read. The error is
// a Refusal.
func (d Desk) Release(token string) (role string, err error) {
	t, refused := d.openCall(token, nil)
	if t == nil {
		return "", Refusal(refused)
	}
	defer t.state.close()
	if role = t.hand.Role; t.place == active && t.err == nil {
		role = t.bound.Role
	}
	over := t.place + "/" + temporary + token
	if err = t.state.remove(over); err == nil {
		err = t.state.step("rename " + t.place)
	}
	if err == nil {
		err = t.state.root.Rename(t.place+"/"+token, over)
	}
	if err != nil {
		return "", Refusal{persistProblem(err)}
	}
	if err := t.state.remove(over); err != nil {
		return "", Refusal{{Code: Unswept, At: path.Join(t.state.path, over), Text: "the session is released, but its directory stays: " + err.Error(), Want: "`odd anchor identity ROLE`, which tries again"}}
	}
	return role, nil
}

// Listed is one entry of the state directory, readable or not.
type Listed struct {
	Token   string    `json:"token"` // the entry's name where it is no session
	State   string    `json:"state"` // pending or active; archived for one of a drain
	Role    string    `json:"role,omitempty"`
	Mode    Mode      `json:"mode,omitempty"`
	Stage   Stage     `json:"stage,omitempty"`
	Branch  string    `json:"branch,omitempty"`
	Focus   string    `json:"focus,omitempty"`
	Created time.Time `json:"created_at,omitzero"`
	Expires time.Time `json:"expires_at,omitzero"` // of the handshake, then of the permit
	By      string    `json:"by,omitempty"`        // the run of a drain
	Problem *Problem  `json:"problem,omitempty"`   // why it is locked although it is there
}

// List lists everything in the state directory, pending before active, each by token.
// An entry has a problem if it cannot be read, if it is a pending session that has
// ended or an active one whose permit does not hold.
func (d Desk) List() ([]Listed, error) {
	state, err := d.Store.open(false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer state.close()
	var out []Listed
	c := d.newPermitCheck()
	for _, place := range []string{pending, active} {
		names, err := state.listNames(place)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if !isDraft(name) {
				out = append(out, c.listEntry(state, place, name))
			}
		}
	}
	return out, nil
}

// listEntry describes one entry by what the state directory holds of its token.
func (c *permitCheck) listEntry(state *dir, place, name string) Listed {
	l := Listed{Token: name, State: place}
	if !IsToken(name) {
		l.Problem = &Problem{Code: Damaged, At: path.Join(state.path, place, name), Text: "this is not the name of a session; remove it if nobody needs it"}
		return l
	}
	f := state.readSession(l.Token)
	l.Stage = f.stage
	var ps []Problem
	switch h, a := f.hand, f.bound; {
	case f.err != nil:
		ps = []Problem{firstProblem(f.err)}
	case f.place == pending:
		l.Role, l.Mode, l.Created, l.Expires = h.Role, h.Mode, h.CreatedAt, h.ExpiresAt
		if h.Arm != nil {
			l.Branch, l.Focus = h.Arm.Branch, h.Arm.Focus
		}
		ps = h.checkEnded(c.World.Now)
	case f.place == active:
		l.Role, l.Mode, l.Created, l.Expires = a.Role, a.Mode, a.Timestamp, a.Permit.ExpiresAt
		l.Branch, l.Focus = a.Permit.Branch, a.Arm.Focus
		ps = c.judgeSession(l.Token, "", f).Errors
	}
	if len(ps) > 0 {
		l.Problem = &ps[0]
	}
	return l
}

// removeExpired removes what is over: sessions that were not bound in time, those whose permit
// ended more than a day ago, those that do not read and are as old, and what never
// became whole, whose writer is gone because the lock is free. What it cannot remove
// is a warning.
func (d Desk) removeExpired() (warnings []Problem) {
	warn := func(at string, err error) {
		warnings = append(warnings, Problem{Code: Unswept, At: at, Text: err.Error(), Want: "a person who looks at it"})
	}
	state, err := d.Store.lockState(false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		warn(d.Store.at.Dir, err)
		return warnings
	}
	defer state.close()
	for _, place := range []string{pending, active} {
		names, err := state.listNames(place)
		if err != nil {
			warn(path.Join(state.path, place), err)
		}
		for _, name := range names {
			over, err := isDraft(name), error(nil)
			if !over {
				over, err = d.isOver(state, place, name)
			}
			if err == nil && over {
				err = state.remove(place + "/" + name)
			}
			if err != nil {
				warn(path.Join(state.path, place, name), err)
			}
		}
	}
	return warnings
}

// isOver reports a session that sweep removes. What is no session's directory is an
// error, and stays.
func (d Desk) isOver(state *dir, place, token string) (bool, error) {
	info, err := state.root.Lstat(place + "/" + token)
	switch {
	case !IsToken(token):
		return false, errors.New("this is not the name of a session, and is left")
	case err == nil && !info.IsDir():
		err = errNotDir(info)
	}
	if err != nil {
		return false, err
	}
	now := d.World.Now
	switch f := state.readSession(token); {
	case f.place != place: // bound already
		return true, nil
	case f.err != nil:
		return now.Sub(info.ModTime()) > pendingFor, nil
	case place == pending:
		return !now.Before(f.hand.ExpiresAt) || now.Sub(f.hand.CreatedAt) > pendingFor, nil
	default:
		return now.Sub(f.bound.Permit.ExpiresAt) > pendingFor, nil
	}
}
