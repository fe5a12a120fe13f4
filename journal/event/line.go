package event

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const version = 1

// stored is a line of version 1. The names are frozen and sorted, which is the order in which they are printed.
type stored struct {
	Cost     int64          `json:"cost_micro_usd,omitzero"`
	Data     jsontext.Value `json:"data,omitempty"`
	DeadRun  string         `json:"dead_run,omitempty"`
	Kind     string         `json:"kind"`
	Reserved int64          `json:"reserved_micro_usd,omitzero"`
	Role     string         `json:"role,omitempty"`
	Run      string         `json:"run"`
	Seq      int            `json:"seq"`
	Task     string         `json:"task,omitempty"`
	Team     string         `json:"team,omitempty"`
	Trace    string         `json:"trace,omitempty"`
	TS       string         `json:"ts"`
	V        int            `json:"v"`
}

// jsonOptions print and read lines strictly: one spelling of every value, and no duplicate or unknown keys, because
// money must not be readable in two ways.
var jsonOptions = json.JoinOptions(json.Deterministic(true), json.FormatNilSliceAsNull(true), jsontext.EscapeForJS(true), json.RejectUnknownMembers(true))

// encode prints one record with its newline. It refuses a record that decode would refuse.
func encode(r Record) ([]byte, error) {
	b, err := formatRecord(r)
	if err == nil {
		_, err = decode(bytes.TrimSuffix(b, []byte("\n")))
	}
	if err != nil {
		return nil, err
	}
	return b, nil
}

// Plain reports whether a line, without its newline, is exactly what Append writes for its record. Read also
// accepts other spellings, with spaces or escapes. A search for a word in a file's bytes is only complete in plain
// lines.
func Plain(line []byte, r Record) bool {
	b, err := formatRecord(r)
	return err == nil && bytes.Equal(bytes.TrimSuffix(b, []byte("\n")), line)
}

// formatRecord returns a record as it is stored, with its newline.
func formatRecord(r Record) ([]byte, error) {
	s := stored{
		Cost: r.Cost, DeadRun: r.DeadRun, Kind: string(r.Kind), Reserved: r.Reserved, Role: r.Role,
		Run: r.Run, Seq: r.Seq, Task: r.Task, Team: r.Team, Trace: r.Trace, TS: r.TS.UTC().Format(time.RFC3339), V: version,
	}
	var err error
	if r.Data != nil {
		if !slices.Contains(r.Data.listKinds(), r.Kind) {
			return nil, fmt.Errorf("data of %T: a record of kind %s has none of it", r.Data, r.Kind)
		}
		if s.Data, err = json.Marshal(r.Data, jsonOptions); err != nil {
			return nil, fmt.Errorf("data: %s", explainDecode(err))
		}
	}
	b, err := json.Marshal(s, jsonOptions)
	if err != nil {
		return nil, errors.New(explainDecode(err))
	}
	return append(b, '\n'), nil
}

// decode reads one line without its newline.
func decode(line []byte) (Record, error) {
	if !utf8.Valid(line) {
		return Record{}, errors.New("not UTF-8; restore the file from git")
	}
	if !bytes.HasPrefix(bytes.TrimSpace(line), []byte("{")) {
		return Record{}, errors.New("not a record: want one JSON object; restore the file from git")
	}
	var s stored
	if err := json.Unmarshal(line, &s, jsonOptions); err != nil {
		return Record{}, errors.New(explainDecode(err))
	}
	ts, err := s.check()
	if err != nil {
		return Record{}, err
	}
	data, err := decodeData(Kind(s.Kind), s.Data)
	if err != nil {
		return Record{}, fmt.Errorf("data: %s", explainDecode(err))
	}
	return Record{
		TS: ts, Run: s.Run, Seq: s.Seq, Kind: Kind(s.Kind), Task: s.Task, DeadRun: s.DeadRun, Role: s.Role, Team: s.Team,
		Reserved: s.Reserved, Cost: s.Cost, Trace: s.Trace, Data: data,
	}, nil
}

// decodeData reads the data of a record of that kind, nil if there is none.
func decodeData(kind Kind, b jsontext.Value) (Data, error) {
	if len(b) == 0 {
		return nil, nil
	}
	switch kind {
	case Claim, Engage:
		return unmarshalData[ClaimData](b)
	case Session:
		return unmarshalData[SessionData](b)
	case Anchor:
		return unmarshalData[AnchorData](b)
	case Reconcile:
		return unmarshalData[ReconcileData](b)
	case Op, OpEnd:
		return unmarshalData[OpData](b)
	case Outcome:
		return unmarshalData[OutcomeData](b)
	case Abandoned:
		return unmarshalData[AbandonedData](b)
	case Refused, Paused:
		return unmarshalData[StopData](b)
	}
	return UnknownData{Kind: kind, JSON: string(b)}, nil
}

func unmarshalData[T Data](b []byte) (Data, error) {
	var d T
	err := json.Unmarshal(b, &d, jsonOptions)
	return d, err
}

// explainDecode says where and why a line is not a record.
func explainDecode(err error) string {
	var at *json.SemanticError
	var syntax *jsontext.SyntacticError
	pointer := jsontext.Pointer("")
	switch {
	case errors.As(err, &at):
		pointer = at.JSONPointer
	case errors.As(err, &syntax):
		pointer = syntax.JSONPointer
	}
	key := pointer.LastToken()
	switch {
	case errors.Is(err, json.ErrUnknownName):
		return fmt.Sprintf("unknown key %q; this odd reads version %d, a newer one wrote the line: update odd", key, version)
	case errors.Is(err, jsontext.ErrDuplicateName):
		return fmt.Sprintf("key %q twice; restore the file from git", key)
	case at != nil && at.GoType != nil && key != "":
		return fmt.Sprintf("not a record: %s is no %s; restore the file from git", pointer, at.GoType)
	}
	if strings.Contains(err.Error(), "UTF-8") {
		return fmt.Sprintf("not UTF-8: %s", pointer)
	}
	return "not a record: " + strings.TrimPrefix(strings.TrimPrefix(err.Error(), "json: "), "jsontext: ")
}

// check checks a stored line against the rules of version 1, and returns its time.
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

// Redacted returns the record with f applied to every text of its data, but not to keys.
func (r Record) Redacted(f func(string) string) (Record, error) {
	if r.Data == nil {
		return r, nil
	}
	b, err := json.Marshal(r.Data, jsonOptions)
	if err != nil {
		return r, fmt.Errorf("data: %s", explainDecode(err))
	}
	var out bytes.Buffer
	dec, enc := jsontext.NewDecoder(bytes.NewReader(b)), jsontext.NewEncoder(&out)
	for {
		in, n := dec.StackIndex(dec.StackDepth())
		t, err := dec.ReadToken()
		if err == io.EOF {
			break
		}
		if err != nil {
			return r, err
		}
		if isKey := in == '{' && n%2 == 0; t.Kind() == '"' && !isKey {
			t = jsontext.String(f(t.String()))
		}
		if err := enc.WriteToken(t); err != nil {
			return r, err
		}
	}
	r.Data, err = decodeData(r.Kind, out.Bytes())
	return r, err
}

// addMoney adds two amounts; an overflow is an error.
func addMoney(a, b int64) (int64, error) {
	if a > math.MaxInt64-b {
		return 0, errors.New("the sum is more money than odd can count")
	}
	return a + b, nil
}
