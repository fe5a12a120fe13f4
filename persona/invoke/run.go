package invoke

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/surface"
)

// The failures that a contract adds to those of package session. What a surface
// fails keeps the surface's name.
const (
	Unread           = "unread"            // the stream that is watched could not be read on
	Untold           = "untold"            // what was said of it could not be told
	TooLong          = "too-long"          // over the surface's cap after every try
	Yielded          = "yielded"           // asked a question that nobody answers; Detail is the question
	ReadOnly         = "read-only"         // atoms or a change from a role that changes nothing
	Certifies        = "certifies"         // findings from who may not judge its own work
	WrongDeliverable = "wrong-deliverable" // one that is not the role's; a surface's name too
	OutsideFindings  = "outside-findings"  // an atom that no remedy names; a surface's name too
)

// The most rounds of one dialogue, and how often an over-long emission is sent back, whatever the limits say.
const (
	maxRounds  = 50
	maxReturns = 2
)

// Session is one bounded run under a contract. Its Request holds the limits of
// the whole: every try and every turn of a dialogue counts against the same
// turns, money and time.
type Session struct {
	Contract  contract.Contract
	Brief     Brief
	Request   session.Request // its Brief, Role and After are set by Run; its Try is how many calls came before
	Substrate session.Substrate
	Prove     func([]session.Payload) Answered            // takes an answer's octave blocks to the anchor; nil: the session is bound, or never will be
	Reply     func(context.Context, Turn) (string, error) // a person's turn under the engagement assistant; nil ends the session as Yielded
	Watch     *Watch                                      // the stream that is watched; nil: none
}

// Result is what a session came to. Emission is cleaned by the surface, its
// Usage is the sum over all tries, and its Raw is the last try's; what was said
// before is in its Transcript.
type Result struct {
	Emission session.Emission
	Verdict  surface.Verdict
	Briefs   []Brief // one a try: the first, then those that sent it back or answered it
}

// Run runs the session, holds what it emits to its contract, has its output
// judged by the surface, sends an over-long emission back for a shorter one and
// leads a dialogue. Whatever fails is a named failure of the emission, and
// nothing of it is kept but Proposals, Raw and Transcript. The error is a fault of odd's own.
//
// A strict contract's session sees the files and the graph through View, and is
// answered by nobody: a person's words are context it must not have.
func Run(ctx context.Context, s Session) (Result, error) {
	if s.Request.Timeout > 0 { // of the whole; package session bounds each try as well
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.Request.Timeout)
		defer cancel()
	}
	r, err := newRun(s)
	if err != nil {
		return Result{}, err
	}
	if r.Watch != nil {
		if end, over := r.nextBatch(ctx); over {
			end.Usage = r.budget.usage
			return Result{Emission: end}, nil
		}
	}
	for {
		e, err := r.runOnce(ctx)
		if err != nil {
			return Result{}, err
		}
		if end, done := r.weighTry(ctx, e); done {
			return r.sumResult(e, end), nil
		}
	}
}

// newRun is a session about to be run, if its contract lets it be.
func newRun(s Session) (*run, error) {
	r := &run{Session: s, brief: s.Brief, budget: budget{turns: s.Request.MaxTurns, cost: s.Request.MaxCost}}
	r.budget.usage.CostKnown, r.seen = true, true
	if r.Watch != nil && (r.Contract.Mutates || r.Contract.Strict) {
		return nil, fmt.Errorf("a session as %s watches nothing: only one that may read and changes nothing does", r.Contract.Role)
	}
	return r, r.hideFromStrict()
}

// weighTry returns what a try comes to, in turn before the anchor, the contract and the
// stream that is watched: done with its end, or on with the next try.
func (r *run) weighTry(ctx context.Context, e session.Emission) (end session.Emission, done bool) {
	end, done, bound := r.proveSession(e)
	if !bound {
		return end, done
	}
	if end, done = r.judgeTry(ctx, e); done && r.Watch != nil {
		return r.remarkBatch(ctx, r.stripMarks(end))
	}
	return end, done
}

// sumResult returns the session as a whole: its end, what all tries cost, did and proposed,
// and what the last one, e, said.
func (r *run) sumResult(e, end session.Emission) Result {
	if end = r.stripMarks(end); end.Outcome != session.Completed {
		end.Atoms, end.Deliverable, end.Change = nil, nil, nil
	}
	end.Usage, end.Proposals = r.budget.usage, r.proposed
	end.Raw, end.Transcript = e.Raw, r.fullTranscript(e)
	end.Thread, end.Seen, end.Calls, end.Exploration = e.Thread, r.seen, r.calls, e.Exploration
	return Result{Emission: redactEmission(end), Verdict: r.verdict, Briefs: r.briefs}
}

