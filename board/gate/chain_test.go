package gate

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// chainFile is a chain of four rows with one lease.
func chainFile(t testing.TB) []byte {
	d := newDesk(t)
	d.activateLease()
	d.mustDo(Act{Gate: EvaluationGate})
	d.mustDo(Act{Gate: EvaluationGate, Kind: "release", To: Sensemaking})
	return d.s.Gates
}

func TestReadChain(t *testing.T) {
	t.Parallel()
	b := chainFile(t)
	c, err := ReadChain(b)
	if err != nil || len(c.Rows) != 4 || c.Stance() != Sensemaking || c.NextID() != "G-0005" {
		t.Fatalf("%+v, %v", c, err)
	}
	if r, ok := c.Last("L-0001"); !ok || r.ID != "G-0004" {
		t.Errorf("last %v", r)
	}
	if _, ok := c.Last(""); ok {
		t.Error("a lease without a name has rows")
	}
	if empty, err := ReadChain(nil); err != nil || empty.Stance() != Sensemaking || len(empty.Rows) != 0 {
		t.Errorf("%v %v", empty, err)
	}
}

// rehash gives every row the link it needs, so that only the change itself is
// wrong.
func rehash(b string) string {
	prev, out := "", ""
	for line := range strings.Lines(b) {
		line = strings.TrimSuffix(line, "\n")
		at := strings.LastIndex(line, `"prev":"`)
		if at >= 0 {
			line = line[:at] + `"prev":"` + prev + `"}`
		}
		prev = Sum([]byte(line))
		out += line + "\n"
	}
	return out
}

