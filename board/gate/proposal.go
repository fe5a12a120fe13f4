package gate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// Severity orders proposals.
type Severity string

// The severities, the gravest first.
const (
	EmergencySeverity Severity = "emergency"
	High              Severity = "high"
	Medium            Severity = "medium"
	Low               Severity = "low"
)

// Severities returns them, the gravest first.
func Severities() []Severity { return []Severity{EmergencySeverity, High, Medium, Low} }

// Source says who proposes. The list is closed: an unknown source is an error.
type Source string

// The sources, in their order of priority.
const (
	UserSignal     Source = "user_signal"
	DecayManager   Source = "decay_manager"
	Perception     Source = "perception"
	ContinuousEval Source = "continuous_eval"
	TaskAgent      Source = "task_agent"
)

// allSources returns them in order of priority.
func allSources() []Source {
	return []Source{UserSignal, DecayManager, Perception, ContinuousEval, TaskAgent}
}

// Proposal is one line of proposals/WRITER.jsonl with t "proposal":
//
//	{"t":"proposal","id":"P-01KJ…","ts":"2026-07-04T09:00:00Z","source":"decay_manager","severity":"high","gate":"evaluation",
//	 "reason":"lease L-0003 expired …","lease":"L-0003","key":"lease-expired:L-0003:2026-07-04T09:00:00Z"}
type Proposal struct {
	ID       string    `json:"id"` // P-ULID
	TS       time.Time `json:"ts"` // UTC, to the second
	Source   Source    `json:"source"`
	Severity Severity  `json:"severity"`
	Gate     Gate      `json:"gate"`
	Reason   string    `json:"reason"` // at most 500 bytes, one line
	Lease    string    `json:"lease,omitempty"`
	Task     string    `json:"task,omitempty"`
	Run      string    `json:"run,omitempty"`
	Key      string    `json:"key"` // a key that is open is not appended again

	Confidence string   `json:"confidence,omitempty"` // of a sensor: low, medium or high, by how many cases it has seen
	Report     []Signal `json:"report,omitempty"`     // what the sensor counted
}

// The most a reason and a key may be, in bytes.
const (
	maxReason = 500
	maxKey    = 300
)

// compareProposals orders proposals by severity, then source, then time, to the millisecond that an
// id holds. Proposals of the same millisecond are equal, so a stable sort keeps the order
// they were made in.
func compareProposals(a, b Proposal) int {
	return cmp.Or(
		cmp.Compare(slices.Index(Severities(), a.Severity), slices.Index(Severities(), b.Severity)),
		cmp.Compare(slices.Index(allSources(), a.Source), slices.Index(allSources(), b.Source)),
		a.TS.Compare(b.TS),
		cmp.Compare(a.idTime(), b.idTime()),
	)
}

// idTime returns the part of the id that is made from the time. The rest is random.
func (p Proposal) idTime() string { return p.ID[:min(len(p.ID), len("P-")+10)] }

var (
	proposalID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^P-[0-9A-Za-z]{1,40}$`) })
	gateID     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^G-[0-9]{4,9}$`) })
)

// checkProposal checks one proposal without the others.
func (p Proposal) checkProposal() error {
	errs := []error{
		checkKnown("source", p.Source, allSources()), checkKnown("severity", p.Severity, Severities()), checkKnown("gate", p.Gate, Gates()),
		checkID(p.ID), checkMoment(p.TS), checkText("reason", p.Reason, maxReason), checkText("key", p.Key, maxKey), p.checkReport(),
	}
	for _, about := range [][2]string{{"lease", p.Lease}, {"task", p.Task}, {"run", p.Run}} {
		if about[1] != "" {
			errs = append(errs, checkText(about[0], about[1], maxKey))
		}
	}
	return errors.Join(errs...)
}

func checkID(id string) error {
	if !proposalID().MatchString(id) {
		return fmt.Errorf("id %q is not of the form P-01J…", id)
	}
	return nil
}

func checkMoment(t time.Time) error {
	if t.IsZero() || t.Nanosecond() != 0 {
		return fmt.Errorf("ts %s is not a moment to the second", t.Format(time.RFC3339Nano))
	}
	return nil
}

func checkAct(id string) error {
	if !gateID().MatchString(id) {
		return fmt.Errorf("act %q is no gate row; want G-0001", id)
	}
	return nil
}

func checkBy(by string) error {
	if who, ok := strings.CutPrefix(by, "human:"); !ok || checkText("by", who, maxKey) != nil {
		return fmt.Errorf("by %q is not a person; want human:ADDRESS", by)
	}
	return nil
}

// checkText refuses a text that is empty, too long, or has hidden characters.
func checkText(what, s string, max int) error {
	switch {
	case strings.TrimSpace(s) == "":
		return fmt.Errorf("no %s", what)
	case len(s) > max:
		return fmt.Errorf("%s is %d bytes, at most %d", what, len(s), max)
	case strings.ContainsFunc(s, isHidden):
		return fmt.Errorf("%s %q has hidden characters", what, s)
	}
	return nil
}

// Disposition is one line with t "disposition": what became of a proposal.
type Disposition struct {
	ID       string    `json:"id"` // the proposal's
	TS       time.Time `json:"ts"`
	By       string    `json:"by"`            // human:ADDRESS
	Decision string    `json:"decision"`      // accepted, rejected, superseded, expired
	Act      string    `json:"act,omitempty"` // the gate row that acts on it, G-0004
	Reason   string    `json:"reason,omitempty"`
}

// The decisions about a proposal.
const (
	Accepted   = "accepted"   // a gate acted on it
	Rejected   = "rejected"   // a person said no, and why
	Superseded = "superseded" // the lease it was about has ended
	Lapsed     = "expired"    // its time has passed
)

