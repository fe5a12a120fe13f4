package repo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// settings are what the person's git says of itself: its configuration, and the
// lines with which it would sign a commit now. Keys are in git's spelling, whose
// section and last part are in lower case.
//
// A value that goes on over several lines is told as one value and lines that may
// look like other keys. Whoever asks heeds every value of a key, so that such a
// line can add a doubt and take none away.
type settings struct {
	values            map[string][]string
	bare              map[string]bool // keys without a value, which means yes
	author, committer string          // "Name <email> 1700000000 +0100", "" where git has none
}

// settings keeps settings for the steps of one command.
type settingsCache struct {
	mu       sync.Mutex
	last     *settings
	sign     string           // of the files they came from
	expected *settingsRequest // of Expect, nil when somebody took it
}

// settingsRequest is what git says of itself, as soon as done is closed.
type settingsRequest struct {
	at   time.Time // by the clock of the wall: the machine may sleep
	sign string
	done chan struct{}
	s    *settings
	err  error
}

// settingsLive is how long settings are not asked for again while the files that
// odd knows of are as they were. It is shorter than a person is between a change
// of another file and the next command.
const settingsLive = time.Second

// Expect tells that a commit is about to be made and a ref to move. Git is asked
// of itself, and stands ready to move refs, while the caller makes up its mind. What
// it says then is good for one commit, if that comes within settingsLive; its moment
// is the commit's, as git itself looks at the clock before it does anything else.
func (r *Repo) Expect(ctx context.Context) {
	r.settings.mu.Lock()
	defer r.settings.mu.Unlock()
	if !r.isFresh(r.settings.expected) {
		r.settings.expected = r.requestSettings(ctx)
	}
	go r.updates.warmUp()
}

// requestSettings starts to ask git.
func (r *Repo) requestSettings(ctx context.Context) *settingsRequest {
	a := &settingsRequest{at: time.Now().Round(0), sign: r.configStamp(), done: make(chan struct{})}
	go func() {
		defer close(a.done)
		var out []byte
		if out, a.err = r.git.run(ctx, call{args: []string{"var", "-l"}, read: true, self: true}); a.err == nil {
			a.s = parseSettings(string(out))
		}
	}()
	return a
}

// isFresh reports that an answer is as good as one that were asked for now.
func (r *Repo) isFresh(a *settingsRequest) bool {
	return a != nil && time.Now().Round(0).Sub(a.at).Abs() < settingsLive && a.sign == r.configStamp()
}

// loadSettings asks git, or remembers. The lines may be as old as settingsLive: who signs
// with them asks anew.
func (r *Repo) loadSettings(ctx context.Context) (*settings, error) {
	r.settings.mu.Lock()
	s := r.settings.last
	fits := s != nil && r.settings.sign == r.configStamp()
	r.settings.mu.Unlock()
	if fits {
		return s, nil
	}
	return r.askSettings(ctx)
}

// askSettings returns the settings as git tells them now, or told who expected to need them now.
func (r *Repo) askSettings(ctx context.Context) (*settings, error) {
	r.settings.mu.Lock()
	defer r.settings.mu.Unlock()
	a := r.settings.expected
	r.settings.expected = nil
	if !r.awaitAnswer(a) {
		if a = r.requestSettings(ctx); !r.awaitAnswer(a) && a.err != nil {
			return nil, a.err
		}
	}
	r.settings.last, r.settings.sign = a.s, a.sign
	time.AfterFunc(settingsLive, func() { r.forgetSettings(a.s) })
	return a.s, nil
}

// awaitAnswer waits for an answer and reports whether it fits.
func (r *Repo) awaitAnswer(a *settingsRequest) bool {
	if a == nil {
		return false
	}
	<-a.done
	return a.err == nil && r.isFresh(a)
}

func (r *Repo) forgetSettings(s *settings) {
	r.settings.mu.Lock()
	defer r.settings.mu.Unlock()
	if r.settings.last == s {
		r.settings.last = nil
	}
}

// configStamp changes when one of the usual files of configuration does.
func (r *Repo) configStamp() string {
	home, _ := r.git.baseVar("HOME")
	files := []string{filepath.Join(r.common, "config"), filepath.Join(r.gitDir, "config.worktree"), filepath.Join(home, ".gitconfig"), filepath.Join(r.git.configHome(), "git", "config")}
	for _, name := range []string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"} {
		if f, ok := r.git.baseVar(name); ok {
			files = append(files, f)
		}
	}
	var b strings.Builder
	for _, f := range files {
		if st, err := os.Stat(f); err == nil {
			fmt.Fprintln(&b, st.Size(), st.ModTime().UnixNano())
			if sys, ok := st.Sys().(*syscall.Stat_t); ok {
				fmt.Fprintln(&b, sys.Ino)
			}
		} else {
			b.WriteString("-\n")
		}
	}
	return b.String()
}

// baseVar is a variable of every git's environment.
func (g *runner) baseVar(name string) (string, bool) {
	for _, kv := range g.base {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v, true
		}
	}
	return "", false
}

// configHome is where a person's configuration lies by XDG's rule.
func (g *runner) configHome() string {
	if dir, _ := g.baseVar("XDG_CONFIG_HOME"); dir != "" {
		return dir
	}
	home, _ := g.baseVar("HOME")
	return filepath.Join(home, ".config")
}

