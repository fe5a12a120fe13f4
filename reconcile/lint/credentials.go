package lint

import (
	"fmt"

	"github.com/odd-cli/odd/reconcile/policy"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// FindSecrets finds credentials that a change brings in: those in no file of it at
// the base, wherever they have moved. The finding never shows the credential. What
// only looks like one by its place, in a test, is a finding of its own: tests hold
// made-up passwords and keys.
func FindSecrets(files []File) []policy.Finding {
	old := map[string]bool{}
	for _, f := range files {
		for _, s := range secrets.Find(f.Before) {
			old[s.Value] = true
		}
	}
	var out []policy.Finding
	for _, f := range files {
		for _, s := range secrets.Find(f.After) {
			if old[s.Value] || s.ByPlace && lockFile().MatchString(f.Path) && digest().MatchString(s.Value) { // beside the name of a package
				continue
			}
			if s.ByPlace && testPath().MatchString(f.Path) {
				out = append(out, newFinding("secret_in_test", policy.ByText, f.Path, s.Line, fmt.Sprintf("a test contains something that looks like a credential (%s)", s.Kind)))
				continue
			}
			out = append(out, newFinding("secret_introduced", policy.ByText, f.Path, s.Line, fmt.Sprintf("contains something that looks like a credential (%s)", s.Kind)))
		}
	}
	return out
}

var testPath = lazy(`(?i)_test\.go$|(?:^|/)(?:testdata|tests?|__tests__|fixtures|spec)/|(?:^|/)test_[^/]*\.py$|[._](?:test|spec)\.[a-z]+$`)

var (
	// lockFile finds the files in which package managers keep checksums.
	lockFile = lazy(`(?i)(?:^|/)(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lock|deno\.lock|go\.sum|go\.work\.sum|cargo\.lock|poetry\.lock|pdm\.lock|uv\.lock|pipfile\.lock|gemfile\.lock|composer\.lock|mix\.lock|pubspec\.lock|podfile\.lock|package\.resolved|flake\.lock|packages\.lock\.json)$`)
	// digest is a checksum: SHA-1, SHA-256 or SHA-512 in hex or in base64.
	digest = lazy(`^(?:sha(?:1|256|512)[-:=]|h1:|\d+c\d+/)?(?:[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{128}|[A-Za-z0-9+/]{27}=|[A-Za-z0-9+/]{43}=|[A-Za-z0-9+/]{86}==)$`)
)
