package anchor

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	recordVersion = 1
	pendingFor    = 24 * time.Hour // from identity to proof
	maxTries      = 3              // of a stage: the first and two more
)

// recordForm is how records are printed and read: names count to the letter, and a
// name that an object has twice is an error.
var recordForm = json.JoinOptions(json.Deterministic(true), json.FormatNilSliceAsNull(true), json.FormatNilMapAsNull(true), jsontext.EscapeForJS(true), jsontext.AllowInvalidUTF8(true))

// canonicalJSON returns JSON in one form: keys sorted at every depth, no space, numbers as
// they were written, nothing escaped for HTML.
func canonicalJSON(v any, layout ...jsontext.Options) ([]byte, error) {
	b, err := json.Marshal(v, recordForm)
	if err == nil {
		err = (*jsontext.Value)(&b).Format(append(layout, jsontext.ReorderRawObjects(true), jsontext.EscapeForJS(true))...)
	}
	return b, err
}

// formatIndented returns canonicalJSON with an indent and a final newline, for files.
func formatIndented(v any) ([]byte, error) {
	b, err := canonicalJSON(v, jsontext.WithIndent("  "))
	return append(b, '\n'), err
}

// readHandshake reads a token's handshake. A file that is cut short, is no
// object, lacks a key or says what cannot be is an error, never a guess.
func readHandshake(b []byte, token string) (Handshake, error) {
	var h Handshake
	if err := json.Unmarshal(b, &h, recordForm); err != nil {
		return Handshake{}, fmt.Errorf("not a whole JSON object: %w", err)
	}
	return h, h.validate(token)
}

func (h Handshake) validate(token string) error {
	late := h.Stage == AtContext || h.Stage == AtBound
	switch {
	case h.Version != recordVersion:
		return fmt.Errorf("version %d is not one this odd reads, which is %d", h.Version, recordVersion)
	case h.Token != token:
		return fmt.Errorf("it is of token %q, not of its directory's", h.Token)
	case !late && h.Stage != AtIdentity:
		return fmt.Errorf("stage %q is none", h.Stage)
	case !slices.Contains(trackedModes(), h.Mode):
		return fmt.Errorf("mode %q has no session", h.Mode)
	case !slices.Contains(strictnessNames(), h.Strictness):
		return fmt.Errorf("strictness %q is none", h.Strictness)
	case h.Role == "" || h.ConstSHA256 == "" || h.CreatedAt.IsZero() || h.ExpiresAt.IsZero() || h.Retries == nil:
		return errors.New("role, constitution_sha256, created_at, expires_at or retries is missing")
	case late && (h.Bind == nil || h.Arm == nil):
		return fmt.Errorf("stage %s without bind or server_arm", h.Stage)
	case h.Retries["context"] < 0 || h.Retries["proof"] < 0:
		return errors.New("retries below none")
	}
	return nil
}

func trackedModes() []Mode          { return []Mode{Full, Express, Lite} }
func strictnessNames() []Strictness { return []Strictness{Quick, Default, Deep} }

// pendingAt returns the stage that a pending session goes on from.
func (h Handshake) pendingAt() Stage {
	if h.Stage == AtBound {
		return AtContext
	}
	return h.Stage
}

// anchorRecord is an anchor as its file has it.
type anchorRecord struct {
	Anchor
	Extra jsontext.Value `json:",embed"` // keys that odd does not know; the hash covers them
}

// seal hashes an anchor and signs the hash, where there is a key. It returns the
// anchor and its file.
func (a Anchor) seal(key []byte) (Anchor, []byte, error) {
	var err error
	if a.SHA256, err = (anchorRecord{Anchor: a}).computeHash(); err != nil {
		return a, nil, err
	}
	if key != nil {
		a.MAC = sign(key, a.SHA256)
	}
	b, err := formatIndented(a)
	return a, b, err
}

// computeHash hashes the canonical JSON of all keys except the hash and the MAC.
func (r anchorRecord) computeHash() (string, error) {
	r.SHA256, r.MAC = "", ""
	b, err := canonicalJSON(r)
	return hexSum(b), err
}

func sign(key []byte, sum string) string {
	m := hmac.New(sha256.New, key)
	fmt.Fprintf(m, "odd anchor 1\n%s\n", sum)
	return hex.EncodeToString(m.Sum(nil))
}

