package gate

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// Row is one line of gates.jsonl.
type Row struct {
	V         int       `json:"v"`
	ID        string    `json:"id"` // G-0001 …, rising
	TS        time.Time `json:"ts"`
	Gate      Gate      `json:"gate"`
	From      Stance    `json:"from"`
	To        Stance    `json:"to"`
	Act       string    `json:"act"` // frame, draft, activate, renew, revise, enter, expire, release, acknowledge, suspend
	Lease     string    `json:"lease,omitempty"`
	LeaseSum  string    `json:"lease_sha256,omitempty"` // of lease.toml as this act left it
	By        string    `json:"by"`                     // human:ADDRESS
	Reason    string    `json:"reason"`
	Proposals []string  `json:"proposals,omitempty"` // it answers
	Findings  []string  `json:"findings,omitempty"`  // that it acknowledges, COMMIT:INVARIANT:PATH of each
	Prev      string    `json:"prev"`                // hex SHA-256 of the line before, without its newline; "" for the first
}

// Chain is the content of gates.jsonl.
type Chain struct{ Rows []Row }

// skew is how far the clocks of two machines may be apart.
const skew = 5 * time.Minute

// Acknowledge is the act that records findings of odd check as known. It changes neither the
// lease nor the stance.
const Acknowledge = "acknowledge"

// acts are what a person may do at each gate.
var acts = map[Gate][]string{
	Framing:        {"frame", "draft", "renew"},
	Commitment:     {"activate", "renew", "enter"},
	EvaluationGate: {"enter", "renew", "revise", "expire", "release", Acknowledge},
	Emergency:      {"suspend"},
}

// statesAfter maps an act and the lease's state to the state after the act. A missing state
// refuses the act, and "" keeps the state.
var statesAfter = map[string]map[State]State{
	"frame":     {None: "", Draft: "", Active: "", Suspended: "", Expired: "", Released: ""},
	"enter":     {None: "", Draft: "", Active: "", Suspended: "", Expired: "", Released: ""},
	Acknowledge: {None: "", Draft: "", Active: "", Suspended: "", Expired: "", Released: ""},
	"draft":     {None: Draft, Draft: Draft, Suspended: Draft, Expired: Draft, Released: Draft},
	"activate":  {Draft: Active},
	"renew":     {Active: Active},
	"revise":    {Active: Active},
	"expire":    {Active: Expired},
	"release":   {Draft: Released, Active: Released, Suspended: Released},
	"suspend":   {None: "", Draft: Suspended, Active: Suspended, Suspended: Suspended, Expired: "", Released: ""},
}

// stateAfter returns the lease's state after an act, or false if the act is not allowed.
func stateAfter(s State, act string) (State, bool) {
	to, ok := statesAfter[act][s]
	if ok && to == "" {
		to = s
	}
	return to, ok
}

// isFinal reports a state that no act continues, except a new draft.
func isFinal(s State) bool { return s == None || s == Expired || s == Released }

// ReadChain reads gates.jsonl and checks its links, order, ids, stances and lease states.
// The error names the line. An empty file is a chain without rows. A last line without a
// newline is an error.
func ReadChain(b []byte) (Chain, error) {
	var c Chain
	prev := ""
	err := eachLine(b, func(line []byte) error {
		var r Row
		if err := decodeExact(line, &r); err != nil {
			return err
		}
		if err := c.checkNext(r, prev); err != nil {
			return err
		}
		c.Rows = append(c.Rows, r)
		prev = Sum(line)
		return nil
	})
	if err != nil {
		return Chain{}, err
	}
	return c, nil
}

var (
	leaseID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^L-[0-9]{4,9}$`) })
	hexSum  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{64}$`) })
)

