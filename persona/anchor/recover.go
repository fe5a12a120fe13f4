package anchor

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path"
)

// Kept is what the state directory holds under a name.
type Kept string

// What it can be.
const (
	Absent Kept = ""
	Broken Kept = "broken" // there, but not what belongs there, or not whole
	Whole  Kept = "whole"
)

// Entries are what the state directory holds of one token.
type Entries struct {
	Pending  Kept  // pending/TOKEN with its handshake
	Stage    Stage // of that handshake, where it is whole
	Active   Kept  // active/TOKEN with its handshake and anchor
	Archived Kept  // archive/TOKEN.json
}

// Standing is where a session stands.
type Standing struct {
	State    string   // "", pending, active or archived
	Stage    Stage    // it goes on from; "" where it cannot go on
	Open     bool     // its anchor may hold: the permit decides
	Damaged  bool     // what says so does not read
	Leftover []string // places that hold what an interrupted call left, to be swept
}

// Recover says where a session stands, from the tree alone: whatever a process
// that was killed left behind, the next one reads it here and goes on.
//
//   - A record in archive is the end, even while active still holds the anchor.
//   - What is active is bound, and locked where it does not read.
//   - What is pending is locked. A handshake that says BOUND there was to be
//     promoted and never was: nobody was told, so the proof is given again.
func Recover(e Entries) Standing {
	switch {
	case e.Archived != Absent:
		return Standing{State: "archived", Damaged: e.Archived == Broken, Leftover: e.left(pending, active)}
	case e.Active != Absent:
		s := Standing{State: active, Open: e.Active == Whole, Damaged: e.Active == Broken, Leftover: e.left(pending)}
		if s.Open {
			s.Stage = AtBound
		}
		return s
	case e.Pending == Whole && e.Stage == AtBound:
		return Standing{State: pending, Stage: AtContext}
	case e.Pending == Whole:
		return Standing{State: pending, Stage: e.Stage}
	case e.Pending == Broken:
		return Standing{State: pending, Damaged: true}
	}
	return Standing{}
}

func (e Entries) left(places ...string) []string {
	var out []string
	for _, p := range places {
		if p == pending && e.Pending != Absent || p == active && e.Active != Absent {
			out = append(out, p)
		}
	}
	return out
}

// found is what is read of a token.
type found struct {
	Entries
	hand  dossier
	bound bound
	past  Archived
	err   error // the first thing that does not read
}

// look reads what the state directory holds of a token. It takes no lock.
func (d *dir) look(token string) (f found) {
	var err error
	f.past, err = d.readPast(token)
	f.Archived = f.keep(err)
	f.bound, err = d.readBound(token)
	f.Active = f.keep(err)
	f.hand, err = d.readHand(pending, token)
	f.Pending = f.keep(err)
	f.Stage = f.hand.Stage
	if f.Active == Whole {
		f.hand, _ = d.readHand(active, token) // only to say where the constitution is
	}
	return f
}

func (f *found) keep(err error) Kept {
	switch {
	case err == nil:
		return Whole
	case errors.Is(err, fs.ErrNotExist):
		return Absent
	case f.err == nil:
		f.err = err
	}
	return Broken
}

// bound is an anchor with every key of its file.
type bound struct {
	Anchor
	all map[string]json.RawMessage
	at  string
}

// readBound reads active/TOKEN/anchor.json; fs.ErrNotExist where nothing bears
// the name, a Refusal where it does not read.
func (d *dir) readBound(token string) (bound, error) {
	at := path.Join(d.path, active, token, anchorFile)
	b, err := d.record(active, token, anchorFile, AnchorMissing)
	if err != nil {
		return bound{at: at}, err
	}
	a, all, p := readAnchor(b)
	if p != nil {
		q := damaged(p.Code, at, errors.New(p.Text))
		q.Found, q.Want = p.Found, p.Want
		return bound{at: at}, Refusal{q}
	}
	return bound{a, all, at}, nil
}

// readHand is the same for a handshake.
func (d *dir) readHand(place, token string) (dossier, error) {
	b, err := d.record(place, token, handshakeFile, Damaged)
	if err != nil {
		return dossier{}, err
	}
	r, err := readHandshake(b, token)
	if err != nil {
		return dossier{}, Refusal{damaged(Damaged, path.Join(d.path, place, token, handshakeFile), err)}
	}
	return r, nil
}

// record reads a file of a token's directory; missing is the code where only the
// file is not there.
func (d *dir) record(place, token, file string, missing Code) ([]byte, error) {
	in, err := d.at(place, token)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	at := path.Join(d.path, place, token)
	if err != nil {
		return nil, Refusal{damaged(Damaged, at, err)}
	}
	defer in.close()
	b, err := in.read(file)
	switch at = path.Join(at, file); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, Refusal{damaged(missing, at, errors.New("there is no such file"))}
	case err != nil:
		return nil, Refusal{damaged(Damaged, at, err)}
	}
	return b, nil
}
