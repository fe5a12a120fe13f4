package cmd

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/okf/served"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/mcp"
)

// knowing is the one bundle that a server serves.
type knowing struct {
	env     Env
	src     source // rev is a commit's id, or ""
	session string

	mu    sync.Mutex
	last  personaSource // as it was read last
	stamp string        // of the files it was read from; "" where they may have changed since
}

// openKnowledge finds the bundle and reads nothing of it yet, so that a client
// waits for no more than its first question takes.
func openKnowledge(ctx context.Context, env Env, src source, session string) (*knowing, error) {
	k := &knowing{env: env, src: src, session: session}
	if src.rev != "" {
		_, commit, _, err := src.commit(ctx, env)
		k.src.rev = string(commit)
		return k, err
	}
	_, _, err := bundleDir(env, src.dir)
	return k, err
}

func (k *knowing) world() mcp.World {
	return mcp.World{
		Version: version(),
		Graph: func(ctx context.Context) (*okf.Graph, error) {
			s, err := k.read(ctx)
			return s.graph, err
		},
		Compile: func(ctx context.Context, role string) (mcp.Compiled, error) {
			s, err := k.read(ctx)
			if err != nil {
				return mcp.Compiled{}, err
			}
			p, err := s.compile(role)
			return mcp.Compiled{Persona: p, Graph: s.graph}, err
		},
		Profile: k.profile,
		Context: k.context,
		Board:   k.board,
		Propose: k.propose,
		Desk:    k.desk,
	}
}

// read is the bundle as it stands. Files that have not changed are not read
// again, so that a run of questions costs one reading.
func (k *knowing) read(ctx context.Context) (personaSource, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.stamp != "" {
		if now, err := k.stampAt(k.env.Now()); err != nil || now == k.stamp {
			return k.last, err
		}
	}
	// Beside the reading: what changes meanwhile is younger than its beginning, and gives no stamp.
	stamp, start := make(chan string, 1), k.env.Now()
	go func() {
		s, err := k.stampAt(start)
		if err != nil {
			s = "" // the reading tells
		}
		stamp <- s
	}()
	s, err := readSource(ctx, k.env, k.src)
	k.last, k.stamp = s, <-stamp
	if err != nil {
		k.stamp = ""
	}
	return s, err
}

// stampAt is what the bundle's files looked like, or the commit that is served.
func (k *knowing) stampAt(now time.Time) (string, error) {
	if k.src.rev != "" {
		return k.src.rev, nil
	}
	root, _, err := bundleDir(k.env, k.src.dir)
	if err != nil {
		return "", err
	}
	return stamped(root, now)
}

// warm reads the bundle before the first question, while the client says hello.
func (k *knowing) warm(ctx context.Context) {
	if s, err := k.read(ctx); err == nil {
		s.graph.Search("odd", 1)
	}
}

// settled is how long a file must have been left alone before its time of change
// tells that it is the same: clocks of file systems tick as slowly as that.
const settled = 2 * time.Second

// stamped is a digest of the names, sizes and times of a bundle's files and of
// the odd.toml above them, "" while one is so young that it may change again
// without its time moving.
func stamped(root string, now time.Time) (string, error) {
	sum, young := sha256.New(), false
	note := func(name string, info fs.FileInfo) {
		fmt.Fprintf(sum, "%s\x00%d\x00%d\x00%d\n", name, info.Size(), info.ModTime().UnixNano(), info.Mode())
		young = young || now.Sub(info.ModTime()) < settled
	}
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case strings.HasPrefix(d.Name(), ".") && name != "." && d.IsDir():
			return fs.SkipDir
		case !d.IsDir() && !strings.HasSuffix(name, ".md"):
			return nil
		}
		info, err := d.Info()
		if err == nil {
			note(name, info)
		}
		return err
	})
	for dir := root; err == nil; dir = filepath.Dir(dir) {
		if info, statErr := os.Stat(filepath.Join(dir, "odd.toml")); statErr == nil {
			note("odd.toml", info)
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	if err != nil || young {
		return "", err
	}
	return string(sum.Sum(nil)), nil
}

// profile is a persona profile with the text of its system prompt, where the
// bundle has that.
func (k *knowing) profile(ctx context.Context, ref string) (mcp.Profile, error) {
	s, err := k.read(ctx)
	if err != nil {
		return mcp.Profile{}, err
	}
	p, err := contract.LoadRoster(s.graph).Find(ref)
	if err != nil {
		return mcp.Profile{}, err
	}
	out := mcp.Profile{Name: p.Ref(), URI: p.SystemPromptURI}
	if a := s.graph.ByPath(p.Path); a != nil {
		out.Fact = served.FactOf(a)
	}
	if at, err := s.graph.Resolve(p.SystemPromptURI); err == nil && p.SystemPromptURI != "" && at.Atom != nil {
		out.Prompt = string(at.Atom.Body())
	}
	return out, nil
}
