// Package risk reads what the change of an op is judged on, from a repository: who
// filed its task, what depends on what it touches, what lies beside it. The rules
// are those of packages pipeline, policy and lint; nothing is decided here.
//
// The same history and the same bytes give the same judgement, so that whoever
// runs odd check can make it again.
package risk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/journal/memory"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/reconcile/lint"
)

// riskPolicy is what odd.toml says about the risk of a change.
func riskPolicy(c config.Config) pipeline.Policy {
	p := c.Pipeline
	pol := pipeline.Policy{
		MinTier: pipeline.Tier(p.MinTier), Observe: p.Autonomy == "observe", Core: p.Core, Protected: p.Protected, Security: p.Security,
		MaxFiles: p.MaxFiles, Blast: p.Blast, MachineBlast: p.MachineBlast, Confidence: p.TestConfidence,
	}
	if p.Quiet != nil {
		pol.Quiet = &pipeline.Hours{From: p.Quiet.From, To: p.Quiet.To, Zone: p.Zone}
	}
	return pol
}

// Past is what the changes before teach under odd.toml at a moment: what ended within
// the window, of the ops that may have.
func Past(trials []memory.Trial, law config.Config, now time.Time) memory.Past {
	recent := slices.DeleteFunc(slices.Clone(trials), func(t memory.Trial) bool { return !pipeline.Recent(t.Op, now, law.ReviewTTL) })
	return memory.At(recent, now)
}

// Opaque reports a substrate of whose sessions odd does not see every act, before
// there is one: what a session says of itself then counts. Odd sees its own, and
// those whose every tool is odd's.
func Opaque(substrate string) bool {
	return !slices.Contains([]string{"extract", "anthropic", "openai"}, substrate)
}

// whoFiled tells from the history of a task's file who filed the task: a person only where
// no machine's commit brought it or changed its paths. A clone that does not have all of
// the history proves nothing.
func whoFiled(ctx context.Context, r *repo.Repo, tip repo.OID, file string) (pipeline.Filed, error) {
	if r.Shallow() {
		return pipeline.FiledByNobody, nil
	}
	brought, by := false, pipeline.FiledByPerson
	for c, err := range r.PathLog(ctx, tip, file) {
		if err != nil {
			return "", err
		}
		isNew, machine, err := readVersion(r, c, file)
		if err != nil {
			return "", fmt.Errorf("%s at %s: %w", file, c.OID, err)
		}
		if brought = brought || isNew; machine {
			by = pipeline.FiledByMachine
		}
	}
	if !brought {
		return pipeline.FiledByNobody, nil
	}
	return by, nil
}

// readVersion reports a commit that brings a task's file, and one of a machine that brings it
// or gives it other paths than every parent has.
func readVersion(r *repo.Repo, c repo.Commit, file string) (isNew, byMachine bool, err error) {
	own, err := bytesAt(r, c.OID, file)
	if err != nil || own == nil {
		return false, false, err
	}
	isNew, scoped := true, true
	for _, p := range c.Parents {
		before, err := bytesAt(r, p, file)
		if err != nil {
			return false, false, err
		}
		isNew = isNew && before == nil
		scoped = scoped && (before == nil || !slices.Equal(scopeOf(file, own), scopeOf(file, before)))
	}
	if isNew || scoped {
		byMachine, err = isByMachine(r, c)
	}
	return isNew, byMachine, err
}

// scopeOf are the paths of a task's file. One that cannot be read has none.
func scopeOf(file string, b []byte) []string {
	a, err := okf.Parse(file, b)
	if err != nil {
		return nil
	}
	return a.List("paths")
}

// isByMachine reports that a machine made a commit: by its address under the rules
// before or after it, or because it is a run's and no person's decision.
func isByMachine(r *repo.Repo, c repo.Commit) (bool, error) {
	if len(c.Trailer("Odd-Run")) > 0 && len(c.Trailer("Odd-Approved-By"))+len(c.Trailer("Odd-Rejected-By")) == 0 {
		return true, nil
	}
	for _, oid := range append(slices.Clone(c.Parents), c.OID) {
		b, err := bytesAt(r, oid, "odd.toml")
		if err != nil {
			return false, err
		}
		law, err := config.Parse("odd.toml", b)
		if err != nil {
			law = config.Default()
		}
		if strings.EqualFold(c.Author.Email, law.AgentEmail) || strings.EqualFold(c.Committer.Email, law.AgentEmail) {
			return true, nil
		}
	}
	return false, nil
}

// bytesAt is a file of a commit, nil where it has none.
func bytesAt(r *repo.Repo, oid repo.OID, file string) ([]byte, error) {
	f, err := r.Tree(oid)
	if err != nil {
		return nil, err
	}
	b, err := fs.ReadFile(f, file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// maxText is the largest file, in bytes, that a change is held against.
const maxText = 256 << 10

// filesBeside are the files of the base that a change of these could be a copy of, or
// could leave with nothing to call: those beside them, of the same kind, that it
// does not change.
func (g *Ground) filesBeside(files []pipeline.Edit) ([]lint.File, error) {
	f, err := g.r.Tree(g.Base)
	if err != nil {
		return nil, err
	}
	kind := func(p string) string { return path.Dir(p) + "/*" + path.Ext(p) }
	near, edited := map[string]bool{}, map[string]bool{}
	for _, d := range files {
		near[kind(d.Path)], edited[d.Path] = true, true
	}
	var out []lint.File
	for _, p := range g.all.Graph.Files {
		if !near[kind(p)] || edited[p] {
			continue
		}
		st, err := fs.Stat(f, p)
		if err != nil || !st.Mode().IsRegular() || st.Size() > maxText {
			continue
		}
		b, err := fs.ReadFile(f, p)
		if err != nil {
			return nil, err
		}
		out = append(out, lint.File{Path: p, Before: b, After: b})
	}
	return out, nil
}
