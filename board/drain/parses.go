package drain

import (
	"context"
	"slices"
	"time"

	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/persona/session/exec"
	"github.com/odd-cli/odd/reconcile/policy"
)

// Bounds of what parsers are asked: files of a change, and the time for each of them.
const (
	mostParsed = 100
	parseTime  = 20 * time.Second
)

// parseable reports a change with a file that a parser may be asked about.
func parseable(files []pipeline.Edit) bool {
	return slices.ContainsFunc(files, func(e pipeline.Edit) bool { return e.After != nil && len(pipeline.Parsers(e.Path)) > 0 })
}

// parse asks the parsers of this machine about the files of a change. A file that did
// not parse before either is passed over: it may be of another version of its language.
func (b Bench) parse(ctx context.Context, files []pipeline.Edit, as exec.Command) (out []policy.Finding) {
	asked := 0
	for _, e := range files {
		if e.After == nil || len(pipeline.Parsers(e.Path)) == 0 || pipeline.Markup(e.After) || asked == mostParsed {
			continue
		}
		asked++
		b.Say("checking: " + e.Path + " parses")
		f, bad := b.unreadable(ctx, e.Path, e.After, as)
		if bad && e.Before != nil {
			_, was := b.unreadable(ctx, e.Path, e.Before, as)
			bad = !was
		}
		if bad {
			out = append(out, f)
		}
	}
	return out
}

// unreadable is a finding where every parser of a file's language is there and refuses
// the source.
func (b Bench) unreadable(ctx context.Context, name string, src []byte, as exec.Command) (last policy.Finding, bad bool) {
	for _, argv := range pipeline.Parsers(name) {
		as.Argv, as.Input = argv, src
		ctx, cancel := context.WithTimeout(ctx, parseTime)
		r := exec.Run(ctx, as)
		cancel()
		if !r.Done || r.Exit == 0 {
			return policy.Finding{}, false
		}
		if last, bad = pipeline.Unreadable(name, r.Output); !bad {
			return policy.Finding{}, false
		}
	}
	return last, bad
}
