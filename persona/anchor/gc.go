package anchor

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// Listed is one entry of the state directory, readable or not.
type Listed struct {
	Token   string    `json:"token"` // the entry's name where it is no session
	State   string    `json:"state"` // pending, active or archived
	Role    string    `json:"role,omitempty"`
	Mode    Mode      `json:"mode,omitempty"`
	Stage   Stage     `json:"stage,omitempty"`
	Branch  string    `json:"branch,omitempty"`
	Focus   string    `json:"focus,omitempty"`
	Created time.Time `json:"created_at,omitzero"`
	Expires time.Time `json:"expires_at,omitzero"` // of the handshake, then of the permit; of an archived one its release
	By      string    `json:"by,omitempty"`        // the run of a drain
	Problem *Problem  `json:"problem,omitempty"`   // why it is locked although it is there
}

// List lists everything in the state directory, pending before active before
// archived, each by token. An entry has a problem if it cannot be read, if it is a
// pending session that has ended or an active one whose permit does not hold, or if
// its session was released and its directory is still there.
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
	for _, place := range []string{pending, active, archive} {
		names, err := state.names(place)
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
	if place == archive {
		l.State, l.Token = "archived", strings.TrimSuffix(name, ".json")
	}
	if _, bad := TokenProblem(l.Token); bad {
		l.Problem = &Problem{Code: Damaged, At: path.Join(state.path, place, name), Text: "this is not the name of a session; remove it if nobody needs it"}
		return l
	}
	f := state.readSession(l.Token)
	l.Stage = f.stage
	var ps []Problem
	switch h, a := f.hand, f.bound; {
	case f.place == archive:
		l.Role, l.Mode, l.Created, l.Expires = f.past.Role, f.past.Mode, f.past.BoundAt, f.past.ReleasedAt
		if place != archive { // the release was interrupted before it removed the directory
			ps = []Problem{releasedProblem(l.Token)}
		}
	case f.place == pending && f.err == nil:
		l.Role, l.Mode, l.Created, l.Expires = h.Role, h.Mode, h.CreatedAt, h.ExpiresAt
		if h.Arm != nil {
			l.Branch, l.Focus = h.Arm.Branch, h.Arm.Focus
		}
		if p, ended := h.checkEnded(c.World.Now); ended {
			ps = []Problem{p}
		}
	case f.place == active && f.err == nil:
		l.Role, l.Mode, l.Created, l.Expires = a.Role, a.Mode, a.Timestamp, a.Permit.ExpiresAt
		l.Branch, l.Focus = a.Permit.Branch, a.Arm.Focus
		ps = c.judgeSession(l.Token, "", f).Errors
	}
	if f.err != nil {
		ps = []Problem{firstProblem(f.err)}
	}
	if len(ps) > 0 {
		l.Problem = &ps[0]
	}
	return l
}

// Swept is one entry that GC removed, or left for the reason in Problem.
type Swept struct {
	Token   string   `json:"token"`
	State   string   `json:"state"`
	Why     string   `json:"why,omitempty"`
	Problem *Problem `json:"problem,omitempty"`
}

// GC removes:
//
//   - pending sessions that have expired or are older than maxAge;
//   - active sessions whose permit ended more than maxAge ago, or that cannot be read
//     and are older than maxAge; both are archived first;
//   - what is left of released sessions;
//   - archived records after thirty days, or after maxAge if that is longer.
//
// The age is what the record says, else the entry's own time. Entries that are not
// sessions stay and are reported. maxAge must be positive.
func (d Desk) GC(maxAge time.Duration) ([]Swept, error) {
	if maxAge <= 0 {
		return nil, fmt.Errorf("max age %s: must be more than nothing", maxAge)
	}
	return d.sweep(maxAge, pending, active, archive)
}

// keepPast is how long the record of a released session is kept. That is far longer
// than a permit lasts, so a released token is not mistaken for an unknown one.
const keepPast = 30 * 24 * time.Hour

// sweep is GC for some places. It also removes what never became whole: its writer is
// gone, because the lock is free.
func (d Desk) sweep(maxAge time.Duration, places ...string) ([]Swept, error) {
	state, err := d.Store.lockState(false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer state.close()
	var out []Swept
	for _, place := range places {
		names, err := state.names(place)
		for _, name := range names {
			if isDraft(name) {
				err = errors.Join(err, state.remove(place+"/"+name))
			} else if s := d.sweepOne(state, place, name, maxAge); s.Why != "" || s.Problem != nil {
				out = append(out, s)
			}
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// sweepOne removes one entry if it is old, and says why.
func (d Desk) sweepOne(state *dir, place, name string, maxAge time.Duration) Swept {
	s := Swept{Token: name, State: place}
	if stem, ok := strings.CutSuffix(name, ".json"); ok && place == archive {
		s.Token, s.State = stem, "archived"
	}
	at := path.Join(state.path, place, name)
	if _, bad := TokenProblem(s.Token); bad || (place == archive) != (s.Token != name) {
		s.Problem = &Problem{Code: Damaged, At: at, Text: "this is not the name of a session, and is left"}
		return s
	}
	info, err := state.root.Lstat(place + "/" + name)
	if err == nil && info.IsDir() == (place == archive) {
		err = fmt.Errorf("%s: %w", at, errNotDir(info))
	}
	if err == nil {
		t := &stageCall{Desk: d, state: state, token: s.Token, storedSession: state.readSession(s.Token)}
		if s.Why = t.staleReason(place, maxAge, info.ModTime()); s.Why != "" {
			err = t.removeEntry(place, name, s.Why)
		}
	}
	if err != nil {
		s.Problem = &Problem{Code: Unswept, At: at, Text: err.Error(), Want: "a person who looks at it"}
	}
	return s
}

// staleReason says why what is in a place is to be removed, "" if it is not. modified is
// the entry's own time.
func (t *stageCall) staleReason(place string, maxAge time.Duration, modified time.Time) string {
	now := t.World.Now
	switch {
	case place == archive && t.hasDirectory():
	case place == archive:
		if t.err == nil {
			modified = t.past.ReleasedAt
		}
		if now.Sub(modified) > max(maxAge, keepPast) {
			return "released long ago"
		}
	case t.place == archive:
		return "released before"
	case t.place != place:
		return "bound already"
	case t.err != nil && now.Sub(modified) > maxAge:
		return "does not read, and is old"
	case t.err != nil:
	case place == active && now.Sub(t.bound.Permit.ExpiresAt) > maxAge, place == pending && !now.Before(t.hand.ExpiresAt):
		return "expired"
	case place == pending && now.Sub(t.hand.CreatedAt) > maxAge:
		return "old"
	}
	return ""
}

// hasDirectory reports a directory of the session, of which a record in archive says
// that it is over.
func (t *stageCall) hasDirectory() bool {
	return slices.ContainsFunc([]string{pending, active}, func(place string) bool {
		there, err := t.state.exists(place + "/" + t.token)
		return there || err != nil
	})
}

// removeEntry removes an entry; of a session that is bound a record stays.
func (t *stageCall) removeEntry(place, name, why string) error {
	if place == active && t.place == active {
		_, err := t.archiveSession(why)
		return err
	}
	return t.state.remove(place + "/" + name)
}
