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

// settings are the person's git configuration and the identities that git would use for a commit now. Keys are
// spelled as git prints them, with section and last part in lower case.
//
// A value of several lines is read as one value and as lines that may look like other keys. Callers look at every
// value of a key, so that such a line can add a doubt but never remove one.
type settings struct {
	values            map[string][]string
	bare              map[string]bool // keys without a value, which means yes
	author, committer string          // "Name <email> 1700000000 +0100", "" where git has none
}

// settingsCache keeps settings for the steps of one command.
type settingsCache struct {
	mu       sync.Mutex
	last     *settings
	sign     string           // configStamp of the files they came from
	expected *settingsRequest // of Expect, nil when somebody took it
}

// settingsRequest is a running request for settings; its result is there once done is closed.
type settingsRequest struct {
	at   time.Time // wall clock, because the machine may sleep
	sign string
	done chan struct{}
	s    *settings
	err  error
}

// settingsLive is how long settings are reused while the files that odd knows of are unchanged. It is shorter than
// a person needs between a change of another file and the next command.
const settingsLive = time.Second

// Expect announces a commit and a move of refs. It starts reading git's settings and an update-ref process while
// the caller prepares. The settings are used for one commit within settingsLive. The commit's time is that of
// Expect, as git itself reads the clock first.
func (r *Repo) Expect(ctx context.Context) {
	r.settings.mu.Lock()
	defer r.settings.mu.Unlock()
	if !r.isFresh(r.settings.expected) {
		r.settings.expected = r.requestSettings(ctx)
	}
	go r.updates.warmUp()
}

// requestSettings starts git to read the settings.
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

// isFresh reports whether a request's result is still current.
func (r *Repo) isFresh(a *settingsRequest) bool {
	return a != nil && time.Now().Round(0).Sub(a.at).Abs() < settingsLive && a.sign == r.configStamp()
}

// loadSettings returns the settings, cached or from git. The identities' times may be as old as settingsLive, so
// whoever commits with them calls askSettings.
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

// askSettings returns the settings from a running request of Expect, or asks git.
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

// awaitAnswer waits for a request and reports whether its result can be used.
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

// configStamp returns a string that changes when one of the usual configuration files does.
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

// baseVar returns a variable of every git's environment.
func (g *runner) baseVar(name string) (string, bool) {
	for _, kv := range g.base {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v, true
		}
	}
	return "", false
}

// configHome returns the XDG directory of a person's configuration.
func (g *runner) configHome() string {
	if dir, _ := g.baseVar("XDG_CONFIG_HOME"); dir != "" {
		return dir
	}
	home, _ := g.baseVar("HOME")
	return filepath.Join(home, ".config")
}

// parseSettings reads the output of git var -l: the configuration, then git's variables.
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

// hasConfiguration reports whether the settings include the configuration: every repository sets this key.
func (s *settings) hasConfiguration() bool { return len(s.values["core.repositoryformatversion"]) > 0 }

// isOff reports whether a key is unset or all its values are git's no.
func (s *settings) isOff(key string) bool {
	for _, v := range s.values[key] {
		if !isFalse(v) {
			return false
		}
	}
	return !s.bare[key]
}

// isSet reports whether a key has any value.
func (s *settings) isSet(key string) bool { return s.bare[key] || len(s.values[key]) > 0 }

// isShared reports whether core.sharedRepository sets file modes for several users.
func (s *settings) isShared() bool {
	for _, v := range s.values["core.sharedrepository"] {
		if !isFalse(v) && v != "umask" {
			return true
		}
	}
	return s.bare["core.sharedrepository"]
}

// syncsObjects reports whether core.fsync, or its older name, asks to sync loose objects. The sync method only
// affects speed.
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

// isFalse reports whether git reads a value as no.
func isFalse(value string) bool {
	switch strings.ToLower(value) {
	case "false", "no", "off", "0":
		return true
	}
	return false
}

// isSetByPerson reports whether the identity of who (AUTHOR or COMMITTER) was set by the person, and is not git's
// guess from login and host name.
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

// Identity returns the person's user.name and user.email as git would sign a commit; When is git's current time. It
// does not accept git's guess from the host name; the error names what to set.
func (r *Repo) Identity(ctx context.Context) (Signature, error) {
	s, err := r.askIdentity(ctx)
	if err == nil {
		if who, err := parseSignature(s.author); err == nil && who.check() == nil && s.isSetByPerson(r, "AUTHOR", who) {
			return who, nil
		}
	}
	return r.strictIdentity(ctx)
}

// askIdentity is askSettings, but leaves the request of Expect for the commit.
func (r *Repo) askIdentity(ctx context.Context) (*settings, error) {
	r.settings.mu.Lock()
	a := r.settings.expected
	r.settings.mu.Unlock()
	if r.awaitAnswer(a) {
		return a.s, nil
	}
	return r.askSettings(ctx)
}

// strictIdentity asks git for the identity alone, with all of git's checks.
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

// Config reads one git setting, "" if it is not set. Of a key with several values it returns the last.
func (r *Repo) Config(ctx context.Context, key string) (string, error) {
	out, err := r.readGit(ctx, "config", "-z", "--get", key)
	if exitCode(err) == 1 {
		return "", nil
	}
	return strings.TrimSuffix(string(out), "\x00"), err
}

// Version returns the version of git, such as "2.43.0".
func (r *Repo) Version(ctx context.Context) (string, error) {
	out, err := r.readGitLine(ctx, "version")
	return strings.TrimPrefix(out, "git version "), err
}
