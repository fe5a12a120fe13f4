package gate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The files that an act writes, below the bundle root.
const (
	LeasePath     = "governance/lease.toml"
	GatesPath     = "governance/gates.jsonl"
	DecisionsPath = "governance/decisions.jsonl"
)

// Cooldown is how many gate acts and drained tasks must lie between two emergencies.
const Cooldown = 3

// Slow is governance at one commit, from which an act starts.
type Slow struct {
	LeaseFile []byte // nil: none
	Gates     []byte
	Decisions []byte
	Buffer    Buffer
}

// Act is what a person does at a gate.
type Act struct {
	Gate     Gate
	Kind     string            // frame, draft, activate, renew, revise, enter, expire, release, acknowledge, suspend; "" for the gate's usual one
	To       Stance            // "" takes the gate's default
	Lease    *Lease            // the draft or revision, if the act writes one
	Extend   time.Duration     // for activate and renew: from now; 0 keeps the length of the draft or of the last term
	Locks    map[string]string // for activate and renew: the work orders to lock; nil keeps the lease's
	Decision *Decision
	Because  []string // proposals it accepts
	Findings []string // it acknowledges
	Reason   string   // if it is empty and may be, the act's own words
	By       string   // human:ADDRESS
	Now      time.Time
	Drained  int // tasks drained since the last emergency, from the ledger
}

// Outcome is what an act writes, by path below the bundle root, and the row it appended.
type Outcome struct {
	Files      map[string][]byte
	Row        Row
	Lease      File     // zero for none
	Diff       []Change // of the lease, field by field, for the person to read
	Asks       string   // the renewal prompt that the person must answer, if any
	Decision   Decision // as written; zero for none
	Lapsed     []string // open proposals whose time has passed
	Superseded []string // open proposals about a lease that ended here, except those that the act answers
}

// Refusal is one reason against an act, and the way out.
type Refusal struct{ Code, Text, Way string }

// Refusals is every reason against an act.
type Refusals []Refusal

// Error returns one reason a line.
func (r Refusals) Error() string {
	lines := make([]string, len(r))
	for i, one := range r {
		lines[i] = one.Text
		if one.Way != "" {
			lines[i] += "; " + one.Way
		}
	}
	return strings.Join(lines, "\n")
}

// Refused returns the first reason's code: memory, person, act, transition, state, draft,
// lease, longer, time_expired, execution, writes, decision, proposal, reason, cooldown or
// clock.
func (r Refusals) Refused() string {
	if len(r) == 0 {
		return ""
	}
	return r[0].Code
}

// pendingAct is an act while Do judges it.
type pendingAct struct {
	Act
	slow      Slow
	chain     Chain
	before    File // zero: no lease
	after     File
	decisions []byte
	decided   Decision
	no        Refusals
}

// Do judges the act by the transition table, the write matrix and the lease's own rules, and
// returns what it writes. The error is a Refusals with every reason against the act.
func Do(s Slow, a Act) (Outcome, error) {
	a.Now = a.Now.UTC().Truncate(time.Second)
	d := &pendingAct{Act: a, slow: s}
	if d.readMemory(); len(d.no) > 0 {
		return Outcome{}, d.no
	}
	d.checkPerson()
	if d.resolveAct() {
		d.checkStance()
		d.buildLease()
		d.addDecision()
		d.checkCooldown()
	}
	d.checkAnswered()
	if len(d.no) > 0 {
		return Outcome{}, d.no
	}
	return d.writeOutcome()
}

func (d *pendingAct) refuse(code, way, format string, args ...any) {
	d.no = append(d.no, Refusal{code, fmt.Sprintf(format, args...), way})
}

