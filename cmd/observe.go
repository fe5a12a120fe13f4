package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board/drain"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/invoke"
	"github.com/odd-cli/odd/persona/stream"
)

func observeVerb(env Env) *cli.Command {
	return command(&cli.Command{
		Name:  "observe",
		Usage: "run a read-only agent that comments on a stream of events",
		Description: "odd agent observe --source deploys.jsonl\n" +
			"tail -f deploys.jsonl | odd agent observe --source - --backpressure summarise\n" +
			"odd agent observe --source 'cmd kubectl get events -o json --watch' \\\n" +
			"  --backpressure queue=500\n\n" +
			"Events are JSON objects, one a line; the key \"channel\" names the channel of an\n" +
			"event. odd prints each comment at once: channel, line numbers of the events,\n" +
			"text. Each batch of events is one turn of the agent, limited by [session]\n" +
			"max_turns, max_usd and timeout. Drains run meanwhile. It ends with the stream,\n" +
			"or with Ctrl-C.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "source", Usage: "read events from `FILE`, - for stdin, or 'cmd PROGRAM ARGS' for the output of a program, run without a shell"},
			&cli.StringFlag{Name: "backpressure", Usage: "if events come too fast, `POLICY`: drop-oldest, summarise (drop them and tell the agent how many) or queue=N (let the source wait; default for a file: queue=1024)"},
			profileFlag(),
			workRoleFlag(),
			surfaceFlag(string(contract.RealTimeStream)),
			voiceFlag(),
			&cli.StringFlag{Name: "task", Usage: "tell the agent to look for `TEXT`"},
			&cli.BoolFlag{Name: "dry-run", Usage: "print the rules of the session; read, start and write nothing"},
			jsonFlag(),
		},
		Action: func(c *cli.Context) error {
			if err := noArgs(c); err != nil {
				return err
			}
			from, err := feedNamed(c.String("source"))
			if err != nil {
				return err
			}
			policy, err := policyFor(from, c.String("backpressure"))
			if err != nil {
				return err
			}
			call := contract.Call{
				Persona: c.String("persona"), WorkRole: c.String("work-role"), Role: contract.Observer, Surface: contract.Surface(c.String("surface")),
				Engagement: contract.Agent, Voice: contract.Voice(c.String("voice")),
			}
			o := observation{source: from, policy: policy, invocation: invocation{call: call, task: c.String("task"), dry: c.Bool("dry-run"), json: c.Bool("json")}}
			return runObserve(c.Context, env, o)
		},
	})
}

type observation struct {
	invocation
	source feed // of events
	policy stream.Policy
}

// policyFor reads the policy. A file waits by itself; of what does not, a
// person says what is to become.
func policyFor(s feed, text string) (stream.Policy, error) {
	switch {
	case text == "" && s.isWhole():
		return stream.Policy{Name: stream.Queue, Max: stream.Waiting}, nil
	case text == "":
		return stream.Policy{}, usage("agent observe: a live source needs --backpressure: drop-oldest, summarise (as that, and tells the session what it missed) or queue=N (the source waits)")
	}
	p, err := stream.ParsePolicy(text)
	if err != nil {
		return p, usage("agent observe: --backpressure %v", err)
	}
	return p, nil
}

func runObserve(ctx context.Context, env Env, o observation) error {
	if env.Getenv("ODD_RUN") != "" {
		return refuse("in-session", "observe: a session does not spawn another; hand over instead")
	}
	w, err := openWorkspace(ctx, env)
	if err != nil {
		return err
	}
	opts, err := w.drainOptions()
	if err != nil {
		return err
	}
	opts.Call, opts.Invoked = o.call, true
	inv := drain.Invocation{Title: or(oneLine(o.task), "Watch "+o.source.sourceName())}
	if o.dry {
		c, err := drain.Resolve(ctx, w.repo, opts, inv)
		return printContract(env, c, err, o.invocation)
	}
	at, err := o.source.openSource(env)
	if err != nil {
		return err
	}
	defer at.Close()
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // a reader that left ends the session, not odd in the middle of it
	p := newProgress(env)
	t := newRemarkPrinter(env, o.json, p)
	s := stream.New(o.policy, o.source.batchClock(env))
	begin := sync.OnceFunc(func() { go s.Read(ctx, at.begin(ctx)) })
	opts.Progress = p.setLine
	opts.Watch = &invoke.Watch{Heard: t.printRemark, Next: func(ctx context.Context) (stream.Events, error) {
		begin()
		return s.Next(ctx)
	}}
	report, err := drain.Invoke(ctx, w.repo, opts, inv)
	p.clearLine()
	return o.tellEnd(ctx, env, report, err, s, t)
}

// tellEnd tells what became of the stream and of the session.
func (o observation) tellEnd(ctx context.Context, env Env, r drain.Report, err error, s *stream.Stream, t *remarkPrinter) error {
	var no contract.Refusals
	switch {
	case errors.As(err, &no):
		return tellRefusals(env, no)
	case err != nil && len(r.Said) == 0:
		return err
	}
	for _, bad := range s.Malformed() {
		talk(env, "%s: %s", o.source.sourceName(), okf.Visible(bad))
	}
	c := s.Counters()
	talk(env, "read %d, malformed %d, dropped %d, summarised %d, delivered %d, waiting %d; emitted %d, muted %d; $%s",
		c.Read, c.Malformed, c.Dropped, c.Summarised, c.Delivered, c.Waiting, t.emitted, t.muted, r.Spent)
	end := endRow{Run: r.Run, Counters: c, Emitted: t.emitted, Muted: t.muted, Outcome: "interrupted"}
	for _, said := range r.Said {
		end.Outcome, end.Reason, end.Cost = said.Outcome, said.Reason, int64(said.Cost)
		if said.Reason != "" && err == nil {
			talk(env, "%s", okf.Visible(strings.TrimSpace(said.Reason)))
		}
	}
	if o.json && !t.left {
		if bad := t.writeLast(ctx, fmt.Sprintf("%s\n", jsonLine(end))); err == nil && bad != nil {
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
