package anchor

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
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
	By      string    `json:"by,omitempty"`
	Problem *Problem  `json:"problem,omitempty"` // why it is locked although it is there
}

// List tells everything in the state directory, pending before active before
// archived, each by token. What does not read is listed with its problem, and so
// is a pending session that is over and an active one whose permit does not hold.
func (d Desk) List() ([]Listed, error) { return d.list(pending, active, archive) }

// Unreleased is List without what is archived.
func (d Desk) Unreleased() ([]Listed, error) { return d.list(pending, active) }

func (d Desk) list(places ...string) ([]Listed, error) {
	state, err := d.Store.open(false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer state.close()
	var out []Listed
	c := d.check()
	for _, place := range places {
		names, err := state.in(place)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			out = append(out, c.listed(state, place, name))
		}
	}
	return out, nil
}

// listed tells one entry.
func (c *check) listed(state *dir, place, name string) Listed {
	l := Listed{Token: name, State: place}
	if place == archive {
		l.State, l.Token = "archived", strings.TrimSuffix(name, ".json")
	}
	if _, bad := TokenProblem(l.Token); bad {
		l.Problem = &Problem{Code: Damaged, At: path.Join(state.path, place, name), Text: "this is not the name of a session; remove it if nobody needs it"}
		return l
	}
	var ps []Problem
	switch place {
	case pending:
		ps = l.pending(state, c.World.Now)
	case active:
		b, err := state.readBound(l.Token)
		v := c.judge(state, l.Token, "", b, err)
		l.bound(v)
		ps = v.Errors
	default:
		a, err := state.readPast(l.Token)
		l.Role, l.Mode, l.Created, l.Expires, l.By = a.Role, a.Mode, a.BoundAt, a.ReleasedAt, a.By
		if err != nil {
			ps = []Problem{flaw(err)}
		}
	}
	if len(ps) > 0 {
		l.Problem = &ps[0]
	}
	return l
}

func (l *Listed) pending(state *dir, now time.Time) []Problem {
	h, err := state.readHand(pending, l.Token)
	if err != nil {
		return []Problem{flaw(err)}
	}
	l.Role, l.Mode, l.Stage, l.By = h.Role, h.Mode, standingOf(h).Stage, h.By
	l.Created, l.Expires = h.CreatedAt, h.ExpiresAt
	if h.Arm != nil {
		l.Branch, l.Focus = h.Arm.Branch, h.Arm.Focus
	}
	if p, ended := h.over(now); ended {
		return []Problem{p}
	}
	return nil
}

func (l *Listed) bound(v Verdict) {
	if a := v.Anchor; a != nil {
		l.Role, l.Mode, l.Stage, l.By = a.Role, a.Mode, AtBound, a.By
		l.Branch, l.Focus, l.Created, l.Expires = a.Permit.Branch, a.Arm.Focus, a.Timestamp, a.Permit.ExpiresAt
	}
}

