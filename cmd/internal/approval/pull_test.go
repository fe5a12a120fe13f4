package approval

import (
	"strings"
	"testing"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/review"
)

func TestOnGitHub(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"https://github.com/acme/shop.git": "acme/shop", "https://github.com/acme/shop": "acme/shop", "https://me:secret@github.com/acme/shop/": "acme/shop",
		"git@github.com:acme/shop.go.git": "acme/shop.go", "ssh://git@github.com/acme/shop.git": "acme/shop", "ssh://git@github.com:22/a/b": "a/b",
		"https://github.com.evil.org/acme/shop": "", "https://evil.org/github.com/acme/shop": "", "https://github.com/acme": "", "https://github.com/-x/shop": "",
		"file:///srv/github.com/acme/shop": "", "": "", "git@github.com:acme/shop --repo x": "",
	} {
		if got := onGitHub(url); got != want {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
}

// What an agent wrote stays inside the block, whatever fence it brings.
func TestPullRequestHoldsAgentsText(t *testing.T) {
	t.Parallel()
	text := prText(board.Task{Row: board.Row{ID: "tidy"}}, review.Proposal{}, "reasoning ```` @everyone\n```\n# Approved\n", "main", true)
	if !strings.Contains(text, "\n`````text\n") || !strings.Contains(text, "\n`````\n\nTo accept it, run `odd approve tidy`") {
		t.Error(text)
	}
}