// checkNext returns why r cannot be the chain's next row.
func (c Chain) checkNext(r Row, prev string) error {
	if err := r.checkRow(); err != nil {
		return err
	}
	if want := fmt.Sprintf("G-%04d", len(c.Rows)+1); r.ID != want {
		return fmt.Errorf("id %q, want %s; rows are never taken out or put between", r.ID, want)
	}
	if r.Prev != prev {
		return fmt.Errorf("%s: prev is not the SHA-256 of the line before; a row was changed: restore the file from git", r.ID)
	}
	if last, ok := c.End(); ok && r.TS.Before(last.TS.Add(-skew)) {
		return fmt.Errorf("%s: ts %s is before %s of %s", r.ID, formatTime(r.TS), formatTime(last.TS), last.ID)
	}
	if r.From != c.Stance() {
		return fmt.Errorf("%s: from %s, but the stance was %s", r.ID, r.From, c.Stance())
	}
	if _, err := nextStance(r.From, r.Gate, r.Act, r.To); err != nil {
		return fmt.Errorf("%s: %w", r.ID, err)
	}
	id, state := c.Lease()
	to, ok := stateAfter(state, r.Act)
	if !ok {
		return fmt.Errorf("%s: %s of a lease that is %s", r.ID, r.Act, state)
	}
	if r.Act == "draft" {
		id = c.NextLease()
	}
	if r.Lease != id {
		return fmt.Errorf("%s: lease %q, want %q", r.ID, r.Lease, id)
	}
	if r.To == Execution && to != Active {
		return fmt.Errorf("%s: execution with a lease that is %s", r.ID, to)
	}
	return nil
}

// checkRow checks a row without its chain.
func (r Row) checkRow() error {
	switch {
	case r.V != 1:
		return fmt.Errorf("version %d; this odd reads version 1", r.V)
	case !slices.Contains(Gates(), r.Gate):
		return fmt.Errorf("unknown gate %q; %s", r.Gate, didYouMean(string(r.Gate), toStrings(Gates())))
	case !slices.Contains(acts[r.Gate], r.Act):
		return fmt.Errorf("act %q is not one of the %s gate; %s", r.Act, r.Gate, didYouMean(r.Act, acts[r.Gate]))
	case r.To == "":
		return errors.New("to is empty")
	case !isWholeSecond(r.TS):
		return fmt.Errorf("ts %s is not UTC in whole seconds", r.TS)
	case !isPerson(r.By):
		return fmt.Errorf("by %q; only a person passes a gate, human:ADDRESS", r.By)
	case r.Reason == "" || !oneLine(r.Reason):
		return fmt.Errorf("reason %q is not one line of text", r.Reason)
	case r.Lease == "" && r.LeaseSum != "", r.Lease != "" && !hexSum().MatchString(r.LeaseSum):
		return errors.New("lease_sha256 is not the lease's SHA-256")
	}
	return errors.Join(r.checkProposals(), r.checkFindings())
}

// checkFindings requires findings in a row that acknowledges, and forbids them in any other.
func (r Row) checkFindings() error {
	if (r.Act == Acknowledge) != (len(r.Findings) > 0) {
		return fmt.Errorf("act %s with %d findings; only %s has some", r.Act, len(r.Findings), Acknowledge)
	}
	for _, f := range r.Findings {
		if p := strings.SplitN(f, ":", 3); len(p) != 3 || len(p[0]) < 40 || p[1] == "" || p[2] == "" {
			return fmt.Errorf("findings: %q is not COMMIT:INVARIANT:PATH", f)
		}
	}
	return nil
}

// checkProposals requires every proposal of a row to be an id that occurs once.
func (r Row) checkProposals() error {
	for i, p := range r.Proposals {
		if !strings.HasPrefix(p, "P-") || !oneLine(p) || slices.Contains(r.Proposals[:i], p) {
			return fmt.Errorf("proposals: %q is not a proposal's id, or is there twice", p)
		}
	}
	return nil
}

