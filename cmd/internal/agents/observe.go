package agents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board/drain"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/layout"
	"github.com/odd-cli/odd/cmd/internal/runs"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/invoke"
	"github.com/odd-cli/odd/persona/stream"
	"github.com/odd-cli/odd/reconcile/secrets"
)

func observeVerb(env console.Env) *cli.Command {
	return verb.New("observe", "run a read-only agent that comments on a stream of events",
		"odd agent observe --source deploys.jsonl\n"+
			"tail -f deploys.jsonl | odd agent observe --source - --backpressure summarise\n\n"+
			"Events are JSON objects, one a line; the key \"channel\" names the channel of an\n"+
			"event. odd prints each comment at once: channel, line numbers of the events,\n"+
			"text. Each batch of events is one turn of the agent, limited by [session]\n"+
			"max_turns, max_usd and timeout. Drains run meanwhile. It ends with the stream,\n"+
			"or with Ctrl-C.",
		verb.Do(env, runObserve),
		&cli.StringFlag{Name: "source", Usage: "read events from `FILE`, - for stdin"},
		&cli.StringFlag{Name: "backpressure", Usage: "if events come too fast, `POLICY`: drop-oldest, summarise (drop them and tell the agent how many) or queue=N (let the source wait; default for a file: queue=1024)"},
		verb.ProfileFlag(),
		verb.RoleFlag(),
		verb.SurfaceFlag(string(contract.RealTimeStream)),
		verb.VoiceFlag(),
		&cli.StringFlag{Name: "task", Usage: "tell the agent to look for `TEXT`"},
		&cli.BoolFlag{Name: "dry-run", Usage: "print the rules of the session; read, start and write nothing"})
}

// policyFor reads the policy. A file waits by itself; of what does not, a
// person says what is to become.
func policyFor(s feed, text string) (stream.Policy, error) {
	switch {
	case text == "" && s.isWhole():
		return stream.Policy{Name: stream.Queue, Max: stream.Waiting}, nil
	case text == "":
		return stream.Policy{}, verb.Usage("agent observe: a live source needs --backpressure: drop-oldest, summarise (as that, and tells the session what it missed) or queue=N (the source waits)")
	}
	p, err := stream.ParsePolicy(text)
	if err != nil {
		return p, verb.Usage("agent observe: --backpressure %v", err)
	}
	return p, nil
}

func runObserve(c *cli.Context, env console.Env) error {
	ctx, from := c.Context, feed(c.String("source"))
	if strings.TrimSpace(string(from)) == "" {
		return verb.Usage("agent observe: --source is needed: a file, or - for stdin")
	}
	policy, err := policyFor(from, c.String("backpressure"))
	if err != nil {
		return err
	}
	if env.Getenv("ODD_RUN") != "" {
		return verb.Refuse("in-session", "observe: a session does not spawn another; hand over instead")
	}
	w, opts, p, err := runs.Open(ctx, env)
	if err != nil {
		return err
	}
	opts.Invoked, opts.Call = true, contract.Call{
		Persona: c.String("persona"), WorkRole: c.String("role"), Role: contract.Observer, Surface: contract.Surface(c.String("surface")),
		Engagement: contract.Agent, Voice: contract.Voice(c.String("voice")),
	}
	inv := drain.Invocation{Title: cmp.Or(console.OneLine(c.String("task")), "Watch "+string(from))}
	if c.Bool("dry-run") {
		made, err := drain.Resolve(ctx, w.Repo, opts, inv)
		return printContract(env, made, err, false, c.Bool("json"))
	}
	in, err := from.openSource(env)
	if err != nil {
		return err
	}
	defer in.Close()
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // a reader that left ends the session, not odd in the middle of it
	t := &remarkPrinter{env: env, json: c.Bool("json"), progress: p}
	after := env.After // by which a batch goes out before it is full
	if from.isWhole() {
		after = nil // its end is near
	}
	s := stream.New(policy, after)
	begin := sync.OnceFunc(func() { go s.Read(ctx, in) })
	opts.Watch = &invoke.Watch{Heard: t.printRemark, Next: func(ctx context.Context) (stream.Events, error) {
		begin()
		return s.Next(ctx)
	}}
	report, err := drain.Invoke(ctx, w.Repo, opts, inv)
	p.ClearLine()
	return t.tellEnd(ctx, from, report, err, s)
}

