package agent

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/persona/session"
)

// Credentials are those that odd.toml lends to programs by the names of their
// variables. Any word may be one, so that no shape tells it; the variable's name does.
// The longest value comes first: it may hold another.
type Credentials []credential

type credential struct{ name, value string }

// leastLent is how long a value is, in bytes, that no text holds by chance.
const leastLent = 8

// tellsCredential is a variable whose value is nobody's to read.
var tellsCredential = regexp.MustCompile(`(?i)(KEY|TOKEN|SECRET|PASS|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|COOKIE|_AUTH|_PAT|_DSN)(_?\d+)?$`)

// Lent returns the credentials that a configuration hands on from environ.
func Lent(cfg config.Config, environ []string) Credentials {
	names := slices.Concat(cfg.Pipeline.CheckEnv, cfg.Agent("claude").Env)
	for _, s := range cfg.Substrates {
		names = append(append(names, s.Env...), s.KeyEnv)
	}
	for _, s := range cfg.Servers {
		names = append(append(names, s.Env...), s.TokenEnv)
	}
	return readCredentials(slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return !slices.Contains(names, name)
	}))
}

// readCredentials returns the values of the variables whose names tell of a credential.
func readCredentials(environ []string) (out Credentials) {
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		if len(value) >= leastLent && tellsCredential.MatchString(name) {
			out = append(out, credential{name, value})
			if b, _ := json.Marshal(value); string(b) != `"`+value+`"` {
				out = append(out, credential{name, string(b[1 : len(b)-1])}) // as JSON writes it
			}
		}
	}
	slices.SortStableFunc(out, func(a, b credential) int { return cmp.Compare(len(b.value), len(a.value)) })
	return out
}

// Hide is b with the variable's name in the place of each value.
func (l Credentials) Hide(b []byte) []byte {
	for _, c := range l {
		b = bytes.ReplaceAll(b, []byte(c.value), []byte("[redacted:"+c.name+"]"))
	}
	return b
}

// Find is the variable whose value stands in a text, "" for none.
func (l Credentials) Find(texts ...[]byte) string {
	for _, c := range l {
		if slices.ContainsFunc(texts, func(b []byte) bool { return bytes.Contains(b, []byte(c.value)) }) {
			return c.name
		}
	}
	return ""
}

// Clean returns an emission as odd goes on with it: what a program said beside it, and what
// it asks of people, is without the values, and one that would put a value on the
// board is refused.
func (l Credentials) Clean(e session.Emission) session.Emission {
	if len(l) == 0 {
		return e
	}
	e.Raw, e.Transcript, e.Detail = l.Hide(e.Raw), l.Hide(e.Transcript), string(l.Hide([]byte(e.Detail)))
	e.Proposals = slices.Clone(e.Proposals)
	for i, p := range e.Proposals {
		e.Proposals[i].Reason = string(l.Hide([]byte(p.Reason)))
	}
	name := l.Find(textsOf(e)...)
	if name == "" {
		return e
	}
	f := session.Fail(LentSecret, fmt.Sprintf("its output contains the value of the environment variable %s, so nothing of it is kept", name))
	f.Proposals, f.Usage, f.Raw, f.Transcript, f.Seen, f.Calls, f.Sandbox = e.Proposals, e.Usage, e.Raw, e.Transcript, e.Seen, e.Calls, e.Sandbox
	return f
}

// LentSecret is the failure of a session that emitted a credential which it was lent.
const LentSecret = "lent-secret"

// textsOf returns the texts of an emission that go anywhere.
func textsOf(e session.Emission) [][]byte {
	out := [][]byte{[]byte(e.Thread)}
	for _, a := range e.Atoms {
		out = append(out, a.Atom.Bytes(), []byte(a.Atom.Path))
	}
	for _, c := range []*session.Change{e.Change, e.Plan, e.Expansion} {
		if c != nil {
			out = append(out, c.Text)
		}
	}
	for _, p := range e.Payloads {
		out = append(out, p.Text)
	}
	words := e.Words()
	if e.Deliverable != nil {
		for _, t := range e.Deliverable.Texts() {
			words = append(words, t.S)
		}
	}
	for _, s := range words {
		out = append(out, []byte(*s))
	}
	return out
}