// Append returns b with row as its last line. It fills in ID, V, Prev and, if empty, From,
// and checks the row as ReadChain does.
func Append(b []byte, row Row) ([]byte, Row, error) {
	c, err := ReadChain(b)
	if err != nil {
		return nil, Row{}, err
	}
	row.V, row.ID, row.Prev, row.TS = 1, c.NextID(), "", row.TS.UTC().Truncate(time.Second)
	if row.From == "" {
		row.From = c.Stance()
	}
	if lines := bytes.Split(bytes.TrimSuffix(b, []byte("\n")), []byte("\n")); len(b) > 0 {
		row.Prev = Sum(lines[len(lines)-1])
	}
	if err := c.checkNext(row, row.Prev); err != nil {
		return nil, Row{}, err
	}
	line, err := printLine(row)
	if err != nil {
		return nil, Row{}, err
	}
	return append(slices.Clone(b), line...), row, nil
}

// Stance returns the stance after the last row.
func (c Chain) Stance() Stance {
	if last, ok := c.End(); ok {
		return last.To
	}
	return Sensemaking
}

// End returns the last row, and whether there is one.
func (c Chain) End() (Row, bool) {
	if len(c.Rows) == 0 {
		return Row{}, false
	}
	return c.Rows[len(c.Rows)-1], true
}

// NextID returns the id of the next row.
func (c Chain) NextID() string { return fmt.Sprintf("G-%04d", len(c.Rows)+1) }

// Last returns the lease's last row, acknowledgements left out, and whether there is one.
func (c Chain) Last(lease string) (Row, bool) {
	return c.findLast(func(r Row) bool { return r.Lease == lease && lease != "" && r.Act != Acknowledge })
}

// Emergency returns the last emergency and how many rows follow it.
func (c Chain) Emergency() (r Row, after int, ok bool) {
	for i, r := range slices.Backward(c.Rows) {
		if r.Gate == Emergency {
			return r, len(c.Rows) - 1 - i, true
		}
	}
	return Row{}, 0, false
}

// Lease returns the id and state of the current lease, None if there is none.
func (c Chain) Lease() (id string, s State) {
	s = None
	for _, r := range c.Rows {
		if to, ok := stateAfter(s, r.Act); ok {
			id, s = r.Lease, to
		}
	}
	return id, s
}

// NextLease returns the id of a draft: the open lease's own, or the next one.
func (c Chain) NextLease() string {
	id, s := c.Lease()
	if !isFinal(s) {
		return id
	}
	n := 0
	if _, err := fmt.Sscanf(id, "L-%d", &n); err != nil {
		n = 0
	}
	return fmt.Sprintf("L-%04d", n+1)
}

// isSuspended reports whether the lease was suspended and not activated since.
func (c Chain) isSuspended(lease string) bool {
	r, ok := c.findLast(func(r Row) bool { return r.Lease == lease && (r.Act == "activate" || r.Act == "suspend") })
	return ok && r.Act == "suspend"
}

func (c Chain) findLast(is func(Row) bool) (Row, bool) {
	for _, r := range slices.Backward(c.Rows) {
		if is(r) {
			return r, true
		}
	}
	return Row{}, false
}

// Sum returns the SHA-256 in hex that rows and leases are identified by.
func Sum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// decodeExact decodes one line and refuses any spelling but odd's own.
func decodeExact(line []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return fmt.Errorf("%s; restore the file from git", strings.TrimPrefix(err.Error(), "json: "))
	}
	again, err := printLine(into)
	if err != nil {
		return err
	}
	if !bytes.Equal(bytes.TrimSuffix(again, []byte("\n")), line) {
		return errors.New("not as odd writes it; restore the file from git")
	}
	return nil
}

// isWholeSecond reports whether t is a time that files may hold: UTC, whole seconds.
func isWholeSecond(t time.Time) bool {
	return t.Location() == time.UTC && t.Nanosecond() == 0 && t.Year() >= 1 && t.Year() <= 9999
}

func formatTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// isPerson reports whether by is "human:" with an address.
func isPerson(by string) bool {
	address, ok := strings.CutPrefix(by, "human:")
	return ok && address != "" && oneLine(address) && !strings.ContainsAny(address, " ,{}[]\"'#")
}

// oneLine reports whether s is UTF-8 on one line, without surrounding space and invisible
// characters.
func oneLine(s string) bool {
	return utf8.ValidString(s) && strings.TrimSpace(s) == s && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}