// in lists the names in a place, sorted; none where it is not there. Files that
// are not whole yet are left out.
func (d *dir) in(place string) ([]string, error) {
	at, err := d.sub(place, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer at.close()
	all, err := at.names()
	var out []string
	for _, e := range all {
		if !strings.HasPrefix(e.Name(), temporary) {
			out = append(out, e.Name())
		}
	}
	return out, err
}

// tokens is in without what cannot be a session.
func (d *dir) tokens(place string) ([]string, error) {
	names, err := d.in(place)
	var out []string
	for _, n := range names {
		if _, bad := TokenProblem(n); !bad {
			out = append(out, n)
		}
	}
	return out, err
}

// Swept is one entry that GC removed, or left for the reason in Problem.
type Swept struct {
	Token   string   `json:"token"`
	State   string   `json:"state"`
	Why     string   `json:"why,omitempty"`
	Problem *Problem `json:"problem,omitempty"`
}

// GC removes pending sessions older than maxAge or past their end, active ones
// whose permit ended, or that do not read and are older, longer than maxAge ago
// (they are archived first), what is left of released ones, and records that were
// archived thirty days ago, or maxAge where that is longer. The age is what the
// record says, else the entry's own time. What is no session's is left and told,
// and so is one that another process works on. maxAge must be positive.
func (d Desk) GC(maxAge time.Duration) ([]Swept, error) {
	if maxAge <= 0 {
		return nil, fmt.Errorf("max age %s: must be more than nothing", maxAge)
	}
	gone, err := d.sweep(pending, maxAge)
	if err != nil {
		return gone, err
	}
	ended, err := d.sweep(active, maxAge)
	if gone = append(gone, ended...); err != nil {
		return gone, err
	}
	past, err := d.sweepPast(max(maxAge, keepPast))
	if gone = append(gone, past...); err != nil {
		return gone, err
	}
	return gone, d.sweepDrafts(maxAge)
}

// keepPast is how long the record of a released session is kept. No permit lasts
// nearly as long, so that none is told from one that never was too early.
const keepPast = 30 * 24 * time.Hour

// sweepPast removes records of released sessions that are older than maxAge, of
// which nothing else is left: while a directory is, the record is what locks it.
func (d Desk) sweepPast(maxAge time.Duration) ([]Swept, error) {
	return d.look(archive, func(state *dir, name, at string) Swept {
		s := Swept{Token: strings.TrimSuffix(name, ".json"), State: "archived"}
		var err error
		if _, bad := TokenProblem(s.Token); bad || s.Token == name {
			s.Problem = &Problem{Code: Damaged, At: at, Text: "this is not the record of a session, and is left"}
		} else if s.Why, err = d.sweepRecord(state, s.Token, maxAge); err != nil {
			s.Problem = &Problem{Code: Unswept, At: at, Text: err.Error(), Want: "a person who looks at it"}
		}
		return s
	})
}

// look has every entry of a place looked at, and returns those that were removed
// or have a problem. Without a state directory there are none.
func (d Desk) look(place string, one func(state *dir, name, at string) Swept) ([]Swept, error) {
	state, err := d.Store.open(false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer state.close()
	names, err := state.in(place)
	if err != nil {
		return nil, err
	}
	var out []Swept
	for _, name := range names {
		if s := one(state, name, path.Join(state.path, place, name)); s.Why != "" || s.Problem != nil {
			out = append(out, s)
		}
	}
	return out, nil
}

// sweepRecord removes one record if it is old, and says why.
func (d Desk) sweepRecord(state *dir, token string, maxAge time.Duration) (string, error) {
	for _, place := range []string{pending, active} {
		if there, err := state.has(place + "/" + token); there || err != nil {
			return "", err
		}
	}
	name := archive + "/" + token + ".json"
	info, err := state.root.Lstat(name)
	if err != nil {
		return "", err
	}
	at := info.ModTime()
	if a, err := state.readPast(token); err == nil {
		at = a.ReleasedAt
	}
	if d.World.Now.Sub(at) <= maxAge {
		return "", nil
	}
	return "released long ago", state.root.Remove(name)
}

// sweepDrafts removes what never became whole, if it is old. Nobody but its
// writer knows it, and the writer does not live that long. Beside the places nobody
// writes drafts any more.
func (d Desk) sweepDrafts(maxAge time.Duration) error {
	state, err := d.Store.open(false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer state.close()
	names, err := state.names()
	errs := []error{err}
	for _, e := range names {
		if strings.HasPrefix(e.Name(), temporary) {
			errs = append(errs, state.remove(e.Name()))
		}
	}
	for _, place := range []string{pending, active, archive} {
		in, err := state.sub(place, false)
		if err != nil {
			continue // told by the sweep of the place
		}
		names, err := in.names()
		errs = append(errs, err)
		for _, e := range names {
			info, err := e.Info()
			if err == nil && strings.HasPrefix(e.Name(), temporary) && d.World.Now.Sub(info.ModTime()) > maxAge {
				errs = append(errs, in.remove(e.Name()))
			}
		}
		in.close()
	}
	return errors.Join(errs...)
}

// sweep is GC of one place.
func (d Desk) sweep(place string, maxAge time.Duration) ([]Swept, error) {
	return d.look(place, func(state *dir, name, at string) Swept {
		s := Swept{Token: name, State: place}
		var err error
		if _, bad := TokenProblem(name); bad {
			s.Problem = &Problem{Code: Damaged, At: at, Text: "this is not the name of a session, and is left"}
		} else if s.Why, err = d.sweepOne(state, place, name, maxAge); err != nil {
			s.Problem = &Problem{Code: Unswept, At: at, Text: err.Error(), Want: "a person who looks at it"}
			if errors.Is(err, errHeld) {
				s.Problem.Code, s.Problem.Want = Locked, "the end of the other's call"
			}
		}
		return s
	})
}

// sweepOne removes one session if it is old, and says why.
func (d Desk) sweepOne(state *dir, place, token string, maxAge time.Duration) (why string, err error) {
	info, err := state.root.Lstat(place + "/" + token) // before a lock file made it new
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	h, err := d.Store.take(token, false)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	t := &turn{Desk: d, held: h, found: h.state.look(token)}
	t.at = Recover(t.Entries)
	defer t.release()
	switch {
	case t.at.State == "archived":
		return "released before", t.tidy()
	case t.at.State == active && place == pending:
		return "bound already", t.drop(pending)
	case place == pending:
		if why = t.stale(maxAge, info.ModTime()); why == "" {
			return "", nil
		}
		return why, t.drop(pending)
	}
	if why = t.lapsed(maxAge, info.ModTime()); why == "" {
		return "", nil
	}
	_, err = t.end(why)
	return why, err
}

// stale says why a pending session is to be removed, "" if it is not. modified is
// its directory's own time.
func (t *turn) stale(maxAge time.Duration, modified time.Time) string {
	now := t.World.Now
	switch {
	case t.at.Damaged && now.Sub(modified) > maxAge:
		return "does not read, and is old"
	case t.at.Damaged:
		return ""
	case !now.Before(t.hand.ExpiresAt):
		return "expired"
	case now.Sub(t.hand.CreatedAt) > maxAge:
		return "old"
	}
	return ""
}

// lapsed says why an active session is to be archived, "" if it is not.
func (t *turn) lapsed(maxAge time.Duration, modified time.Time) string {
	now := t.World.Now
	switch {
	case t.at.Damaged && now.Sub(modified) > maxAge:
		return "does not read, and is old"
	case !t.at.Damaged && now.Sub(t.found.bound.Permit.ExpiresAt) > maxAge:
		return "expired"
	}
	return ""
}

func (t *turn) drop(place string) error {
	in, err := t.state.sub(place, false)
	if err != nil {
		return err
	}
	defer in.close()
	return in.remove(t.token)
}
