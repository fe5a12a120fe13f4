package policy

import (
	"slices"
	"strings"
)

// TestCommands are how commands begin that build or test a work tree. A session may name one as
// its gate, and run it under any permit.
func TestCommands() []string {
	return append(wholeCommands(), strings.Split("go test,go vet,pytest,python -m pytest,python3 -m pytest,"+
		"npm test,npm run test,pnpm test,yarn test,npx jest,npx mocha,npx vitest,jest,mocha,vitest,cargo test,cargo check,cargo clippy,ctest,"+
		"bundle exec rspec,rspec,mix test,swift test,phpunit,deno test,bun test,odd check,odd anchor octave check,odd journal lint", ",")...)
}

// wholeCommands are those whose further words name more work to do, such as a release.
func wholeCommands() []string {
	return strings.Split("make test,make check,tox,mvn test,gradle test,./gradlew test,dotnet test,just test,just check", ",")
}

// isTest reports a command of TestCommands, or make by itself or with a target that builds.
func isTest(argv []string) bool {
	line := strings.Join(argv, " ")
	if slices.Contains(append(wholeCommands(), "make", "make all", "make build", "make lint", "make vet"), line) {
		return true
	}
	return slices.ContainsFunc(TestCommands()[len(wholeCommands()):], func(test string) bool { return strings.HasPrefix(line+" ", test+" ") })
}

// isWork reports a command that the session runs under any permit: one that tests, one that a
// person listed, or the gate that its permit names.
func (g Grant) isWork(argv []string) bool {
	begins := func(l []string) bool { return len(l) > 0 && len(argv) >= len(l) && slices.Equal(l, argv[:len(l)]) }
	same := func(l []string) bool { return slices.Equal(l, argv) }
	return isTest(argv) || slices.ContainsFunc(g.terms.Commands, begins) || slices.ContainsFunc(g.terms.Checks, same)
}