// readMemory reads the files of governance, which must agree with each other.
func (d *pendingAct) readMemory() {
	var err error
	if d.chain, err = ReadChain(d.slow.Gates); err != nil {
		d.refuse("memory", "", "%s: %v", GatesPath, err)
	}
	if _, err := ReadDecisions(d.slow.Decisions); err != nil {
		d.refuse("memory", "", "%s: %v", DecisionsPath, err)
	}
	if d.slow.LeaseFile != nil {
		if d.before, err = ParseLease(LeasePath, d.slow.LeaseFile); err != nil {
			d.refuse("memory", wayRestore+"; odd drain pause stops all work meanwhile", "%v", err)
		}
	}
	if len(d.no) > 0 {
		return
	}
	id, state := d.chain.Lease()
	last, _ := d.chain.Last(id)
	switch {
	case d.slow.LeaseFile == nil && id != "":
		d.refuse("memory", wayRestore, "%s: the file is missing, and %s is %s", LeasePath, id, state)
	case d.slow.LeaseFile != nil && (id != d.before.Lease.ID || last.LeaseSum != Sum(d.slow.LeaseFile)):
		d.refuse("memory", wayRestore, "%s: was changed after the last gate", LeasePath)
	case d.slow.LeaseFile != nil && (d.before.Stance != d.chain.Stance() || d.before.Lease.State != state):
		d.refuse("memory", wayRestore, "%s: says %s and %s, the last gate says %s and %s", LeasePath, d.before.Stance, d.before.Lease.State, d.chain.Stance(), state)
	}
}

func (d *pendingAct) checkPerson() {
	if !isPerson(d.By) {
		d.refuse("person", "only a person can run it", "%s gate: %q is not a person (human:ADDRESS)", d.Gate, d.By)
	}
	if last, ok := d.chain.End(); ok && d.Now.Before(last.TS.Add(-skew)) {
		d.refuse("clock", "correct the clock of this machine", "%s gate: the clock says %s, which is before the last gate at %s", d.Gate, formatTime(d.Now), formatTime(last.TS))
	}
	d.Reason = strings.Join(strings.Fields(d.Reason), " ")
	if !oneLine(d.Reason) || len(d.Reason) > 500 {
		d.refuse("reason", "give --reason one line of at most 500 bytes", "%s gate: the reason is %d bytes long or has invisible characters", d.Gate, len(d.Reason))
	}
}

// resolveAct sets the default act if none is named, and refuses one that the gate does not
// have.
func (d *pendingAct) resolveAct() bool {
	_, state := d.chain.Lease()
	if d.Kind == "" {
		d.Kind = d.Gate.defaultAct(state, d.Act.Lease != nil)
	}
	if !slices.Contains(acts[d.Gate], d.Kind) {
		way := didYouMean(string(d.Gate), toStrings(Gates()))
		if len(acts[d.Gate]) > 0 {
			way = "it has: " + strings.Join(acts[d.Gate], ", ")
		}
		d.refuse("act", way, "%s gate: cannot do %q", d.Gate, d.Kind)
		return false
	}
	if needsReason(d.Kind) && d.Reason == "" {
		d.refuse("reason", "say why: --reason \"WHY\"", "%s: the reason is missing", d.Kind)
	}
	return true
}

// defaultAct returns the act of a gate if the person names none.
func (g Gate) defaultAct(s State, drafted bool) string {
	switch {
	case g == Framing && drafted:
		return "draft"
	case g == Commitment && s == Draft:
		return "activate"
	}
	return map[Gate]string{Framing: "frame", Commitment: "enter", EvaluationGate: "enter", Emergency: "suspend"}[g]
}

// needsReason reports an act that ends or changes a commitment.
func needsReason(act string) bool {
	return slices.Contains([]string{"revise", "expire", "release", "suspend", Acknowledge}, act)
}

func (d *pendingAct) checkStance() {
	to, err := nextStance(d.chain.Stance(), d.Gate, d.Kind, d.To)
	if err != nil {
		d.refuse("transition", "", "%v", err)
		return
	}
	d.To = to
}

func (d *pendingAct) buildLease() {
	id, state := d.chain.Lease()
	to, ok := stateAfter(state, d.Kind)
	if !ok {
		d.refuse("state", wayFrom(state), "%s: the lease %s", d.Kind, strings.TrimSpace(id+" is "+string(state)))
		return
	}
	d.after = d.before
	build := map[string]func(){"draft": d.draftLease, "activate": d.activateLease, "renew": d.renewLease, "revise": d.reviseLease}[d.Kind]
	switch {
	case build != nil:
		build()
	case d.Act.Lease != nil:
		d.refuse("writes", "", "%s: takes no lease file", d.Kind)
	}
	if d.Act.Lease != nil && (d.Kind == "activate" || d.Kind == "renew") {
		d.refuse("writes", "change the draft with odd gate lease edit, or an active lease with odd gate evaluation --revise FILE", "%s: takes the lease as it is", d.Kind)
	}
	if d.Kind != "activate" && d.Kind != "renew" && (d.Extend != 0 || d.Locks != nil) {
		d.refuse("writes", "give them to odd gate commitment", "%s: does not take --extend or --lock", d.Kind)
	}
	if d.after.Lease.ID == "" {
		if d.To == Execution {
			d.refuse("execution", wayFrom(None), "%s: the stance execution needs an active lease", d.Kind)
		}
		return
	}
	d.after.Version, d.after.Stance, d.after.Lease.State = 1, d.To, to
	d.checkLease()
}

