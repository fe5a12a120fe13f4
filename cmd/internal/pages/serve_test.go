package pages

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/odd-cli/odd/cmd/internal/console/consoletest"
)

// addressSeen is a stdout that ends the server as soon as it has the address.
type addressSeen struct {
	strings.Builder
	end context.CancelFunc
}

func (a *addressSeen) Write(b []byte) (int, error) {
	a.end()
	return a.Builder.Write(b)
}

// The address that serve prints has the whole token, or nobody could open it.
func TestServePrintsTheAddress(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(dir, fstest.MapFS{
		"odd.toml":           {Data: []byte("[bundle]\nroot = \"knowledge\"\n")},
		"knowledge/index.md": {Data: []byte("# Knowledge\n")},
	}); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main", dir},
		{"-C", dir, "add", "."},
		{"-C", dir, "-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "commit.gpgsign=false", "commit", "-q", "-m", "begin"},
	} {
		if b, err := exec.CommandContext(t.Context(), "git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, b)
		}
	}
	ctx, end := context.WithCancel(t.Context())
	defer end()
	out := &addressSeen{end: end}
	env, _, _ := consoletest.Quiet()
	env.Stdout, env.Dir, env.Entropy = out, dir, strings.NewReader(strings.Repeat("\xa7\x3c\x91\x0e", 8))
	env.Now = func() time.Time { return time.Unix(0, 0) }
	if err := runServe(ctx, env, 0); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if want := `^http://127\.0\.0\.1:\d+/\?token=(a73c910e){8}\n$`; !regexp.MustCompile(want).MatchString(out.String()) {
		t.Errorf("stdout is %q, want %s", out.String(), want)
	}
}