// parseSettings reads what git var -l prints: the configuration, then git's own variables.
func parseSettings(text string) *settings {
	s := &settings{values: map[string][]string{}, bare: map[string]bool{}}
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		switch {
		case !ok:
			s.bare[key] = true
		case key == "GIT_AUTHOR_IDENT":
			s.author = value
		case key == "GIT_COMMITTER_IDENT":
			s.committer = value
		default:
			s.values[key] = append(s.values[key], value)
		}
	}
	return s
}

// hasConfiguration reports whether the list holds the configuration: every repository sets this key.
func (s *settings) hasConfiguration() bool { return len(s.values["core.repositoryformatversion"]) > 0 }

// isOff reports that a key is unset, or that every value of it is git's no.
func (s *settings) isOff(key string) bool {
	for _, v := range s.values[key] {
		if !isFalse(v) {
			return false
		}
	}
	return !s.bare[key]
}

// isSet reports that a key has any value.
func (s *settings) isSet(key string) bool { return s.bare[key] || len(s.values[key]) > 0 }

// isShared reports that several users write the repository, with modes of files that
// core.sharedRepository says.
func (s *settings) isShared() bool {
	for _, v := range s.values["core.sharedrepository"] {
		if !isFalse(v) && v != "umask" {
			return true
		}
	}
	return s.bare["core.sharedrepository"]
}

// syncsObjects reports that loose objects are to be on the disk before they are named:
// core.fsync, or its older name. The method is a matter of speed alone.
func (s *settings) syncsObjects() bool {
	for _, v := range s.values["core.fsync"] {
		for _, part := range strings.FieldsFunc(v, func(c rune) bool { return strings.ContainsRune(", \t", c) }) {
			if slices.Contains([]string{"loose-object", "objects", "committed", "added", "all"}, part) {
				return true
			}
		}
	}
	return !s.isOff("core.fsyncobjectfiles")
}

// isFalse reports a value that git reads as no.
func isFalse(value string) bool {
	switch strings.ToLower(value) {
	case "false", "no", "off", "0":
		return true
	}
	return false
}

// isSetByPerson reports whether a line of who (AUTHOR or COMMITTER) is what the person
// set, and not git's guess from their login and the name of the host.
func (s *settings) isSetByPerson(r *Repo, who string, line Signature) bool {
	for part, is := range map[string]string{"name": line.Name, "email": line.Email} {
		var told []string
		for _, key := range []string{strings.ToLower(who) + "." + part, "user." + part} {
			told = append(told, s.values[key]...)
		}
		for _, kv := range r.git.self {
			if v, ok := strings.CutPrefix(kv, "GIT_"+who+"_"+strings.ToUpper(part)+"="); ok {
				told = append(told, v)
			}
		}
		if is == "" || !slices.Contains(told, is) {
			return false
		}
	}
	return true
}

// Identity is the person's own user.name and user.email, as their git would sign a commit; When is git's idea of now.
// git's guess from the host name is not accepted: the error names what to set.
func (r *Repo) Identity(ctx context.Context) (Signature, error) {
	s, err := r.askIdentity(ctx)
	if err == nil {
		if who, err := parseSignature(s.author); err == nil && who.check() == nil && s.isSetByPerson(r, "AUTHOR", who) {
			return who, nil
		}
	}
	return r.strictIdentity(ctx)
}

// askIdentity returns the settings as askSettings does, and leaves what Expect asked for to the commit.
func (r *Repo) askIdentity(ctx context.Context) (*settings, error) {
	r.settings.mu.Lock()
	a := r.settings.expected
	r.settings.mu.Unlock()
	if r.awaitAnswer(a) {
		return a.s, nil
	}
	return r.askSettings(ctx)
}

// strictIdentity asks git for the line alone, with all that it refuses.
func (r *Repo) strictIdentity(ctx context.Context) (Signature, error) {
	out, err := r.git.run(ctx, call{
		args: []string{"-c", "user.useConfigOnly=true", "var", "GIT_AUTHOR_IDENT"}, read: true, self: true})
	if err != nil && exitCode(err) < 0 {
		return Signature{}, err
	}
	s, perr := parseSignature(strings.TrimSpace(string(out)))
	if err != nil || perr != nil || s.Name == "" || s.Email == "" {
		no := errors.New(`git identity: not set; run git config user.name "Your Name" and git config user.email you@example.org`)
		if ge := (*gitError)(nil); errors.As(err, &ge) && !strings.Contains(ge.stderr, "user.email") {
			no = fmt.Errorf("git identity: %w", err) // git has another reason
		}
		return Signature{}, no
	}
	return s, nil
}

// Config reads one git config value, "" when unset. Of a key with several values it is the last.
func (r *Repo) Config(ctx context.Context, key string) (string, error) {
	out, err := r.readGit(ctx, "config", "-z", "--get", key)
	if exitCode(err) == 1 {
		return "", nil
	}
	return strings.TrimSuffix(string(out), "\x00"), err
}

// Version is the version of the git that odd runs, like "2.43.0".
func (r *Repo) Version(ctx context.Context) (string, error) {
	out, err := r.readGitLine(ctx, "version")
	return strings.TrimPrefix(out, "git version "), err
}
