package servers

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/cage"
)

// TestMain lets the test binary be the keeper of what the tests start.
func TestMain(m *testing.M) {
	if code, ours := cage.Main(os.Args); ours {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// hello answers initialize and tools/list as a shell script does, and then does rest.
const hello = `
answer() { read -r line; id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/'); printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
answer '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}'
read -r initialized
answer '{"tools":[{"name":"go","inputSchema":{"type":"object"}}]}'
`

// program is a set of one shell script.
func program(t *testing.T, ctx context.Context, script string, spec Spec) *Set {
	t.Helper()
	spec.Name, spec.Argv, spec.Tools = "sh", []string{"sh", "-c", script}, []string{Every}
	set := Open(ctx, Options{Specs: []Spec{spec}, Environ: []string{"PATH=" + os.Getenv("PATH"), "PEARL=oyster-bed-9", "OTHER=x"}, Cage: cage.Cage{Self: []string{"odd", cage.Verb}, Limits: cage.Limits{File: 1 << 30, CPU: time.Hour, Files: 4096, Processes: 8192}},
		Desk: func(context.Context, Spec) (session.Desk, error) {
			top, err := filepath.EvalSymlinks(t.TempDir())
			d := session.Desk{Tree: filepath.Join(top, "tree"), Home: filepath.Join(top, "home"), Temp: filepath.Join(top, "temp")}
			for _, at := range []string{d.Tree, d.Home, d.Temp} {
				if err == nil {
					err = os.Mkdir(at, 0o700)
				}
			}
			return d, err
		}})
	t.Cleanup(set.Close)
	return set
}

// TestPrograms: what a program does that it should not costs itself, under a name.
func TestPrograms(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		"echo no such file >&2; exit 3":                                                 "crashed: it ended: exit status 3: no such file",
		"exec >&-; sleep 100":                                                           "crashed",
		"while :; do echo garbage; done":                                                "garbage",
		"head -c 99999 /dev/zero | tr '\\0' x; sleep 100":                               "too-large",
		"while :; do echo '{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}'; done": "flood",
		"echo starting up; " + hello + "read -r call; exit 4":                           "crashed: it ended: exit status 4",
		hello + "read -r call; while :; do echo garbage; done":                          "garbage",
		"read -r line; echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":7}'; cat":         "handshake",
	} {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			set := program(t, t.Context(), script, Spec{MaxBytes: 4096})
			if len(set.Tools()) == 1 {
				if _, err := call(t, set, "", "{}"); code(err) != "server_lost" {
					t.Errorf("%s: %v", script, err)
				}
			}
			u := set.Uses()[0]
			if got := u.Code + ": " + u.Detail; !strings.HasPrefix(got, want) {
				t.Errorf("%s: %s, want %s", script, got, want)
			}
		})
	}
}

// TestWhoHungUp: a program that ends behind the end of its input did not crash.
func TestWhoHungUp(t *testing.T) {
	t.Parallel()
	for _, odd := range []bool{false, true} {
		l := &link{max: 99, over: make(chan struct{})}
		out, program := io.Pipe()
		_, in := io.Pipe()
		way := l.newTransport(out, in).(*sdk.IOTransport)
		if odd {
			_ = way.Writer.Close()
		}
		_ = program.Close()
		<-l.over
		if err := l.whyDead(); (err == nil) != odd {
			t.Errorf("odd first: %v; %v", odd, err)
		}
	}
}

// TestSilentProgram is ended with the context, and one that stands still by its time.
func TestSilentProgram(t *testing.T) {
	t.Parallel()
	if u := program(t, t.Context(), "exec sleep 100", Spec{Start: time.Millisecond}).Uses()[0]; u.Code != "start-timeout" {
		t.Errorf("%+v", u)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if u := program(t, ctx, "exec sleep 100", Spec{}).Uses()[0]; u.Code == "" {
		t.Errorf("%+v", u)
	}
}

// TestConfined: a program sees what its spec lists, writes nowhere else, and what it
// was given comes back under its name alone.
func TestConfined(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "out")
	set := program(t, t.Context(), hello+`read -r call; touch `+out+` 2>/dev/null; id=$(printf '%s' "$call" | sed 's/.*"id":\([0-9]*\).*/\1/')
printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%s %s %s"}]}}\n' "$id" "$PEARL" "$OTHER" "${HOME##*/}"; cat`, Spec{Env: []string{"PEARL"}})
	if got, err := call(t, set, "", "{}"); got != "[redacted:PEARL]  home" {
		t.Errorf("%q, %v, %+v", got, err, set.Uses())
	}
	if _, err := os.Stat(out); err == nil && strings.Contains(set.Uses()[0].Held, "landlock") {
		t.Error("it wrote where it may not")
	}
}

// TestWeb: the token goes to the address that was written and nowhere else.
func TestWeb(t *testing.T) {
	t.Parallel()
	s := kind(tool("tide", anyObject, says("high "+strings.Repeat("x", 100))))
	serve := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)
	good := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer tide-table-1" {
			http.Error(w, "who?", http.StatusUnauthorized)
			return
		}
		serve.ServeHTTP(w, r)
	}))
	defer good.Close()
	leaked := false
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { leaked = true }))
	defer other.Close()
	moved := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer moved.Close()
	endless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 4096)); err != nil {
				return
			}
		}
	}))
	defer endless.Close()
	for _, tt := range []struct{ url, token, want string }{
		{good.URL, "SEA_KEY", ""}, {good.URL, "", "handshake"}, {good.URL, "NONE", "no-token"}, {moved.URL, "SEA_KEY", "handshake"}, {endless.URL, "SEA_KEY", "handshake"}, {"http://127.0.0.1:1", "", "handshake"},
	} {
		set := Open(t.Context(), Options{Specs: []Spec{{Name: "web", URL: tt.url, TokenEnv: tt.token, Tools: []string{Every}}}, Environ: []string{"SEA_KEY=tide-table-1"}})
		u := set.Uses()[0]
		if u.Code != tt.want || strings.Contains(u.Detail, "tide-table-1") {
			t.Errorf("%s %s: %+v, want %q", tt.url, tt.token, u, tt.want)
		}
		if tt.want == "" {
			if got, err := call(t, set, "", "{}"); !strings.HasPrefix(got, "high x") {
				t.Errorf("%q, %v", got, err)
			}
		}
		set.Close()
	}
	if leaked {
		t.Error("the redirect was followed")
	}
}
