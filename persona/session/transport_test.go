package session

import (
	"strings"
	"testing"
)

func TestClassOfStatus(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		said   string
		want   Class
	}{
		{301, "", Permanent}, {400, "no such field", Permanent}, {401, "", Permanent}, {404, "", Permanent}, {499, "", Permanent},
		{400, "prompt is too long: 2 tokens > 1", ContextOverflow}, {422, "this model's maximum context length is 8192 tokens", ContextOverflow}, {413, "", ContextOverflow},
		{429, "", RateLimited}, {429, "the context window is full", RateLimited},
		{408, "", TimedOut}, {504, "", TimedOut}, {409, "", TransientTransport}, {425, "", TransientTransport},
		{500, "prompt is too long", ServerError}, {502, "", ServerError}, {529, "", ServerError},
	} {
		if got := ClassOfStatus(c.status, c.said); got != c.want {
			t.Errorf("%d %q: got %s, want %s", c.status, c.said, got, c.want)
		}
	}
}

func TestOverflows(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]bool{
		"Prompt is too long": true, "Input is too long for requested model": true, "context_length_exceeded": true, "the context-window is 8k": true,
		"too many input tokens": true, "too many tokens": true, "too many requests": false, "maximum prompt length": true, "exceeds the available context size": true,
		"the context of this word": false, "maximum retries": false, "": false,
	} {
		if got := Overflows(said); got != want {
			t.Errorf("%q: got %v", said, got)
		}
	}
}

// What a failure tells is one line of at most 400 characters, in which nothing hides
// and no credential stands.
func TestShown(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", maxShown)
	for said, want := range map[string]string{
		" a\n\n\tb ":      "a b",
		"a\u202eb\u200bc": "abc",
		"a\xffb":          "a?b",
		"ghp" + "_0123456789abcdefghijABCDEFGHIJ x": "[redacted:github-token] x",
		long:       long,
		long + "é": long + " …",
	} {
		if got := Shown(said); got != want {
			t.Errorf("%q: got %q", said, got)
		}
	}
}
