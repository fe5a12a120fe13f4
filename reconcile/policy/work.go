package policy

import (
	"slices"
	"strings"
)

// runner is a program that tests a work tree: how its command begins, and its flags that only
// choose, order or print tests. None of them names a file to write, a folder or a program.
type runner struct{ begins, flags string }

const (
	goFlags    = "-run -skip -v -count -race -short -timeout -failfast -json -tags -p -parallel -cpu -shuffle -list -bench -benchtime -benchmem -cover -covermode -coverpkg -vet -mod"
	pyFlags    = "-q -v -x -s -k -m -n -l -r -rA -ra -rf -rs --lf --ff --sw --nf --maxfail --tb --co --collect-only --no-header --durations --strict-markers --quiet --verbose --exitfirst --last-failed"
	cargoFlags = "-q --quiet -v --verbose --lib --bins --bin --tests --test --examples --example --doc --all --workspace -p --package --exclude --all-targets --features --all-features --no-default-features " +
		"--release --no-run --no-fail-fast -j --jobs --locked --offline --frozen -- --nocapture --test-threads --exact --ignored --include-ignored --show-output"
	jsFlags    = "-s --silent"
	jestFlags  = "-t --testNamePattern -b --bail --verbose --silent --ci -i --runInBand --passWithNoTests --run"
	rspecFlags = "-e --example -t --tag --fail-fast --seed --no-color"
)

// testRunners are the test programs that are known. goWrites names more flags of go, which are judged
// by the files they name.
func testRunners() []runner {
	return []runner{
		{"go test", goFlags}, {"go vet", goFlags}, {"pytest", pyFlags}, {"python -m pytest", pyFlags}, {"python3 -m pytest", pyFlags},
		{"npm test", jsFlags}, {"npm run test", jsFlags}, {"pnpm test", jsFlags}, {"yarn test", jsFlags},
		{"jest", jestFlags}, {"mocha", "-g --grep -f --fgrep -b --bail"}, {"vitest", jestFlags},
		{"cargo test", cargoFlags}, {"cargo check", cargoFlags}, {"cargo clippy", cargoFlags + " -D -W -A"},
		{"ctest", "-R -E -L -LE -j -V -VV -N -Q --parallel --output-on-failure --rerun-failed --stop-on-failure --timeout"},
		{"bundle exec rspec", rspecFlags}, {"rspec", rspecFlags}, {"mix test", "--only --exclude --include --failed --stale --seed --trace --max-failures"},
		{"swift test", "--filter --skip --parallel -q --quiet -v --verbose"}, {"phpunit", "--filter --testsuite --group --exclude-group --stop-on-failure --testdox -v --verbose"},
		{"deno test", "-q --quiet --filter --fail-fast --parallel --shuffle"}, {"bun test", "-t --test-name-pattern --bail --timeout --only --rerun-each"},
		{"odd check", "--strict --okf --canon --notes --json --now --range --all --quiet --explain"}, {"odd journal lint", "--json"},
	}
}

// wholeCommands are those whose further words name more work to do, such as a release.
func wholeCommands() []string {
	return strings.Split("make test,make check,tox,mvn test,gradle test,./gradlew test,dotnet test,just test,just check", ",")
}

// TestCommands are how commands begin that build or test a work tree. IsTest judges the rest.
func TestCommands() []string {
	out := wholeCommands()
	for _, r := range testRunners() {
		out = append(out, r.begins)
	}
	return out
}

// IsTest reports a command that tests a work tree and whose flags are known to name no file, no
// folder and no program; or make by itself or with a target that builds. A session may name one
// as its gate, and run it under any permit.
func IsTest(argv []string) bool {
	whole := append(wholeCommands(), "make", "make all", "make build", "make lint", "make vet")
	if slices.ContainsFunc(whole, func(s string) bool { return slices.Equal(strings.Fields(s), argv) }) {
		return true
	}
	return slices.ContainsFunc(testRunners(), func(r runner) bool {
		begins := strings.Fields(r.begins)
		return startsWith(argv, begins) && !slices.ContainsFunc(argv[len(begins):], func(word string) bool { return !r.allowsWord(word) })
	})
}

// allowsWord reports a word that may follow: a flag of the list, with a value or not, short ones also
// together, or what names tests. An address is fetched, @FILE holds more flags, and init sets up.
func (r runner) allowsWord(word string) bool {
	name, value, _ := strings.Cut(word, "=")
	if strings.Contains(word, "://") || strings.HasPrefix(value, "@") {
		return false
	}
	if !strings.HasPrefix(word, "-") {
		return !strings.HasPrefix(word, "@") && word != "init" && !slices.ContainsFunc([]string{"npm:", "jsr:", "data:", "node:"}, func(s string) bool { return strings.HasPrefix(word, s) })
	}
	flags := strings.Fields(r.flags)
	if strings.HasPrefix(r.begins, "go ") {
		name = "-" + strings.TrimLeft(name, "-")
		if goWrites(name[1:]) && name != "-o" {
			return true
		}
	}
	if name = strings.TrimRight(name, "0123456789"); slices.Contains(flags, name) {
		return true
	}
	letters := strings.TrimPrefix(name, "-")
	return letters != "" && !strings.ContainsFunc(letters, func(l rune) bool { return l == '-' || !slices.Contains(flags, "-"+string(l)) })
}

func startsWith(argv, l []string) bool {
	return len(l) > 0 && len(argv) >= len(l) && slices.Equal(l, argv[:len(l)])
}

// listsCommand reports a command that a person or the permit lists: one of Checks as it stands, or
// followed by more words where longer is true.
func (t Terms) listsCommand(argv []string, longer bool) bool {
	return slices.ContainsFunc(t.Commands, func(l []string) bool { return startsWith(argv, l) }) ||
		slices.ContainsFunc(t.Checks, func(l []string) bool { return startsWith(argv, l) && (longer || len(l) == len(argv)) })
}

// isWork reports a command that the session runs under any permit: one that tests, one that a
// person listed, or the gate that its permit names.
func (g Grant) isWork(argv []string) bool { return IsTest(argv) || g.terms.listsCommand(argv, false) }
