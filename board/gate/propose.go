package gate

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
)

// MaxPerDrain is how many proposals one drain may append.
const MaxPerDrain = 10

// appendProposal returns the writer's file with p as its last line, and p as written. It
// returns false if an open proposal has the same key, in b or in the file. It removes
// control characters from the reason and cuts it to 500 bytes. An empty ID is derived from
// the time, the run, the text and the file, which no two runs share; a caller outside a run
// must give an ID.
func (b Buffer) appendProposal(file []byte, p Proposal) ([]byte, Proposal, bool, error) {
	all, err := b.withFile(file)
	if err != nil {
		return nil, p, false, err
	}
	p.TS = p.TS.UTC().Truncate(time.Second)
	p.Reason, p.Key = cleanLine(p.Reason, maxReason), cleanLine(p.Key, maxKey)
	if slices.ContainsFunc(all.Open(), func(open Proposal) bool { return open.Key == p.Key }) {
		return file, p, false, nil
	}
	if p.ID == "" {
		p.ID = deriveID(file, p)
	}
	if err := p.checkProposal(); err != nil {
		return nil, p, false, err
	}
	if _, ok := all.ByID(p.ID); ok {
		return nil, p, false, fmt.Errorf("proposal %s is there already", p.ID)
	}
	line, err := printLine(proposalLine{"proposal", p})
	if err != nil {
		return nil, p, false, err
	}
	return slices.Concat(file, line), p, true, nil
}

// deriveID makes an id from what is unique about a run's proposal.
func deriveID(file []byte, p Proposal) string {
	sum := sha256.Sum256(fmt.Appendf(slices.Clone(file), "%d %q %q %q %q %q", p.TS.Unix(), p.Run, p.Source, p.Key, p.Task, p.Reason))
	var id ulid.ULID
	if !p.TS.Before(time.Unix(0, 0)) {
		_ = id.SetTime(ulid.Timestamp(p.TS))
	}
	_ = id.SetEntropy(sum[:10])
	return "P-" + id.String()
}

// withFile returns b with the content of the writer's own file.
func (b Buffer) withFile(file []byte) (Buffer, error) {
	var own Buffer
	if err := own.ReadProposals(file); err != nil {
		return b, err
	}
	for _, p := range b.Proposals {
		if _, ok := own.ByID(p.ID); !ok {
			own.Proposals = append(own.Proposals, p)
		}
	}
	for _, d := range b.Dispositions {
		own.keepEarlier(d)
	}
	slices.SortStableFunc(own.Proposals, compareProposals)
	return own, nil
}

// AppendAll appends at most room proposals, gravest first, and returns those it appended. A
// proposal whose key is open takes no room. It drops the rest, but never the first
// emergency, which stops the drain.
func (b Buffer) AppendAll(file []byte, ps []Proposal, room int) ([]byte, []Proposal, error) {
	sorted := slices.Clone(ps)
	slices.SortStableFunc(sorted, compareProposals)
	alarm := b.Emergency() != ""
	var done []Proposal
	for _, p := range sorted {
		first := p.Severity == EmergencySeverity && !alarm
		if len(done) >= room && !first {
			continue
		}
		next, p, ok, err := b.appendProposal(file, p)
		if err != nil {
			return nil, nil, fmt.Errorf("proposal %q: %w", p.Key, err)
		}
		if ok {
			alarm = alarm || first
			done, file = append(done, p), next
		}
	}
	return file, done, nil
}

// AppendDisposition returns the writer's file with d as its last line. A proposal that is
// unknown or has a disposition is an error.
func (b Buffer) AppendDisposition(file []byte, d Disposition) ([]byte, error) {
	all, err := b.withFile(file)
	if err != nil {
		return nil, err
	}
	d.TS, d.Reason = d.TS.UTC().Truncate(time.Second), cleanLine(d.Reason, maxReason)
	if _, ok := all.ByID(d.ID); !ok {
		return nil, fmt.Errorf("no proposal %s; odd gate proposals list --all names them", d.ID)
	}
	if old, ok := all.Dispositions[d.ID]; ok {
		return nil, fmt.Errorf("proposal %s was %s by %s at %s; what became of it is final", d.ID, old.Decision, old.By, old.TS.Format(time.RFC3339))
	}
	if err := d.checkDisposition(); err != nil {
		return nil, fmt.Errorf("proposal %s: %w", d.ID, err)
	}
	line, err := printLine(dispositionLine{"disposition", d})
	if err != nil {
		return nil, err
	}
	return slices.Concat(file, line), nil
}

// Unheard drops proposals that repeat an earlier one: with the same key, if that was answered, or
// with an open one of the same class, which is a key up to its "#". So a rejected sign stays
// quiet until it changes. A signal that may end a lease does not repeat what is open about
// another lease.
func (b Buffer) Unheard(ps []Proposal) []Proposal {
	answered, open := map[string]bool{}, map[[2]string]bool{}
	about := func(p Proposal) [2]string {
		if slices.Contains(leaseSignals(), signalName(p.Key)) {
			return [2]string{keyClass(p.Key), p.Lease}
		}
		return [2]string{keyClass(p.Key)}
	}
	for _, p := range b.Proposals {
		if _, disposed := b.Dispositions[p.ID]; disposed {
			answered[p.Key] = true
		} else {
			open[about(p)] = true
		}
	}
	var out []Proposal
	for _, p := range ps {
		if !answered[p.Key] && !open[about(p)] {
			out = append(out, p)
		}
	}
	return out
}

func keyClass(key string) string {
	c, _, _ := strings.Cut(key, "#")
	return c
}