func (t *remarkPrinter) tellEnd(ctx context.Context, from feed, r drain.Report, err error, s *stream.Stream) error {
	env := t.env
	if err != nil && len(r.Said) == 0 {
		return err
	}
	for _, bad := range s.Malformed() {
		console.Talk(env, "%s: %s", from, okf.Visible(bad))
	}
	c := s.Counters()
	console.Talk(env, "read %d, malformed %d, dropped %d, summarised %d, delivered %d, waiting %d; emitted %d, muted %d; $%s",
		c.Read, c.Malformed, c.Dropped, c.Summarised, c.Delivered, c.Waiting, t.emitted, t.muted, r.Spent)
	end := endRow{Run: r.Run, Counters: c, Emitted: t.emitted, Muted: t.muted, Outcome: "interrupted"}
	for _, said := range r.Said {
		end.Outcome, end.Reason, end.Cost = said.Outcome, said.Reason, int64(said.Cost)
		if said.Reason != "" && err == nil {
			console.Talk(env, "%s", okf.Visible(strings.TrimSpace(said.Reason)))
		}
	}
	if t.json && !t.left {
		if bad := t.writeLast(ctx, fmt.Sprintf("%s\n", console.JSONLine(end))); err == nil && bad != nil {
			err = bad
		}
	}
	if err != nil {
		return err
	}
	return sessionsExit(r)
}

// endRow is the last line of observe --json.
type endRow struct {
	Run     string `json:"run"`
	Outcome string `json:"outcome"`
	Reason  string `json:"reason,omitempty"`
	stream.Counters
	Emitted int   `json:"emitted"`
	Muted   int   `json:"muted"` // over the surface's emissions for a channel
	Cost    int64 `json:"cost_micro_usd"`
}

// feed is where a stream comes from: a file, or "-" for stdin.
type feed string

// isWhole reports a source that is there whole and can be read at leisure.
func (s feed) isWhole() bool { return s != "-" }

func (s feed) openSource(env console.Env) (io.ReadCloser, error) {
	if !s.isWhole() {
		return io.NopCloser(env.Stdin), nil
	}
	f, err := os.Open(env.AbsPath(string(s)))
	if program, is := strings.CutPrefix(string(s), "cmd "); err != nil && is {
		return nil, verb.Usage("agent observe: odd starts no program to read from; write %s | odd agent observe --source -", program)
	}
	if err != nil {
		return nil, err
	}
	if st, err := f.Stat(); err == nil && st.IsDir() {
		f.Close()
		return nil, verb.Usage("agent observe: --source %s is a folder; name a file", s)
	}
	return f, nil
}

// remarkPrinter prints what an observer says. A reader who has stopped reading holds the session, which takes no
// further turn, and not its end.
type remarkPrinter struct {
	env      console.Env
	json     bool
	progress *console.Progress
	emitted  int
	muted    int
	left     bool // nobody reads any more, or a write never came back
}

// sayRow is one emission as --json tells it, a line each.
type sayRow struct {
	Channel string `json:"channel"`
	First   int64  `json:"first"` // line of the stream it is about
	Last    int64  `json:"last"`
	Text    string `json:"text"`
}

// printRemark prints what was said of a batch and waits until it is written.
func (t *remarkPrinter) printRemark(ctx context.Context, m invoke.Remark) error {
	t.muted += m.Muted
	var b strings.Builder
	for _, text := range m.Texts {
		b.WriteString(t.remarkLine(sayRow{secrets.RedactText(m.Channel), m.First, m.Last, string(secrets.Redact([]byte(text)))}))
	}
	if b.Len() == 0 {
		return nil
	}
	t.progress.ClearLine()
	err := t.writeText(ctx, b.String())
	if errors.Is(err, syscall.EPIPE) {
		err = io.EOF
	}
	if err == nil {
		t.emitted += len(m.Texts)
	}
	return err
}

func (t *remarkPrinter) remarkLine(r sayRow) string {
	lines := fmt.Sprintf("%d-%d", r.First, r.Last)
	switch {
	case t.json:
		return console.JSONLine(r) + "\n"
	case t.env.Terminal:
		return fmt.Sprintf("%s %9s  %s\n", layout.Pad(console.Cell(r.Channel), 12), lines, console.Cell(r.Text))
	}
	return strings.Join([]string{console.Cell(r.Channel), lines, console.Cell(r.Text)}, "\t") + "\n"
}

// writeText writes a text, and waits for it no longer than ctx lasts.
func (t *remarkPrinter) writeText(ctx context.Context, s string) error {
	_, err := console.Await(ctx, func() (int, error) { return io.WriteString(t.env.Stdout, s) })
	t.left = err != nil
	return err
}

// writeLast writes a last text; a person who has interrupted waits a moment for it.
func (t *remarkPrinter) writeLast(ctx context.Context, s string) error {
	if ctx.Err() != nil && t.env.After != nil {
		next, cancel := context.WithCancel(context.Background())
		defer t.env.After(console.Patience, cancel)()
		defer cancel()
		ctx = next
	}
	return t.writeText(ctx, s)
}
