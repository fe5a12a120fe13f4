package agent

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/persona/session/cage"
)

func TestMain(m *testing.M) {
	if code, ours := cage.Main(os.Args); ours {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// TestRequire: what odd.toml demands and the kernel lacks is a refusal before any
// session, and under best-effort none.
func TestRequire(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		toml    string
		without cage.Feature
		want    string // in what is missing, "" is no refusal
	}{
		{`enforce = "require"`, cage.Landlock, "no Landlock"},
		{`enforce = "require"`, cage.Seccomp, "unix sockets outside"},
		{`enforce = "require"`, cage.Namespaces, "no loopback of its own"},
		{"enforce = \"require\"\nnetwork = \"loopback\"\ncheck_network = \"allow\"", cage.Namespaces, "no loopback of its own"},
		{"enforce = \"best-effort\"", cage.Landlock, ""},
		{"enforce = \"off\"", cage.Landlock, ""},
	} {
		cfg, err := config.Parse("odd.toml", []byte("[sandbox]\n"+c.toml+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		held, err := Hold(cage.Cage{Self: []string{"odd", cage.Verb}, Without: []cage.Feature{c.without}}, cfg.Sandbox, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		err = Demand(t.Context(), held, t.TempDir(), cfg.Sandbox)
		var no *cage.Unheld
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.toml, err)
		case c.want != "" && (!errors.As(err, &no) || no.Refused() != "sandbox-unavailable" || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s without %s: %v", c.toml, c.without, err)
		}
	}
}
