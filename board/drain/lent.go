package drain

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/persona/session"
)

// lent are the credentials that odd.toml lends to programs by the names of their
// variables. Any word may be one, so that no shape tells it; the variable's name does.
// The longest value comes first: it may hold another.
type lent []credential

type credential struct{ name, value string }

// leastLent is how long a value is, in bytes, that no text holds by chance.
const leastLent = 8

// tellsCredential is a variable whose value is nobody's to read.
var tellsCredential = regexp.MustCompile(`(?i)(KEY|TOKEN|SECRET|PASS|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|COOKIE|_AUTH|_PAT|_DSN)(_?\d+)?$`)

// lentSecrets returns the credentials that a configuration hands on from environ.
func lentSecrets(cfg config.Config, environ []string) lent {
	names := slices.Concat(cfg.Pipeline.CheckEnv, cfg.Agent("claude").Env)
	for _, s := range cfg.Substrates {
		names = append(append(names, s.Env...), s.KeyEnv)
	}
	for _, s := range cfg.Servers {
		names = append(append(names, s.Env...), s.TokenEnv)
	}
	return envCredentials(slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return !slices.Contains(names, name)
	}))
}

// envCredentials returns the values of the variables whose names tell of a credential.
func envCredentials(environ []string) (out lent) {
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

// hideValues is b with the variable's name in the place of each value.
func (l lent) hideValues(b []byte) []byte {
	for _, c := range l {
		b = bytes.ReplaceAll(b, []byte(c.value), []byte("[redacted:"+c.name+"]"))
	}
	return b
}

// findValue is the variable whose value stands in a text, "" for none.
func (l lent) findValue(texts ...[]byte) string {
	for _, c := range l {
		if slices.ContainsFunc(texts, func(b []byte) bool { return bytes.Contains(b, []byte(c.value)) }) {
			return c.name
		}
	}
	return ""
}

// withoutValues returns an emission as odd goes on with it: what a program said beside it, and what
// it asks of people, is without the values, and one that would put a value on the
// board is refused.
func (l lent) withoutValues(e session.Emission) session.Emission {
	if len(l) == 0 {
		return e
	}
	if name := l.findValue(textsOf(e)...); name != "" {
		f := session.Fail(failedLent, fmt.Sprintf("its output contains the value of the environment variable %s, so nothing of it is kept", name))
		f.Proposals, f.Usage, f.Raw, f.Transcript, f.Seen, f.Calls, f.Sandbox = e.Proposals, e.Usage, e.Raw, e.Transcript, e.Seen, e.Calls, e.Sandbox
		e = f
	}
	e.Raw, e.Transcript, e.Detail = l.hideValues(e.Raw), l.hideValues(e.Transcript), string(l.hideValues([]byte(e.Detail)))
	e.Proposals = slices.Clone(e.Proposals)
	for i, p := range e.Proposals {
		e.Proposals[i].Reason = string(l.hideValues([]byte(p.Reason)))
	}
	return e
}

// refuseValues says which files of a candidate hold a value, and leaves the candidate
// without it.
func (l lent) refuseValues(c *pipeline.Candidate) (no pipeline.Unusable) {
	c.Files = slices.Clone(c.Files)
	for i, e := range c.Files {
		if name := l.findValue(e.After); name != "" {
			c.Files[i].After = l.hideValues(e.After)
			no = append(no, pipeline.Fault{Code: failedLent, At: e.Path, Text: "contains the value of the environment variable " + name, Fix: "read it from the environment where it is needed"})
		}
	}
	return no
}

// failedLent is the failure of a session that emitted a credential which it was lent.
const failedLent = "lent-secret"

// textsOf returns the texts of an emission that go anywhere.
func textsOf(e session.Emission) (out [][]byte) {
	add := func(all ...string) {
		for _, s := range all {
			out = append(out, []byte(s))
		}
	}
	for _, a := range e.Atoms {
		out = append(out, a.Atom.Bytes())
		add(a.Atom.Path)
	}
	for _, c := range []*session.Change{e.Change, e.Plan, e.Expansion} {
		if c != nil {
			out = append(out, c.Text)
		}
	}
	for _, n := range e.Notes {
		add(n.Title, n.Content)
	}
	for _, s := range e.Says {
		add(s.Text)
	}
	for _, p := range e.Payloads {
		out = append(out, p.Text)
	}
	if e.Deliverable != nil {
		for _, t := range e.Deliverable.Texts() {
			add(*t.S)
		}
	}
	add(e.Handoff, e.Failure, e.Thread)
	add(e.Missing...)
	return out
}
