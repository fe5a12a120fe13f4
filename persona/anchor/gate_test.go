package anchor

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/odd-cli/odd/reconcile/policy"
	"github.com/odd-cli/odd/reconcile/policy/policytest"
)

// desktop is a work tree on disk with links of every kind, and a gatekeeper whose
// sessions a test names.
type desktop struct {
	Gatekeeper
	t      testing.TB
	active []Verdict
}

func newDesktop(t testing.TB) *desktop {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tree := filepath.Join(top, "tree")
	for _, f := range []string{"docs/a.md", "docs/deep/b.md", "cmd/main.go", ".git/config", ".git/odd/anchor.key", ".claude/settings.json", ".hestai/sessions/active/x", "../elsewhere/e.md"} {
		file := filepath.Join(tree, f)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(f+"\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{
		"docs/inside": "deep", "docs/out": "../../elsewhere", "docs/abs": filepath.Join(top, "elsewhere"), "docs/hook": "../.claude/settings.json",
		"docs/dangling": filepath.Join(top, "elsewhere", "new.md"), "docs/loop": "loop", "docs/self": "/proc/self/cwd/docs", "docs/up": "deep/..", "../tree2": "tree", ".claude/a.md": "../docs/a.md", "cmd/a.md": "../docs/a.md",
	} {
		if err := os.Symlink(to, filepath.Join(tree, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(tree, ".claude/settings.json"), filepath.Join(tree, "docs/twin")); err != nil {
		t.Fatal(err)
	}
	d := &desktop{t: t}
	d.Gatekeeper = Gatekeeper{
		WorkTree: tree, Files: os.DirFS(tree), Disk: os.DirFS("/"), Secret: []string{filepath.Join(tree, ".git/odd")},
		Protected: func(p string) (string, bool) {
			for _, f := range policy.CheckProtected(p, nil) {
				return f.Text, true
			}
			return "", false
		},
		Permits: func(harness string) ([]Verdict, error) {
			var out []Verdict
			for _, v := range d.active {
				if harness == "" || v.Permit != nil && v.Permit.Harness == harness {
					out = append(out, v)
				}
			}
			return out, nil
		},
		Valid: func(token, _ string) Verdict {
			for _, v := range d.active {
				if v.Token == token {
					return v
				}
			}
			return Verdict{Token: token, Errors: []Problem{{Code: TokenUnknown, Text: "no such session"}}}
		},
	}
	return d
}

// bind makes a session that may write the globs; "-x" are denied ones.
func (d *desktop) bind(token, harness string, globs ...string) *desktop {
	p := &Permit{Token: token, Role: "editor", Harness: harness, Gate: "make check"}
	for _, g := range globs {
		if out, ok := strings.CutPrefix(g, "-"); ok {
			p.Deny = append(p.Deny, out)
			continue
		}
		p.Allow = append(p.Allow, g)
	}
	d.active = append(d.active, Verdict{Valid: true, Token: token, Permit: p})
	return d
}

// want checks a decision: "" is allowed, a code denied with it.
func (d *desktop) want(name string, c Call, want Code) {
	d.t.Helper()
	if c.Cwd == "" {
		c.Cwd = d.WorkTree
	}
	got := Decide(c, d.Gatekeeper)
	if got.Allow != (want == "") || got.Code != want || !got.Allow && (got.Way == "" || got.Reason() == "") {
		d.t.Errorf("%s: allow %v, %s; want %q", name, got.Allow, got.Reason(), want)
	}
}

func write(paths ...string) Call { return Call{Tool: "Write", Paths: paths} }
func bash(line string) Call      { return Call{Tool: "Bash", Command: line} }

// G1, G9, G12: without a session only what reads is open.
func TestGateWithoutASession(t *testing.T) {
	t.Parallel()
	d := newDesktop(t)
	for _, tool := range []string{"Read", "Grep", "Glob", "LS", "TodoWrite", "WebSearch", "WebFetch", "read"} {
		d.want(tool, Call{Tool: tool, Paths: []string{"docs/a.md"}}, "")
	}
	for _, tool := range []string{"Write", "Edit", "MultiEdit", "NotebookEdit", "write", "delete"} {
		d.want(tool, Call{Tool: tool, Paths: []string{"docs/a.md"}}, Locked)
	}
	d.want("another program's tool", Call{Tool: "mcp__files__read"}, Locked)
	d.want("a shell that writes", bash("touch docs/new.md"), Locked)
	d.want("a shell that nobody can judge", bash("./run"), Locked)
	for _, tool := range []string{"", "Frobnicate", "Write ", "WriteX", "mcp_"} {
		d.want("unknown tool "+tool, Call{Tool: tool, Paths: []string{"docs/a.md"}}, ToolUnknown)
	}
	d.bind("oa-1", "", "docs/**")
	d.want("an unknown tool stays shut under a permit", Call{Tool: "Frobnicate"}, ToolUnknown)
}

// The first open thing is odd anchor itself, alone.
func TestGateOpensItselfAlone(t *testing.T) {
	t.Parallel()
	d := newDesktop(t)
	for _, line := range []string{
		"odd anchor identity editor", "odd anchor ls --json", "odd explain A_LOCKED", "odd anchor hook check", "odd anchor verify oa-1",
		"odd anchor context oa-1 - <<'END'\nBIND:\n  ROLE::editor\nEND\n", "odd anchor proof oa-1 '@docs/a.md'", "cat docs/a.md", "ls -l", "pwd",
	} {
		d.want(line, bash(line), "")
	}
	for line, code := range map[string]Code{
		"odd anchor ls; rm -rf .":                            CommandRefused,
		"odd anchor ls && touch docs/x":                      CommandRefused,
		"odd anchor ls | tee docs/x":                         CommandRefused,
		"odd anchor ls > docs/x":                             CommandRefused,
		"odd anchor ls $(touch docs/x)":                      CommandRefused,
		"odd anchor ls\ntouch docs/x":                        CommandRefused,
		"odd anchor ls &":                                    CommandRefused,
		"X=1 odd anchor ls":                                  CommandRefused,
		"./odd anchor ls":                                    CommandRefused,
		"/usr/bin/odd anchor ls":                             CommandRefused,
		"env odd anchor ls":                                  CommandRefused,
		"odd -C .. anchor ls":                                CommandRefused,
		"odd anchor hook uninstall":                          CommandRefused,
		"odd anchor hook install":                            CommandRefused,
		"odd anchor gc":                                      CommandRefused,
		"odd anchor gate":                                    CommandRefused,
		"odd anchor release oa-1":                            OutsidePaths,
		"odd anchor identity editor -C ../elsewhere":         CommandRefused,
		"odd anchor ls -C../elsewhere":                       CommandRefused,
		"odd anchor context oa-1 .env":                       Unwritable,
		"odd anchor context oa-1 deploy/key.pem":             Unwritable,
		"cat .git/od?/drain.lock":                            Unwritable,
		"cat .g*/o*/drain*":                                  Unwritable,
		"grep -r x .gi[t]":                                   Unwritable,
		"odd anchor context oa-1 - <<END\n$(touch x)\nEND":   CommandRefused,
		"odd anchor context oa-1 @.git/odd/anchor.key":       Unwritable,
		"odd anchor context oa-1 --file=.git/odd/anchor.key": Unwritable,
		"cat .git/odd/anchor.key":                            CommandRefused,
		"cd .git/odd && cat anchor.key":                      CommandRefused,
		"cat .git/odd/drain.lock":                            Unwritable,
		"cd .git && cat odd/drain.lock":                      Unwritable,
		"grep -r x .git":                                     Unwritable,
		"sh -c 'odd anchor ls'":                              CommandRefused,
		"":                                                   CallUnread,
		"rm -rf /":                                           CommandRefused,
		"echo 'x":                                            CommandRefused,
	} {
		d.want(line, bash(line), code)
	}
}

// G9 and the permit's paths: inside is open, outside is not, links and all.
func TestGatePaths(t *testing.T) {
	t.Parallel()
	d := newDesktop(t).bind("oa-1", "", "docs/**", "-docs/deep/**")
	for _, c := range []struct {
		path string
		want Code
	}{
		{"docs/a.md", ""}, {"docs/new.md", ""}, {"docs/new/folder/x.md", ""}, {"./docs//a.md", ""}, {"cmd/../docs/a.md", ""},
		{d.WorkTree + "/docs/a.md", ""}, {filepath.Dir(d.WorkTree) + "/tree2/docs/a.md", ""},
		{"cmd/main.go", OutsidePaths}, {"docs/deep/b.md", OutsidePaths}, {"docs/inside/b.md", OutsidePaths}, {"docs/DEEP/b.md", OutsidePaths},
		{"../elsewhere/e.md", OutsidePaths}, {"/etc/passwd", OutsidePaths}, {"docs/out/e.md", OutsidePaths}, {"docs/abs/e.md", OutsidePaths},
		{"docs/out/new.md", OutsidePaths}, {"docs/dangling", OutsidePaths}, {"docs/../../tree/../elsewhere/x", OutsidePaths},
		{".", OutsidePaths}, {"docs", CtxNotFile}, {"docs/deep/..", CtxNotFile},
		{"docs/loop", CtxEscape}, {"docs/self/a.md", CtxEscape}, {"docs/inside/../a.md", ""}, {"docs/out/../cmd/main.go", CtxEscape},
		{"docs/a.md/x", CtxEscape}, {"", CtxEscape}, {"docs/a\x00.md", CtxEscape}, {"docs/\xff", CtxEscape}, {"~/x", CtxEscape},
		{"docs/hook", Unwritable}, {".claude/a.md", Unwritable}, {"cmd/a.md", OutsidePaths}, {"docs/twin", Unwritable}, {".claude/settings.json", Unwritable}, {".CLAUDE/Settings.json", Unwritable},
		{".claude/settings.local.json", Unwritable}, {".git/config", Unwritable}, {".git/odd/anchor.key", Unwritable}, {".GIT/odd/anchor.key", Unwritable},
		{".hestai/sessions/active/x", Unwritable}, {".hestai/sessions/active/oa-2/anchor.json", Unwritable}, {"docs/x ", Unwritable},
		{"docs/\u200b.md", Unwritable}, {`docs\a.md`, Unwritable}, {"docs/../.git/hooks/pre-commit", Unwritable}, {"docs/.git/config", Unwritable},
	} {
		d.want(c.path, write(c.path), c.want)
	}
	d.want("every path counts", write("docs/a.md", "cmd/main.go"), OutsidePaths)
	d.want("no path at all", write(), CallUnread)
	d.want("a relative path from a folder", Call{Tool: "Edit", Paths: []string{"a.md"}, Cwd: d.WorkTree + "/docs"}, "")
	d.want("a relative path from another", Call{Tool: "Edit", Paths: []string{"main.go"}, Cwd: d.WorkTree + "/cmd"}, OutsidePaths)
	d.want("from nowhere", Call{Tool: "Edit", Paths: []string{"main.go"}, Cwd: "docs"}, CtxEscape)
	d.want("the key is not read", Call{Tool: "Read", Paths: []string{".git/odd/anchor.key"}}, Unwritable)
	d.want("nor looked for", Call{Tool: "Grep", Paths: []string{".git"}}, Unwritable)
	d.want("another program's tool", Call{Tool: "mcp__x__y"}, OutsidePaths)
}

// What a shell line writes is held to the same paths; what nobody can tell needs
// the whole work tree, or to be the session's own gate.
func TestGateShellUnderAPermit(t *testing.T) {
	t.Parallel()
	d := newDesktop(t).bind("oa-1", "", "docs/**")
	whole := newDesktop(t).bind("oa-1", "")
	for _, c := range []struct {
		line          string
		narrow, whole Code
	}{
		{"touch docs/new.md", "", ""},
		{"echo x > docs/a.md", "", ""},
		{"cp docs/a.md cmd/x.md", OutsidePaths, ""},
		{"echo x > docs/out/e.md", OutsidePaths, OutsidePaths},
		{"echo x > docs/hook", Unwritable, Unwritable},
		{"echo x > .claude/settings.json", CommandRefused, CommandRefused},
		{"touch docs/a.md && echo x > .git/config", CommandRefused, CommandRefused},
		{"./build.sh", OutsidePaths, ""},
		{"make check", "", ""},
		{"make  'check'", "", ""},
		{"make check install", OutsidePaths, ""},
		{"make check; touch cmd/x", OutsidePaths, ""},
		{"rm -rf .git", CommandRefused, CommandRefused},
		{"odd anchor release oa-1", "", ""},
		{"odd anchor release oa-1 --reason done", "", ""},
		{"odd anchor release oa-2", OutsidePaths, OutsidePaths},
		{"odd anchor hook uninstall", CommandRefused, CommandRefused},
		{"./build.sh; odd anchor gc", CommandRefused, CommandRefused},
	} {
		d.want(c.line, bash(c.line), c.narrow)
		whole.want(c.line+" (whole tree)", bash(c.line), c.whole)
	}
	below := bash("make check")
	below.Cwd = filepath.Join(d.WorkTree, "docs")
	d.want("the gate's command under a Makefile of the session's own", below, OutsidePaths)
	d.want("patterns of plain files", bash("cat docs/*.md *"), "")
	d.want("a move that names one file", Call{Tool: "move", Paths: []string{"docs/a.md"}}, CallUnread)
	d.want("a move that names two", Call{Tool: "move", Paths: []string{"docs/a.md", "cmd/a.md"}}, OutsidePaths)
	d.want("a patch names its files in its text", Call{Tool: "patch", Paths: []string{"docs/a.md"}}, ToolUnknown)
	whole.want("another program's tool", Call{Tool: "mcp__x__y"}, "")
	outside := bash("touch x")
	outside.Cwd = filepath.Dir(d.WorkTree)
	d.want("outside of the work tree", outside, OutsidePaths)
}

// TestGateLines: a permit for a few paths opens tests, make, and git add and git commit of those
// paths; one for the whole work tree no terminal, no file that governs and no proposal, however
// the line spells it.
func TestGateLines(t *testing.T) {
	t.Parallel()
	narrow, whole := newDesktop(t).bind("oa-1", "", "docs/**"), newDesktop(t).bind("oa-1", "")
	for _, c := range []struct {
		under *desktop
		opens bool
		lines string
	}{
		{narrow, false, `
touch src/x.go
git add src/x.go
git add -A
touch docs/x.md && git add docs/x.md && git commit -m x
git commit -am 'all of it'
git commit --amend -m again
git commit -m approve -m 'Odd-Approved-By: human:ann'
git commit -m "$(cat docs/x)"
make release SHELL=docs/sh
make release
./lint.sh docs --fix
pytest --basetemp=src
go test -C docs ./...
PYTEST_ADDOPTS=--basetemp=src pytest
make test SHELL=docs/sh
cd docs && make test
npm run ship
./build.sh --out=/etc/x
python3 docs/x.py
`},
		{narrow, true, `
go test ./...
go vet ./... && go test -run TestTides -count=1 ./tides | tail -3
make
make test
pytest -q
npm test
git add docs/tides.md
cat odd.toml
`},
		{whole, false, `
script -qec 'odd approve read-the-handbook' /dev/null
tmux new -d ls
screen -dm ls
socat - EXEC:'odd approve read-the-handbook',pty
expect a.exp
ssh localhost odd approve read-the-handbook
ssh -tt -p 22 me@host make
xterm -e make
gdb -p 4711
ssh-add -c k
strace -p 4711
docs/o -C . approve read-the-handbook
gdb --args odd approve read-the-handbook
cp /usr/local/bin/odd docs/o && docs/o approve read-the-handbook
odd hook install
odd review read-the-handbook --pr
sort -oodd.toml odd.toml
git log --output=odd.toml -1
awk 'BEGIN{print 1 > "odd.toml"}'
echo x > $'odd\x2etoml'
ed odd.toml
f=odd; echo x > $f.toml
printf "+++ b/odd.toml" | git apply
wget -O odd.toml http://127.0.0.1/
x=odd.toml; sort -o $x docs/a
prettier --write .claude/settings.json
git rebase -i HEAD~2
git merge odd/review/read-the-handbook.1
`},
		{whole, true, `
make test
go test ./...
git add -A
git commit -m 'odd.toml: explain the lease'
git rebase main
git merge main
prettier --write "docs/**/*.md"
wget -O docs/x http://127.0.0.1/
odd task add 'Change odd.toml' --role shore-lead
`},
	} {
		for line := range strings.SplitSeq(strings.TrimSpace(c.lines), "\n") {
			call := bash(line)
			call.Cwd = c.under.WorkTree
			if got := Decide(call, c.under.Gatekeeper); got.Allow != c.opens {
				t.Errorf("%s: allow %v, %s", line, got.Allow, got.Reason())
			}
		}
	}
}

// G10: whose permit it is decides; another session's never opens this one.
func TestGateWhosePermit(t *testing.T) {
	t.Parallel()
	mine := func(session string) Call {
		return Call{Tool: "Write", Paths: []string{"docs/a.md"}, Session: session}
	}
	d := newDesktop(t).bind("oa-1", "h1", "docs/**")
	d.want("its own", mine("h1"), "")
	d.want("another's", mine("h2"), Locked)
	d.want("nobody says", mine(""), Locked)
	d.Token = "oa-1"
	d.want("another's by token", mine("h2"), Locked)
	d.Token = ""
	d.bind("oa-2", "")
	d.want("the only one of nobody, in a session with an id", mine("h2"), Locked)
	d.want("the only one of nobody", mine(""), "")
	d.want("its own before that", Call{Tool: "Write", Paths: []string{"cmd/main.go"}, Session: "h1"}, OutsidePaths)
	d.bind("oa-3", "", "cmd/**")
	d.want("one of two", mine(""), Locked)
	d.Token = "oa-2"
	d.want("one of two by token", mine("h2"), "")
	d.Token = "oa-9"
	d.want("a token of nothing", mine("h2"), TokenUnknown)
	d.Token = ""
	d.bind("oa-4", "h1", "cmd/**")
	d.want("two of one harness", Call{Tool: "Write", Paths: []string{"cmd/main.go"}, Session: "h1"}, "")

	renew := func(token, session string) Call {
		return Call{Tool: "Bash", Command: "odd anchor renew " + token, Session: session}
	}
	d.want("a renewal of its own", renew("oa-1", "h1"), "")
	d.want("a renewal of another's", renew("oa-1", "h2"), OutsidePaths)
	bash := func(line, session string) Call { return Call{Tool: "Bash", Command: line, Session: session} }
	d.want("a release of its own", bash("odd anchor release oa-1", "h1"), "")
	d.want("a release of another's", bash("odd anchor release oa-1", "h2"), OutsidePaths)
	d.want("a release of its own and of another's", bash("odd anchor release oa-4 oa-9", "h1"), OutsidePaths)
	d.want("a permit for its own session", bash("odd anchor identity editor --session h2", "h2"), "")
	d.want("a permit for no session", bash("odd anchor identity editor", "h2"), Locked)
	d.want("a permit for another's", bash("odd anchor identity editor --session=h1", "h2"), Locked)
	d.want("a permit for two", bash("odd anchor identity editor --session h2 --session h1", "h2"), Locked)
	unbound := mine("h2")
	unbound.Cwd = d.WorkTree
	if got := Decide(unbound, d.Gatekeeper).Reason(); !strings.Contains(got, "odd anchor identity ROLE --session h2 ") {
		t.Error(got)
	}
	d.want("a renewal of nobody's", renew("oa-2", "h2"), "")
	d.Token = "oa-3"
	d.want("a renewal of nobody's, where another is its own", renew("oa-2", "h2"), OutsidePaths)

	d = newDesktop(t)
	d.active = []Verdict{{Token: "oa-5", Errors: []Problem{{Code: PermitExpired, Text: "over"}}}}
	d.want("an expired one", mine(""), PermitExpired)
	d.Permits = func(string) ([]Verdict, error) { return nil, errors.New("disk on fire") }
	d.want("a state that does not read", mine("h1"), Damaged)
}

// What the shared table's grant refuses, the gate refuses under a permit of the same paths,
// by the code that permits have had for it. A permit has no task and lists no commands.
func TestGateSharedActions(t *testing.T) {
	t.Parallel()
	codes := map[string]Code{"": "", "path_outside_repo": OutsidePaths, "protected_path": Unwritable, "no_permit": OutsidePaths, "command_not_allowed": CommandRefused}
	terms := policytest.Terms()
	d := newDesktop(t)
	d.active = []Verdict{{Valid: true, Token: "oa-1", Permit: &Permit{Token: "oa-1", Role: terms.Role, Allow: terms.Allow, Deny: terms.Deny}}}
	d.Protected = func(p string) (string, bool) {
		found := policy.CheckProtected(p, terms.Protect)
		return "protected", len(found) > 0
	}
	for _, r := range policytest.Rows() {
		want, is := codes[r.Code]
		switch {
		case is && r.Kind == policy.Write:
			d.want(r.Paths[0], write(r.Paths...), want)
		case is && r.Kind == policy.Run && r.Argv[0] != "go":
			d.want(strings.Join(r.Argv, " "), bash(strings.Join(r.Argv, " ")), want)
		}
	}
}

// A decision tells every reason at once.
func TestGateTellsEveryReason(t *testing.T) {
	t.Parallel()
	d := newDesktop(t).bind("oa-1", "")
	c := write(".git/config", "../x", "docs/loop")
	c.Cwd = d.WorkTree
	got := Decide(c, d.Gatekeeper)
	if len(got.Reasons) != 3 || len(got.Reason()) > 4000 {
		t.Errorf("%d reasons: %s", len(got.Reasons), got.Reason())
	}
	c.Paths = []string{strings.Repeat("x", 1<<20)}
	if got := Decide(c, d.Gatekeeper); got.Allow || len(got.Reason()) > 4000 {
		t.Errorf("a path of a megabyte: allow %v, %d bytes of reason", got.Allow, len(got.Reason()))
	}
}

// odd's own MCP tools are open by their exact names, so that an agent without a
// shell can be bound. What looks like one is another program's.
func TestGateOpensOddsOwnTools(t *testing.T) {
	t.Parallel()
	d := newDesktop(t)
	for _, tool := range []string{"anchor", "search", "get", "related", "expand", "why", "compile_persona", "context", "board_list"} {
		d.want("own "+tool, Call{Tool: "mcp__odd__" + tool}, "")
	}
	d.want("a secret as a file", Call{Tool: "mcp__odd__get", Paths: []string{".git/odd/anchor.key"}}, Unwritable)
	for _, tool := range []string{
		"mcp__odd__task_propose", "mcp__Odd__anchor", "MCP__odd__anchor", "mcp__odd__Anchor", "mcp__odd__anchor2", "mcp__odd___anchor", "mcp__odd__anchor__x", "mcp__odd__anchor ",
		"mcp__odd2__anchor", "mcp__plugin_odd__anchor", "mcp__plugin_x_odd__anchor", "mcp__evil__mcp__odd__anchor", "mcp__odd__\u200banchor", "mcp__\u043edd__anchor", "mcp__odd__", "mcp__anchor", "mcp__odd_anchor",
	} {
		d.want("a look-alike "+tool, Call{Tool: tool}, Locked)
	}
	for _, tool := range []string{"odd__anchor", "anchor", " mcp__odd__anchor", "mcp_odd_anchor"} {
		d.want("no tool of MCP "+tool, Call{Tool: tool}, ToolUnknown)
	}
}
