package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

const version = 1

// stored is a line of version 1. The names are frozen and stand in sorted
// order, because encoding/json prints members in the order of the struct.
type stored struct {
	Cost     int64          `json:"cost_micro_usd,omitempty"`
	Data     map[string]any `json:"data,omitempty"`
	DeadRun  string         `json:"dead_run,omitempty"`
	Kind     string         `json:"kind"`
	Reserved int64          `json:"reserved_micro_usd,omitempty"`
	Role     string         `json:"role,omitempty"`
	Run      string         `json:"run"`
	Seq      int            `json:"seq"`
	Task     string         `json:"task,omitempty"`
	Team     string         `json:"team,omitempty"`
	Trace    string         `json:"trace,omitempty"`
	TS       string         `json:"ts"`
	V        int            `json:"v"`
}

// names are the keys of stored. encoding/json would take other spellings of
// them too ("Cost_Micro_USD"), which two readers could understand differently.
var names = []string{"cost_micro_usd", "data", "dead_run", "kind", "reserved_micro_usd", "role", "run", "seq", "task", "team", "trace", "ts", "v"}

// encode prints one record with its newline. It refuses what decode would.
func encode(r Record) ([]byte, error) {
	b, err := printed(r)
	if err == nil {
		_, err = decode(bytes.TrimSuffix(b, []byte("\n")))
	}
	if err != nil {
		return nil, err
	}
	return b, nil
}

// Plain reports a line, without its newline, that is as Append writes its record. Read
// takes other spellings of the same record, with spaces or escapes, but who looks for a
// word in the bytes of a file finds it in plain lines alone.
func Plain(line []byte, r Record) bool {
	b, err := printed(r)
	return err == nil && bytes.Equal(bytes.TrimSuffix(b, []byte("\n")), line)
}

// printed is a record as it is stored, with its newline.
func printed(r Record) ([]byte, error) {
	s := stored{
		Cost: r.Cost, Data: r.Data, DeadRun: r.DeadRun, Kind: string(r.Kind), Reserved: r.Reserved, Role: r.Role,
		Run: r.Run, Seq: r.Seq, Task: r.Task, Team: r.Team, Trace: r.Trace, TS: r.TS.UTC().Format(time.RFC3339), V: version,
	}
	for _, text := range []string{s.DeadRun, s.Kind, s.Role, s.Run, s.Task, s.Team, s.Trace} {
		if !utf8.ValidString(text) {
			return nil, fmt.Errorf("%q is not UTF-8", text)
		}
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	return buf.Bytes(), nil
}

// decode reads one line without its newline.
func decode(line []byte) (Record, error) {
	if !utf8.Valid(line) {
		return Record{}, errors.New("not UTF-8; restore the file from git")
	}
	if err := checkKeys(line); err != nil {
		return Record{}, err
	}
	var s stored
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.UseNumber()
	if err := dec.Decode(&s); err != nil {
		return Record{}, fmt.Errorf("not a record: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	ts, err := s.check()
	if err != nil {
		return Record{}, err
	}
	r := Record{
		TS: ts, Run: s.Run, Seq: s.Seq, Kind: Kind(s.Kind), Task: s.Task, DeadRun: s.DeadRun, Role: s.Role, Team: s.Team,
		Reserved: s.Reserved, Cost: s.Cost, Trace: s.Trace,
	}
	if len(s.Data) == 0 {
		return r, nil
	}
	data, err := integers("data", s.Data)
	if err != nil {
		return Record{}, err
	}
	r.Data, _ = data.(map[string]any)
	return r, nil
}

// checkKeys refuses a line that is not one JSON object, a key twice and a key
// that version 1 does not have: money must not be readable in two ways.
func checkKeys(line []byte) error {
	dec := json.NewDecoder(bytes.NewReader(line))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return errors.New("not a record: want one JSON object; restore the file from git")
	}
	seen := make(map[string]bool, len(names))
	for dec.More() {
		t, err := dec.Token()
		key, isKey := t.(string)
		if err != nil || !isKey {
			return fmt.Errorf("not a record: %v", err)
		}
		if !slices.Contains(names, key) {
			return fmt.Errorf("unknown key %q; this odd reads version %d", key, version)
		}
		if seen[key] {
			return fmt.Errorf("key %q twice; restore the file from git", key)
		}
		seen[key] = true
		var skip json.RawMessage
		if err := dec.Decode(&skip); err != nil {
			return fmt.Errorf("not a record: %w", err)
		}
	}
	if _, err := dec.Token(); err != nil {
		return fmt.Errorf("not a record: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("not a record: something follows the object")
	}
	return nil
}

// check holds a stored line to the rules of version 1.
func (s stored) check() (time.Time, error) {
	switch {
	case s.V != version:
		return time.Time{}, fmt.Errorf("version %d; this odd reads version %d, a newer one wrote the line", s.V, version)
	case s.Run == "":
		return time.Time{}, errors.New("no run")
	case s.Kind == "":
		return time.Time{}, errors.New("no kind")
	case s.Seq < 0:
		return time.Time{}, fmt.Errorf("seq %d is negative", s.Seq)
	case s.Cost < 0:
		return time.Time{}, fmt.Errorf("cost_micro_usd %d is negative; money is only ever spent", s.Cost)
	case s.Reserved < 0:
		return time.Time{}, fmt.Errorf("reserved_micro_usd %d is negative; money is only ever spent", s.Reserved)
	}
	ts, err := time.Parse(time.RFC3339, s.TS)
	if err != nil || !strings.HasSuffix(s.TS, "Z") {
		return time.Time{}, fmt.Errorf("ts %q is not an RFC 3339 moment in UTC", s.TS)
	}
	return ts.UTC(), nil
}

// integers turns the numbers below v into int64 and refuses all others.
func integers(at string, v any) (any, error) {
	var err error
	switch v := v.(type) {
	case json.Number:
		n, err := v.Int64()
		if err != nil || v == "-0" {
			return nil, fmt.Errorf("%s: %s is not an integer of 64 bits", at, v)
		}
		return n, nil
	case map[string]any:
		for k, e := range v {
			if v[k], err = integers(at+"."+k, e); err != nil {
				return nil, err
			}
		}
	case []any:
		for i, e := range v {
			if v[i], err = integers(fmt.Sprintf("%s[%d]", at, i), e); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

// sum adds two amounts; what does not fit is an error, never a wrapped sum.
func sum(a, b int64) (int64, error) {
	if a > math.MaxInt64-b {
		return 0, errors.New("the sum is more money than odd can count")
	}
	return a + b, nil
}