// readAnchor reads an anchor's file. It must say validated, as the word true.
func readAnchor(b []byte) (r anchorRecord, code Code, err error) {
	err = json.Unmarshal(b, &r, recordForm, json.RejectUnknownMembers(true))
	var wrong *json.SemanticError
	switch {
	case errors.As(err, &wrong) && wrong.JSONPointer == "/validated", err == nil && !r.Validated:
		return r, NotValidated, errors.New(`it is not validated; "validated" must be true`)
	case err != nil:
		return r, Damaged, fmt.Errorf("not a whole JSON object: %w", err)
	}
	return r, "", nil
}

// checkSignature says why an anchor was not written by odd for this token.
func (r anchorRecord) checkSignature(token string, key []byte) error {
	sum, err := r.computeHash()
	switch {
	case err != nil:
		return err
	case r.Version != recordVersion || r.Permit.Version != recordVersion:
		return fmt.Errorf("version %d is not one this odd reads, which is %d", r.Version, recordVersion)
	case r.SHA256 != sum:
		return errors.New("its bytes are not those that were hashed")
	case !hmac.Equal([]byte(sign(key, sum)), []byte(r.MAC)):
		return errors.New("its MAC is not made with this repository's key")
	case r.Token != token || r.Permit.Token != token:
		return fmt.Errorf("it is of token %q, not of its directory's", r.Token)
	}
	return nil
}

// damagedRecord returns the problem of a record at a path, with the way out.
func damagedRecord(code Code, at string, err error) Problem {
	text := strings.TrimPrefix(err.Error(), at+": ")
	return Problem{Code: code, At: at, Text: text + "; it stays locked: `odd anchor identity ROLE` begins again, `odd anchor release TOKEN` removes this"}
}

// storedSession is what the state directory holds of a token: whatever a process that was
// killed left behind, the next one reads it here and goes on.
//
//   - What is active is bound, and locked where it does not read.
//   - What is pending is locked. A handshake that says BOUND there was to be
//     promoted and never was. No answer was given, so the proof is sent again.
type storedSession struct {
	place string // the directory that decides, "" for none
	stage Stage  // it goes on from; "" where it cannot go on
	hand  Handshake
	bound anchorRecord
	err   error // why what decides does not read
}

// readSession reads what the state directory holds of a token. It takes no lock.
func (d *dir) readSession(token string) (f storedSession) {
	if f.bound, f.err = d.readBound(token); !errors.Is(f.err, fs.ErrNotExist) {
		f.place = active
		f.hand, _ = d.readHandshakeOf(active, token) // only to say where the constitution is
		if f.err == nil {
			f.stage = AtBound
		}
		return f
	}
	if f.hand, f.err = d.readHandshakeOf(pending, token); !errors.Is(f.err, fs.ErrNotExist) {
		f.place, f.stage = pending, f.hand.pendingAt()
	}
	return f
}

// readBound reads active/TOKEN/anchor.json; fs.ErrNotExist where nothing bears
// the name, a Refusal where it does not read.
func (d *dir) readBound(token string) (r anchorRecord, err error) {
	b, err := d.readRecord(active, token, anchorFile, AnchorMissing)
	if err != nil {
		return r, err
	}
	r, code, err := readAnchor(b)
	if err != nil {
		return r, Refusal{damagedRecord(code, path.Join(d.path, active, token, anchorFile), err)}
	}
	return r, nil
}

// readHandshakeOf is readBound for PLACE/TOKEN/handshake.json.
func (d *dir) readHandshakeOf(place, token string) (h Handshake, err error) {
	b, err := d.readRecord(place, token, handshakeFile, Damaged)
	if err != nil {
		return h, err
	}
	if h, err = readHandshake(b, token); err != nil {
		return Handshake{}, Refusal{damagedRecord(Damaged, path.Join(d.path, place, token, handshakeFile), err)}
	}
	return h, nil
}

// readRecord reads a file of a token's directory; missing is the code where only the
// file is not there.
func (d *dir) readRecord(place, token, file string, missing Code) ([]byte, error) {
	in := path.Join(place, token)
	err := d.checkDir(in)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	at, code := path.Join(d.path, in), Damaged
	if err == nil {
		at = path.Join(at, file)
		var b []byte
		if b, err = d.read(path.Join(in, file)); err == nil {
			return b, nil
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		code, err = missing, errors.New("there is no such file")
	}
	return nil, Refusal{damagedRecord(code, at, err)}
}
