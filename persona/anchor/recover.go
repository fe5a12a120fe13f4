package anchor

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path"
)

// found is what the state directory holds of a token: whatever a process that was
// killed left behind, the next one reads it here and goes on.
//
//   - A record in archive is the end, even while active still holds the anchor.
//   - What is active is bound, and locked where it does not read.
//   - What is pending is locked. A handshake that says BOUND there was to be
//     promoted and never was: nobody was told, so the proof is given again.
type found struct {
	place string // the directory that decides, "" for none
	stage Stage  // it goes on from; "" where it cannot go on
	hand  dossier
	bound bound
	past  Archived
	err   error // why what decides does not read
}

// look reads what the state directory holds of a token. It takes no lock.
func (d *dir) look(token string) (f found) {
	if f.past, f.err = d.readPast(token); !errors.Is(f.err, fs.ErrNotExist) {
		f.place = archive
		return f
	}
	if f.bound, f.err = d.readBound(token); !errors.Is(f.err, fs.ErrNotExist) {
		f.place = active
		f.hand, _ = d.readHand(active, token) // only to say where the constitution is
		if f.err == nil {
			f.stage = AtBound
		}
		return f
	}
	if f.hand, f.err = d.readHand(pending, token); !errors.Is(f.err, fs.ErrNotExist) {
		f.place, f.stage = pending, f.hand.pendingAt()
	}
	return f
}

// pendingAt is the stage that a pending session goes on from.
func (h Handshake) pendingAt() Stage {
	if h.Stage == AtBound {
		return AtContext
	}
	return h.Stage
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
		q := damagedRecord(p.Code, at, errors.New(p.Text))
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
		return dossier{}, Refusal{damagedRecord(Damaged, path.Join(d.path, place, token, handshakeFile), err)}
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
		return nil, Refusal{damagedRecord(Damaged, at, err)}
	}
	defer in.close()
	b, err := in.read(file)
	switch at = path.Join(at, file); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, Refusal{damagedRecord(missing, at, errors.New("there is no such file"))}
	case err != nil:
		return nil, Refusal{damagedRecord(Damaged, at, err)}
	}
	return b, nil
}