func TestReadChainRefuses(t *testing.T) {
	t.Parallel()
	good := string(chainFile(t))
	lines := strings.SplitAfter(good, "\n")
	if rehash(good) != good {
		t.Fatalf("a whole chain is rehashed to another:\n%s", rehash(good))
	}
	for _, c := range []struct{ name, text, want string }{
		{"a reason changed", strings.Replace(good, "draft L-0001", "draft L-1001", 1), "line 2: G-0002: prev is not the SHA-256"},
		{"a row out", rehash(lines[0] + lines[2] + lines[3]), `line 2: id "G-0003", want G-0002`},
		{"a row twice", lines[0] + lines[0], `line 2: id "G-0001"`},
		{"torn", strings.TrimSuffix(good, "\n"), "line 4: torn"},
		{"an empty line", lines[0] + "\n" + lines[1], "line 2: "},
		{"an unknown key", rehash(strings.Replace(good, `"v":1,`, `"v":1,"x":2,`, 1)), `line 1: unknown field "x"`},
		{"a key in capitals", rehash(strings.Replace(good, `"gate":`, `"Gate":`, 1)), "line 1: not as odd writes it"},
		{"a key twice", rehash(strings.Replace(good, `"v":1,`, `"v":1,"v":1,`, 1)), "line 1: not as odd writes it"},
		{"a space", rehash(strings.Replace(good, `"v":1,`, `"v":1, `, 1)), "line 1: not as odd writes it"},
		{"two objects", strings.Replace(good, "}\n", "}{}\n", 1), "line 1: not as odd writes it"},
		{"no object", "[]\n", "line 1: "},
		{"a version", rehash(strings.Replace(good, `"v":1`, `"v":2`, 1)), "line 1: version 2"},
		{"a gate", rehash(strings.Replace(good, `"gate":"framing"`, `"gate":"framin"`, 1)), `did you mean "framing"?`},
		{"an act of another gate", rehash(strings.Replace(good, `"act":"draft"`, `"act":"activate"`, 1)), `act "activate" is not one of the framing gate`},
		{"a transition", rehash(strings.Replace(good, `"to":"execution"`, `"to":"discovery"`, 1)), "line 2: G-0002: the commitment gate from sensemaking leads to execution"},
		{"a stance from nowhere", rehash(strings.Replace(good, `"from":"execution"`, `"from":"discovery"`, 1)), "line 3: G-0003: from discovery, but the stance was execution"},
		{"an agent", rehash(strings.Replace(good, "human:ann", "agent:ann", 1)), "line 1: by \"agent:ann@example.org\""},
		{"no reason", rehash(strings.Replace(good, `"reason":"draft L-0001"`, `"reason":""`, 1)), "line 1: reason"},
		{"a hidden reason", rehash(strings.Replace(good, `"reason":"draft L-0001"`, "\"reason\":\"a\u202eb\"", 1)), "line 1: reason"},
		{"a time set back", rehash(strings.Replace(good, "2026-07-01T09:03:00Z", "2026-07-01T08:56:59Z", 1)), "line 3: G-0003: ts"},
		{"a time elsewhere", rehash(strings.Replace(good, "2026-07-01T09:03:00Z", "2026-07-01T11:03:00+02:00", 1)), "line 3: ts"},
		{"no lease sum", rehash(strings.Replace(good, `"lease_sha256":"`, `"lease_sha256":"x`, 1)), "line 1: lease_sha256"},
		{"another lease", rehash(strings.ReplaceAll(good, `"lease":"L-0001"`, `"lease":"L-0002"`)), `line 1: G-0001: lease "L-0002", want "L-0001"`},
		{"an act the lease has not", rehash(strings.Replace(strings.Replace(lines[0], `"act":"draft"`, `"act":"renew"`, 1), "x", "x", 1)), "line 1: G-0001: renew of a lease that is none"},
		{"execution without a lease", rehash(strings.Replace(lines[0]+lines[1], `"act":"activate"`, `"act":"enter"`, 1)), "line 2: G-0002: execution with a lease that is draft"},
		{"a proposal that is none", rehash(strings.Replace(good, `,"prev"`, `,"proposals":["x"],"prev"`, 1)), "line 1: proposals"},
	} {
		chain, err := ReadChain([]byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) || len(chain.Rows) != 0 {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	within := rehash(strings.Replace(good, "2026-07-01T09:03:00Z", "2026-07-01T08:57:00Z", 1))
	if _, err := ReadChain([]byte(within)); err != nil {
		t.Errorf("five minutes back: %v", err)
	}
}

func TestAppendRefusesWhatCannotFollow(t *testing.T) {
	t.Parallel()
	b := chainFile(t)
	row := Row{TS: nine.Add(time.Hour), Gate: Framing, To: Discovery, Act: "frame", Lease: "L-0001", LeaseSum: Sum(nil), By: ann, Reason: "look around"}
	out, got, err := Append(b, row)
	if err != nil || got.ID != "G-0005" || got.From != Sensemaking || !strings.HasPrefix(string(out), string(b)) {
		t.Fatalf("%+v %v", got, err)
	}
	for name, change := range map[string]func(*Row){
		"transition": func(r *Row) { r.To = Evaluation },
		"from":       func(r *Row) { r.From = Execution },
		"time":       func(r *Row) { r.TS = nine.Add(-time.Hour) },
		"state":      func(r *Row) { r.Gate, r.Act, r.To = Commitment, "activate", Execution },
		"lease":      func(r *Row) { r.Lease = "L-0002" },
		"person":     func(r *Row) { r.By = "human:" },
	} {
		r := row
		change(&r)
		if out, _, err := Append(b, r); err == nil || out != nil {
			t.Errorf("%s: appended", name)
		}
	}
	if _, _, err := Append(b[:len(b)-1], row); err == nil {
		t.Error("appended to a torn chain")
	}
}

func FuzzReadChain(f *testing.F) {
	f.Add(chainFile(f))
	f.Add([]byte("{}\n"))
	f.Add([]byte(`{"v":1,"id":"G-0001"`))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := ReadChain(b)
		if err != nil {
			return
		}
		var out []byte
		for _, r := range c.Rows {
			if out, _, err = Append(out, r); err != nil {
				t.Fatal(err)
			}
		}
		if d := cmp.Diff(string(b), string(out)); d != "" {
			t.Fatal(d)
		}
	})
}
