package anchor

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/odd-cli/odd/okf"
)

// Archived is archive/TOKEN.json, what remains of a session. Of one whose
// anchor did not read or was not ours, it says so in Fault and claims nothing
// else of it.
type Archived struct {
	Version     int        `json:"v"`
	Token       string     `json:"token"`
	Role        string     `json:"role"`
	Tier        Strictness `json:"tier"`
	Mode        Mode       `json:"mode"`
	BoundAt     time.Time  `json:"bound_at,omitzero"`
	ReleasedAt  time.Time  `json:"released_at"`
	Reason      string     `json:"reason"`
	ContextHash string     `json:"context_hash"`
	Payload     string     `json:"payload_sha256"`
	Anchor      string     `json:"anchor_sha256"`
	Renewals    int        `json:"renewals"`
	Fault       string     `json:"fault,omitempty"`
}

const maxReason = 500 // bytes

// Release ends a bound session: its record is archived, which ends the permit,
// and then its directory is removed. A session whose anchor is damaged, forged
// or expired can be released too. Of one that was released already it answers
// the record that is there. The error is a Refusal.
func (d Desk) Release(token, reason string) (Archived, error) {
	reason = strings.TrimSpace(reason)
	if len(reason) > maxReason || !utf8.ValidString(reason) || okf.Visible(reason) != reason || strings.ContainsAny(reason, "\n\r") {
		return Archived{}, Refusal{{Code: Hidden, At: "reason", Text: fmt.Sprintf("the reason is not one visible line of at most %d bytes", maxReason)}}
	}
	t, refused := d.openCall(token, nil)
	if t == nil {
		return Archived{}, Refusal(refused)
	}
	defer t.state.close()
	switch {
	case t.place != active && t.err != nil:
		return Archived{}, Refusal{firstProblem(t.err)}
	case t.place == archive:
		return t.past, t.removeDirectories()
	case t.place == pending:
		return Archived{}, Refusal{{
			Code: Locked, At: "token", Text: fmt.Sprintf("the session is at %s and not bound, so there is nothing to release", t.stage),
			Want: "nothing: it ends by itself at " + formatTime(t.hand.ExpiresAt) + ", and `odd anchor gc` removes it",
		}}
	}
	return t.archiveSession(reason)
}

// archiveSession archives the session that a turn holds. The record's rename is what ends
// it: what a crash leaves of the directory after it is swept later.
func (t *stageCall) archiveSession(reason string) (Archived, error) {
	a := t.newArchived(reason)
	b, err := pretty(a)
	if err == nil {
		err = t.state.mkdir(archive)
	}
	if err == nil {
		err = t.state.write(archive+"/"+t.token+".json", b)
	}
	if err != nil {
		return Archived{}, Refusal{persistProblem(err)}
	}
	return a, t.removeDirectories()
}

// newArchived returns the record of a session that ends now.
func (t *stageCall) newArchived(reason string) Archived {
	a := Archived{Version: recordVersion, Token: t.token, ReleasedAt: t.World.Now.UTC(), Reason: reason}
	var err error
	if t.err != nil {
		err = Refusal{firstProblem(t.err)}
	} else {
		var key []byte
		if key, err = t.Store.key(nil, ""); err == nil {
			err = t.bound.checkSignature(t.token, key)
		}
	}
	if err != nil {
		a.Fault = err.Error()
		return a
	}
	b := t.bound
	a.Role, a.Tier, a.Mode, a.BoundAt = b.Role, b.Tier, b.Mode, b.Timestamp
	a.ContextHash, a.Payload, a.Anchor, a.Renewals = b.Arm.Hash, b.Permit.Payload, b.SHA256, b.Permit.Renewals
	return a
}

// removeDirectories removes the directories of a session that has ended.
func (t *stageCall) removeDirectories() error {
	for _, place := range []string{active, pending} {
		at := place + "/" + t.token
		there, err := t.state.exists(at)
		if there && err == nil {
			err = t.state.remove(at)
		}
		if err != nil {
			return Refusal{{Code: Unswept, At: path.Join(t.state.path, at), Text: "the session is released, but its directory stays: " + err.Error(), Want: "`odd anchor gc`"}}
		}
	}
	return nil
}

// readArchived reads the record of a released session; fs.ErrNotExist where there is none.
func (d *dir) readArchived(token string) (Archived, error) {
	var a Archived
	name := archive + "/" + token + ".json"
	b, err := d.read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return a, err
	}
	if err == nil {
		err = json.Unmarshal(b, &a, recordForm)
	}
	if err == nil && (a.Version != recordVersion || a.Token != token) {
		err = fmt.Errorf("it is of version %d and token %q", a.Version, a.Token)
	}
	if err != nil {
		return Archived{}, Refusal{damagedRecord(Damaged, path.Join(d.path, name), err)}
	}
	return a, nil
}

// problemsOf returns the problems that an error carries, else one of a code at a place
// with its text.
func problemsOf(err error, code Code, at string) []Problem {
	var r Refusal
	if errors.As(err, &r) && len(r) > 0 {
		return r
	}
	return []Problem{{Code: code, At: at, Text: okf.Visible(err.Error())}}
}

// firstProblem returns the first problem of an error of reading.
func firstProblem(err error) Problem { return problemsOf(err, Damaged, "state")[0] }

// persistProblem says that a record could not be written.
func persistProblem(err error) Problem {
	return Problem{Code: Persist, At: "state", Text: "the record could not be written, and the session is as it was: " + err.Error(), Want: "room on the disk and a directory that can be written; then call again"}
}

// Refusal is every problem of a call that gives a value, as one error.
type Refusal []Problem

// Error writes the problems one a line: where, the code, what, and what was expected.
func (r Refusal) Error() string {
	lines := make([]string, len(r))
	for i, p := range r {
		lines[i] = fmt.Sprintf("%s: %s: %s", p.At, p.Code, p.Text)
		if p.Want != "" {
			lines[i] += "; expected " + p.Want
		}
	}
	return strings.Join(lines, "\n")
}

// Refused returns the first code.
func (r Refusal) Refused() string {
	if len(r) == 0 {
		return ""
	}
	return string(r[0].Code)
}