func wayFrom(s State) string {
	return map[State]string{
		None: "draft one with odd gate framing", Draft: "activate it with odd gate commitment",
		Active: "prolong it with odd gate commitment --renew, change it with odd gate evaluation --revise FILE, or end it with odd gate evaluation --release", Expired: "draft the next with odd gate framing",
		Released:  "draft the next with odd gate framing",
		Suspended: "draft it again with odd gate framing, or end it with odd gate evaluation --release",
	}[s]
}

func (d *pendingAct) draftLease() {
	switch {
	case d.Act.Lease != nil:
		d.after.Lease = *d.Act.Lease
	case isFinal(d.before.Lease.State) || d.before.Lease.ID == "":
		d.refuse("draft", "name one with --draft FILE", "draft: there is no lease to draft from")
		return
	}
	want := d.chain.NextLease()
	if got := d.after.Lease.ID; got != "" && got != want && d.Act.Lease != nil {
		d.refuse("lease", "leave the id out", "draft: the lease has the id %s, want %s", got, want)
	}
	d.after.Lease.ID, d.after.Lease.ActivatedAt = want, time.Time{}
}

func (d *pendingAct) activateLease() {
	d.setTerm(d.before.Lease.ExpiresAt.Sub(d.Now))
}

func (d *pendingAct) renewLease() {
	d.setTerm(d.before.Lease.ExpiresAt.Sub(d.before.Lease.ActivatedAt))
}

// setTerm starts the lease's time now, for as long as the person says or, by default, for
// usual.
func (d *pendingAct) setTerm(usual time.Duration) {
	l := &d.after.Lease
	l.ActivatedAt, l.ExpiresAt = d.Now, d.Now.Add(cmp.Or(d.Extend, usual)).Truncate(time.Second)
	if d.Locks != nil {
		l.Scope.WorkOrders = d.Locks
	}
	if d.Extend < 0 || !l.ExpiresAt.After(d.Now) {
		d.refuse("time_expired", "say how long it lasts, as --extend 3d", "%s: %s would end at %s, which is not in the future", d.Kind, l.ID, formatTime(l.ExpiresAt))
	}
}

func (d *pendingAct) reviseLease() {
	if d.Act.Lease == nil {
		d.refuse("draft", "name its file with --revise FILE", "revise: the new lease is missing")
		return
	}
	l, was := *d.Act.Lease, d.before.Lease
	l.ID, l.State = cmp.Or(l.ID, was.ID), was.State
	if l.ActivatedAt.IsZero() {
		l.ActivatedAt = was.ActivatedAt
	}
	if l.ExpiresAt.IsZero() {
		l.ExpiresAt = was.ExpiresAt
	}
	d.after.Lease = l
}

// checkLease checks what must hold for the lease after any act.
func (d *pendingAct) checkLease() {
	l := d.after.Lease
	for _, p := range d.after.checkFile() {
		if p.Field != "stance" { // the transition's own refusal
			d.refuse("lease", "", "%s: %s", d.Kind, p)
		}
	}
	if most := horizons[l.Horizon]; d.Kind == "draft" && most > 0 && l.ExpiresAt.Sub(d.Now) > most {
		d.refuse("lease", "", "draft: lease.expires_at: %s is more than %d days away, the limit of the horizon %q", formatTime(l.ExpiresAt), most/day, l.Horizon)
	}
	if d.Gate != "" && d.chain.isSuspended(l.ID) && l.ExpiresAt.After(d.before.Lease.ExpiresAt) {
		d.refuse("longer", "keep "+formatTime(d.before.Lease.ExpiresAt)+", or end it with odd gate evaluation --release and draft the next",
			"%s: %s was suspended by an emergency and may not last longer", d.Kind, l.ID)
	}
	if d.To == Execution && l.State != Active {
		d.refuse("execution", wayFrom(l.State), "%s: the stance execution needs an active lease, and %s is %s", d.Kind, l.ID, l.State)
	}
	if d.To == Execution && d.Kind == "enter" && !d.Now.Before(l.ExpiresAt) {
		d.refuse("time_expired", wayFrom(Active), "enter: %s ended at %s", l.ID, formatTime(l.ExpiresAt))
	}
	for _, f := range forbiddenFields(d.Kind, d.before, d.after) {
		d.refuse("writes", "the "+string(d.Gate)+" gate may not change that", "%s: changes %s", d.Kind, f)
	}
}

