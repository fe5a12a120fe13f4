// Package repotest has what the tests of journal/repo and of the packages below it share.
package repotest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Run runs tests with a home of their own, for every git they start.
func Run(m *testing.M) int {
	home, err := os.MkdirTemp("", "odd-repo-home")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(home)
	for _, kv := range os.Environ() {
		if strings.HasPrefix(kv, "GIT_") {
			os.Unsetenv(strings.SplitN(kv, "=", 2)[0])
		}
	}
	os.Setenv("HOME", home)
	os.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
	os.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(home, "gitconfig"))
	os.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	conf := "[user]\n\tname = Ann\n\temail = ann@example.org\n[init]\n\tdefaultBranch = main\n[gc]\n\tauto = 0\n"
	if err := os.WriteFile(filepath.Join(home, "gitconfig"), []byte(conf), 0o644); err != nil {
		panic(err)
	}
	return m.Run()
}

// Git runs the real git in dir and returns its output, trimmed.
func Git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	out, err := TryGit(dir, args...)
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return out
}

// TryGit runs the real git in dir, and returns its output, trimmed, also where it fails.
func TryGit(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return strings.TrimRight(string(out), "\n"), err
}

// Write puts files (name, content, …) below dir.
func Write(t testing.TB, dir string, files ...string) {
	t.Helper()
	for i := 0; i < len(files); i += 2 {
		p := filepath.Join(dir, files[i])
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(files[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Fresh makes a repository with one commit of the files on main, and returns its folder.
func Fresh(t testing.TB, initArgs []string, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	Git(t, dir, append([]string{"init", "-q"}, initArgs...)...)
	Write(t, dir, files...)
	Git(t, dir, "add", "-A")
	Git(t, dir, "commit", "-q", "--allow-empty", "-m", "base")
	return dir
}

// Must returns v of a (v, error) pair.
func Must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// Eq fails unless got and want are the same.
func Eq[T any](t testing.TB, what string, got, want T) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

// Shell runs a script in dir.
func Shell(dir, script string) (string, error) {
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// Everything is every file below dir with its mode and its bytes.
func Everything(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		st, serr := d.Info()
		out[strings.TrimPrefix(p, dir)] = fmt.Sprint(st.Mode(), string(b))
		return errors.Join(err, serr)
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
