package repo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/odd-cli/odd/journal/repo/gitcmd"
	"github.com/odd-cli/odd/journal/repo/object"
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
	mu   sync.Mutex
	last *settings
	at   time.Time // wall clock, because the machine may sleep
}

// settingsLive is how long settings are reused. It is shorter than a person needs between a change of the
// configuration and the next command.
const settingsLive = time.Second

// loadSettings returns the settings, cached or from git. The identities' times may be as old as settingsLive, so
// whoever commits with them calls askSettings.
func (r *Repo) loadSettings(ctx context.Context) (*settings, error) {
	r.settings.mu.Lock()
	s := r.settings.last
	fits := s != nil && time.Now().Round(0).Sub(r.settings.at).Abs() < settingsLive
	r.settings.mu.Unlock()
	if fits {
		return s, nil
	}
	return r.askSettings(ctx)
}

func (r *Repo) askSettings(ctx context.Context) (*settings, error) {
	r.settings.mu.Lock()
	defer r.settings.mu.Unlock()
	at := time.Now().Round(0)
	out, err := r.git.Run(ctx, gitcmd.Call{Args: []string{"var", "-l"}, Read: true, Self: true})
	if err != nil {
		return nil, err
	}
	r.settings.last, r.settings.at = parseSettings(string(out)), at
	return r.settings.last, nil
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
		for _, kv := range r.git.Self {
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

// Identity returns the person's user.name and user.email as git would sign a commit. When is of no use. It
// does not accept git's guess from the host name; the error names what to set.
func (r *Repo) Identity(ctx context.Context) (Signature, error) {
	s, err := r.loadSettings(ctx)
	if err == nil {
		if who, err := object.ParseSignature(s.author); err == nil && who.Check() == nil && s.isSetByPerson(r, "AUTHOR", who) {
			return who, nil
		}
	}
	return r.strictIdentity(ctx)
}

// strictIdentity asks git for the identity alone, with all of git's checks.
func (r *Repo) strictIdentity(ctx context.Context) (Signature, error) {
	out, err := r.git.Run(ctx, gitcmd.Call{
		Args: []string{"-c", "user.useConfigOnly=true", "var", "GIT_AUTHOR_IDENT"}, Read: true, Self: true})
	if err != nil && gitcmd.ExitCode(err) < 0 {
		return Signature{}, err
	}
	s, perr := object.ParseSignature(strings.TrimSpace(string(out)))
	if err != nil || perr != nil || s.Name == "" || s.Email == "" {
		no := errors.New(`git identity: not set; run git config user.name "Your Name" and git config user.email you@example.org`)
		if ge := (*gitcmd.Error)(nil); errors.As(err, &ge) && !strings.Contains(ge.Stderr, "user.email") {
			no = fmt.Errorf("git identity: %w", err) // git has another reason
		}
		return Signature{}, no
	}
	return s, nil
}

// Config reads one git setting, "" if it is not set. Of a key with several values it returns the last.
func (r *Repo) Config(ctx context.Context, key string) (string, error) {
	out, err := r.git.Read(ctx, "config", "-z", "--get", key)
	if gitcmd.ExitCode(err) == 1 {
		return "", nil
	}
	return strings.TrimSuffix(string(out), "\x00"), err
}

// Version returns the version of git, such as "2.43.0".
func (r *Repo) Version(ctx context.Context) (string, error) {
	out, err := r.git.ReadLine(ctx, "version")
	return strings.TrimPrefix(out, "git version "), err
}