// Hold holds an emission that was kept to the contract it was made under, without
// a session: what its role may not emit fails by name, and a persona's marks are
// taken out of what code reads, as Run did it. Bundle is the bundle's folder.
func Hold(c contract.Contract, bundle string, e session.Emission) session.Emission {
	r := &run{Session: Session{Contract: c, Request: session.Request{BundleRoot: bundle}}}
	if c.Role == "" || e.Outcome != session.Completed {
		return e
	}
	if name, detail := r.brokenRule(e); name != "" {
		return session.Fail(name, detail)
	}
	return r.stripMarks(e)
}

// stripMarks returns e without a persona's marks where code will read it.
func (r *run) stripMarks(e session.Emission) session.Emission {
	if r.Contract.Role == "" {
		return e
	}
	next, changes, err := cleanEmission(r.Contract, e)
	if err != nil {
		return session.Fail(session.Malformed, err.Error())
	}
	r.verdict.Changes = append(r.verdict.Changes, changes...)
	return next
}

// run is a session under way.
type run struct {
	Session
	brief    Brief
	briefs   []Brief
	budget   budget
	verdict  surface.Verdict
	said     []deliver.Say // in the turns that went on
	open     []deliver.Say // of those, what no person has heard yet
	proposed []session.Proposal
	earlier  [][]byte // Raw and transcript of every try but the last
	last     session.Emission
	seen     bool           // every try was
	calls    []session.Call // of all tries
	dialogue strings.Builder
	rounds   int
	returned int      // how often an emission was sent back
	bound    bool     // by Prove
	watch    *watched // nil before the first batch
}

// hideFromStrict narrows what a strict contract's substrate can reach. A checkout would
// show it all that its brief leaves out, so it has no desk.
func (r *run) hideFromStrict() error {
	q := &r.Request
	q.Role = string(r.Contract.Role)
	if h := r.Contract.Handoffs; len(h) > 0 {
		q.After = string(h[0].From)
	}
	if !r.Contract.Strict {
		return nil
	}
	q.Inputs, q.Desk, q.History, q.Explored, q.Given, q.Checks, q.Ask = nil, nil, nil, nil, nil, nil, nil
	if q.Files == nil {
		q.Graph = nil
		return nil
	}
	q.Files = View(r.Contract, q.Files, q.BundleRoot)
	bundle, err := fs.Sub(q.Files, orDot(q.BundleRoot))
	if err == nil {
		q.Graph, _, err = okf.Load(bundle)
	}
	if err != nil {
		return fmt.Errorf("%s, as the session may see it: %w", q.BundleRoot, err)
	}
	return nil
}

func orDot(dir string) string { return cmp.Or(dir, ".") }

// runOnce runs the substrate once, within what is left of the whole session's limits.
func (r *run) runOnce(ctx context.Context) (session.Emission, error) {
	if r.briefs != nil {
		r.earlier = append(r.earlier, textOf(r.last))
	}
	r.briefs = append(r.briefs, r.brief)
	q := r.Request
	q.Brief, q.Try = r.brief.Text, r.Request.Try+len(r.briefs)
	q.Thread, q.Contract = cmp.Or(r.last.Thread, q.Thread), r.Contract
	q.Explored = append(slices.Clip(q.Explored), r.calls...)
	r.budget.boundRequest(&q)
	e, err := session.Run(ctx, r.Substrate, q)
	r.budget.addUsage(e.Usage)
	r.last, r.seen, r.calls = e, r.seen && e.Seen, append(r.calls, e.Calls...)
	for _, p := range e.Proposals { // whatever becomes of the rest
		if !slices.Contains(r.proposed, p) {
			r.proposed = append(r.proposed, p)
		}
	}
	return e, err
}

// judgeTry decides over one try: done with its emission, or on with the next.
func (r *run) judgeTry(ctx context.Context, e session.Emission) (end session.Emission, done bool) {
	if r.Contract.Role == "" {
		return e, true
	}
	open := e.Failure == session.Silent && len(e.Says) > 0
	if e.Outcome != session.Completed && !open {
		return e, true
	}
	c := r.remainingContract(e)
	out, v := surface.Judge(c, surface.Output{Says: e.Says, Deliverable: e.Deliverable})
	r.verdict = v
	turns := c.Engagement == contract.Assistant && (v.Turn == session.Holding || v.Turn == session.Yielding)
	switch name, detail := r.brokenRule(e); {
	case name != "":
		return session.Fail(name, detail), true
	case open && !turns && v.Failure != "clarifying-question":
		return e, true // silent, and no turn of a dialogue
	case v.Failure != "":
		return session.Fail(v.Failure, v.Detail), true
	case len(v.Excess) > 0:
		return r.sendBack(v.Excess)
	case turns:
		return r.continueDialogue(ctx, out.Says, v.Turn)
	}
	e.Says, e.Deliverable = append(r.said, out.Says...), out.Deliverable
	return e, true
}