// checkDisposition checks one disposition. Only a person may make it.
func (d Disposition) checkDisposition() error {
	errs := []error{checkID(d.ID), checkMoment(d.TS), checkBy(d.By), checkKnown("decision", d.Decision, []string{Accepted, Rejected, Superseded, Lapsed})}
	switch {
	case d.Act != "":
		errs = append(errs, checkAct(d.Act))
	case d.Act == "" && d.Decision == Accepted:
		errs = append(errs, errors.New("accepted without the gate that acts on it; name its row, G-0001"))
	case d.Reason == "" && d.Decision == Rejected:
		errs = append(errs, errors.New("rejected without a reason"))
	}
	if d.Reason != "" {
		errs = append(errs, checkText("reason", d.Reason, maxReason))
	}
	return errors.Join(errs...)
}

// Buffer is every proposal of every writer, with its disposition. The order in which the
// writers' files are read makes no difference.
type Buffer struct {
	Proposals    []Proposal // in the order of Compare
	Dispositions map[string]Disposition
}

// The stored lines.
type (
	proposalLine struct {
		T string `json:"t"`
		Proposal
	}
	dispositionLine struct {
		T string `json:"t"`
		Disposition
	}
)

// ReadProposals reads one writer's file into the buffer. On an error, which names the line,
// the buffer is unchanged. If two people disposed of one proposal in two clones, the earlier
// disposition counts.
func (b *Buffer) ReadProposals(text []byte) error {
	next := Buffer{Proposals: slices.Clone(b.Proposals), Dispositions: maps.Clone(b.Dispositions)}
	if next.Dispositions == nil {
		next.Dispositions = map[string]Disposition{}
	}
	ids := map[string]bool{}
	for _, p := range next.Proposals {
		ids[p.ID] = true
	}
	disposed := map[string]bool{}
	err := eachLine(text, func(line []byte) error {
		p, d, err := readLine(line)
		switch {
		case err != nil:
			return err
		case p == nil && disposed[d.ID]:
			return fmt.Errorf("%s is disposed of again; restore the file from git", d.ID)
		case p == nil:
			disposed[d.ID] = true
			next.keepEarlier(*d)
			return nil
		case ids[p.ID]:
			return fmt.Errorf("proposal %s again; restore the file from git", p.ID)
		}
		ids[p.ID] = true
		next.Proposals = append(next.Proposals, *p)
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortStableFunc(next.Proposals, compareProposals)
	*b = next
	return nil
}

// keepEarlier keeps the earlier of two dispositions of one proposal.
func (b Buffer) keepEarlier(d Disposition) {
	old, ok := b.Dispositions[d.ID]
	if !ok || cmp.Or(d.TS.Compare(old.TS), cmp.Compare(d.By, old.By), cmp.Compare(d.Decision, old.Decision), cmp.Compare(d.Act, old.Act), cmp.Compare(d.Reason, old.Reason)) < 0 {
		b.Dispositions[d.ID] = d
	}
}

func readLine(line []byte) (*Proposal, *Disposition, error) {
	var kind struct {
		T string `json:"t"`
	}
	if err := json.Unmarshal(line, &kind); err != nil {
		return nil, nil, fmt.Errorf("not JSON: %w; restore the file from git", err)
	}
	switch kind.T {
	case "proposal":
		var l proposalLine
		if err := decodeExact(line, &l); err != nil {
			return nil, nil, err
		}
		return &l.Proposal, nil, l.Proposal.checkProposal()
	case "disposition":
		var l dispositionLine
		if err := decodeExact(line, &l); err != nil {
			return nil, nil, err
		}
		return nil, &l.Disposition, l.Disposition.checkDisposition()
	}
	return nil, nil, fmt.Errorf("unknown t %q; want proposal or disposition", kind.T)
}

// Open returns the proposals without a disposition, in the order of Compare.
func (b Buffer) Open() []Proposal {
	var out []Proposal
	for _, p := range b.Proposals {
		if _, ok := b.Dispositions[p.ID]; !ok {
			out = append(out, p)
		}
	}
	return out
}

// Emergency returns the first open proposal of severity emergency, "" for none.
func (b Buffer) Emergency() string {
	if open := b.Open(); len(open) > 0 && open[0].Severity == EmergencySeverity {
		return open[0].ID
	}
	return ""
}

// ByID finds a proposal.
func (b Buffer) ByID(id string) (Proposal, bool) {
	for _, p := range b.Proposals {
		if p.ID == id {
			return p, true
		}
	}
	return Proposal{}, false
}

// eachLine calls read with every line of a JSONL file, without its newline. The error names
// the line. A last line without a newline is an error.
func eachLine(text []byte, read func(line []byte) error) error {
	for n := 1; len(text) > 0; n++ {
		line, rest, whole := bytes.Cut(text, []byte("\n"))
		if !whole {
			return fmt.Errorf("line %d: torn, the last line has no newline; restore the file from git", n)
		}
		if err := read(line); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		text = rest
	}
	return nil
}

// printLine returns v as one line with its newline.
func printLine(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// isHidden reports a character that a person does not see and a terminal may obey.
func isHidden(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) || r == utf8.RuneError
}

// cleanLine returns s on one line without hidden characters, cut to at most max bytes.
func cleanLine(s string, max int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case isHidden(r):
			return -1
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	return strings.TrimSpace(strings.ToValidUTF8(s[:min(len(s), max)], ""))
}

// checkKnown returns an error if v is not in the closed set.
func checkKnown[T ~string](what string, v T, set []T) error {
	if slices.Contains(set, v) {
		return nil
	}
	return fmt.Errorf("unknown %s %q; want one of %s", what, string(v), strings.Join(toStrings(set), ", "))
}