// addDecision appends the decision if the gate allows one.
func (d *pendingAct) addDecision() {
	if d.Decision == nil {
		if d.Gate == Emergency {
			d.refuse("decision", "give it with --decision, --rationale, --tradeoffs and --confidence", "suspend: an emergency needs a decision")
		}
		return
	}
	made := *d.Decision
	made.By, made.TS, made.Act = d.By, d.Now, d.chain.NextID()
	if why := mayDecide(d.Gate, d.Kind, made); why != "" {
		d.refuse("decision", "", "%s: %s", d.Kind, why)
	}
	var err error
	if d.decisions, d.decided, err = appendDecision(d.slow.Decisions, made); err != nil {
		d.refuse("decision", sayDecision, "%s: %v", d.Kind, err)
	}
}

func (d *pendingAct) checkCooldown() {
	r, rows, ok := d.chain.Emergency()
	if n := rows + max(d.Drained, 0); d.Gate == Emergency && ok && n < Cooldown {
		d.refuse("cooldown", "odd drain pause stops all work at any time", "suspend: only %d gates and tasks since the last emergency %s, want %d", n, r.ID, Cooldown)
	}
}

func (d *pendingAct) checkAnswered() {
	for i, id := range d.Because {
		_, exists := d.slow.Buffer.ByID(id)
		done, settled := d.slow.Buffer.Dispositions[id]
		switch {
		case !exists:
			d.refuse("proposal", "odd gate proposals list shows the open ones", "%s gate: there is no proposal %q", d.Gate, id)
		case settled:
			d.refuse("proposal", "", "%s gate: proposal %s is %s already", d.Gate, id, done.Decision)
		case slices.Contains(d.Because[:i], id):
			d.refuse("proposal", "", "%s gate: proposal %s is named twice", d.Gate, id)
		}
	}
}

func (d *pendingAct) writeOutcome() (Outcome, error) {
	out := Outcome{Files: map[string][]byte{}, Lease: d.after, Diff: diffLeases(d.before, d.after), Decision: d.decided}
	id := d.after.Lease.ID
	row := Row{
		TS: d.Now, Gate: d.Gate, From: d.chain.Stance(), To: d.To, Act: d.Kind, Lease: id, By: d.By,
		Reason: cmp.Or(d.Reason, strings.TrimSpace(d.Kind+" "+id)), Proposals: slices.Clone(d.Because), Findings: slices.Clone(d.Findings),
	}
	if id != "" {
		b := PrintLease(d.after)
		row.LeaseSum = Sum(b)
		out.Files[LeasePath] = b
	}
	if d.Kind == "activate" || d.Kind == "renew" {
		out.Asks = d.after.Lease.RenewalPrompt
	}
	if d.decisions != nil {
		out.Files[DecisionsPath] = d.decisions
	}
	var err error
	if out.Files[GatesPath], out.Row, err = Append(d.slow.Gates, row); err != nil {
		return Outcome{}, Refusals{{"memory", fmt.Sprintf("%s: %v", GatesPath, err), ""}}
	}
	if d.Gate != Emergency {
		out.Lapsed = d.slow.Buffer.findLapsed(d.Now, d.Because)
	}
	if isFinal(d.after.Lease.State) && !isFinal(d.before.Lease.State) && id != "" {
		for _, p := range d.slow.Buffer.Open() {
			if p.Lease == id && !slices.Contains(d.Because, p.ID) && !slices.Contains(out.Lapsed, p.ID) {
				out.Superseded = append(out.Superseded, p.ID)
			}
		}
	}
	return out, nil
}