// remainingContract returns the contract as far as it is still open to e.
func (r *run) remainingContract(e session.Emission) contract.Contract {
	c := r.Contract
	switch {
	case r.Watch != nil: // which counts by channel
		c.Surface.MaxEmissions = 0
	case c.Surface.MaxEmissions > 0: // of the whole dialogue
		c.Surface.MaxEmissions -= len(r.said)
	}
	if r.saysNothing(e) {
		c.Deliverable, c.Surface.Structured = "", false
	}
	return c
}

// sendBack sends an over-long emission back, as long as tries and limits last.
func (r *run) sendBack(over []surface.Excess) (session.Emission, bool) {
	var b strings.Builder
	for _, x := range over {
		fmt.Fprintf(&b, "- %s: about %d tokens, at most %d (an estimate: bytes/4)\n", x.At, x.Estimate, x.Cap)
	}
	why := r.budget.whyExhausted()
	if r.returned++; r.returned > maxReturns {
		why = "it was sent back as often as may be"
	}
	if why != "" {
		return session.Fail(TooLong, why+"\n"+strings.TrimSpace(b.String())), true
	}
	r.brief = r.brief.withPart("again", "Your last emission was too long for its surface. Emit the whole again, shorter where it says so:\n"+b.String(), capAgain)
	return session.Emission{}, false
}

// continueDialogue goes on with a dialogue: a session that holds speaks on, one that yields
// is answered by a person.
func (r *run) continueDialogue(ctx context.Context, says []deliver.Say, marker string) (session.Emission, bool) {
	question := ""
	for _, s := range says {
		r.addDialogue("you, "+oneLine(s.Kind), s.Text)
		question = s.Text
	}
	r.open = append(r.open, says...)
	r.rounds++
	why := r.budget.whyExhausted()
	if limit := r.Contract.Surface.MaxEmissions; limit > 0 && len(r.said)+len(says) >= limit {
		why = fmt.Sprintf("the surface takes %d emissions, and all are used", limit)
	}
	switch {
	case r.rounds > maxRounds:
		why = fmt.Sprintf("a dialogue of more than %d rounds", maxRounds)
	case why == "" && marker == session.Yielding:
		var reply string
		if reply, why = r.askPerson(ctx); why == "" {
			r.addDialogue("a person", reply)
		} else if over := session.Interruption(ctx); over != "" {
			return session.Fail(over, "while a question waited for its answer: "+question), true
		}
	}
	switch {
	case why != "" && marker == session.Yielding:
		return session.Fail(Yielded, strings.TrimSpace(question+"\n"+why)), true
	case why != "":
		return session.Fail(session.TurnRefused, why), true
	}
	r.said = append(r.said, says...)
	r.brief = r.brief.withPart("dialogue", r.dialogue.String(), capDialogue)
	return session.Emission{}, false
}

// askPerson takes a person's answer; why says that there is none.
func (r *run) askPerson(ctx context.Context) (reply, why string) {
	switch {
	case r.Contract.Strict:
		return "", "a session with a fresh context is not answered: encode what it lacks in its handoff"
	case r.Reply == nil:
		return "", "nobody is here to answer"
	}
	reply, err := r.Reply(ctx, Turn{Who: Speaker(r.Contract), Said: scrubSays(r.open), Usage: r.budget.usage, Used: r.budget.usedTurns(), Turns: r.budget.turns, Cost: r.budget.cost})
	r.open = nil
	switch {
	case err != nil:
		return "", err.Error()
	case strings.TrimSpace(reply) == "":
		return "", "the answer was empty"
	}
	return reply, ""
}

// addDialogue adds to the dialogue, each voice in a fence of its own.
func (r *run) addDialogue(who, text string) {
	block, _ := fenceText(who, []byte(strings.ToValidUTF8(text, "\uFFFD")), capDialogue)
	r.dialogue.WriteString(block)
}

// fullTranscript is everything said before the last try, then its transcript, and the
// dialogue as it went.
func (r *run) fullTranscript(e session.Emission) []byte {
	var out []byte
	for i, b := range r.earlier {
		out = fmt.Appendf(out, "== try %d\n%s\n", i+1, b)
	}
	if out != nil || len(e.Transcript) > 0 {
		out = append(out, e.Transcript...)
	}
	if r.dialogue.Len() > 0 {
		out = fmt.Appendf(out, "== dialogue\n%s", r.dialogue.String())
	}
	return out
}

func textOf(e session.Emission) []byte {
	return append(append([]byte{}, e.Raw...), e.Transcript...)
}

// withPart is b with one more part before the form of the answer, in place of an
// earlier one of that name.
func (b Brief) withPart(name, text string, limit int) Brief {
	next := Brief{title: b.title}
	for _, p := range b.withoutPart(name).Manifest {
		if p.Name == "emission" {
			next.addPart(name, text, limit)
		}
		next.Manifest = append(next.Manifest, p)
	}
	return next.withText()
}

// withoutPart is b without the part of that name.
func (b Brief) withoutPart(name string) Brief {
	return Brief{title: b.title, Manifest: slices.DeleteFunc(slices.Clone(b.Manifest), func(p Part) bool { return p.Name == name })}
}
