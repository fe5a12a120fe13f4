package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSetLeaseTouchesOneValue(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"a value", "[governance]\nlease = \"off\"  # why\nrequire_signed = true\n", "[governance]\nlease = \"required\"  # why\nrequire_signed = true\n"},
		{"single quotes", " [governance] # g\n\tlease='off'\n[drain]\nlease = \"30m\"\n", " [governance] # g\n\tlease=\"required\"\n[drain]\nlease = \"30m\"\n"},
		{"another table's lease", "[drain]\nlease = \"30m\"\n[governance]\nrequire_signed = true\n", "[drain]\nlease = \"30m\"\n[governance]\nlease = \"required\"\nrequire_signed = true\n"},
		{"no such table", "[bundle]\nroot = \"k\"", "[bundle]\nroot = \"k\"\n\n[governance]\nlease = \"required\"\n"},
		{"no newline at the end", "[bundle]\nroot = \"k\"\n[governance]", "[bundle]\nroot = \"k\"\n[governance]\nlease = \"required\"\n"},
	} {
		got, err := SetLease("odd.toml", []byte(c.in), "required")
		if d := cmp.Diff(c.want, string(got)); err != nil || d != "" {
			t.Errorf("%s: %v\n%s", c.name, err, d)
		}
	}
	on, err := SetLease("odd.toml", Template(), "required")
	if err != nil {
		t.Fatal(err)
	}
	if off, err := SetLease("odd.toml", on, "off"); err != nil || string(off) != string(Template()) {
		t.Errorf("the template on and off again: %v\n%s", err, cmp.Diff(string(Template()), string(off)))
	}
}

func TestSetLeaseRefusesWhatItCannotKeep(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"governance = {lease = \"off\"}\n", "", "[governance]\nlease = 7\n"} {
		got, err := SetLease("odd.toml", []byte(in), "required")
		if err == nil || !strings.Contains(err.Error(), "odd.toml") {
			t.Errorf("%q: got %q, %v", in, got, err)
		}
	}
}

// Every way in which odd.toml can be written, and what one edit makes of it.
func TestSetTouchesOneValue(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, key, value, want string }{
		{"a number", "[drain]\nmax_tasks = 1 # why\nlease = \"1h\"\n", "drain.max_tasks", "4", "[drain]\nmax_tasks = 4 # why\nlease = \"1h\"\n"},
		{"Windows line ends", "[drain]\r\nmax_tasks = 1\r\nlease = \"1h\"\r\n", "drain.max_tasks", "4", "[drain]\r\nmax_tasks = 4\r\nlease = \"1h\"\r\n"},
		{"a list of several lines", "[session]\nfallback = [ # first\n  \"exec\", # ] not here\n  \"acp\",\n] # last\ncap = \"inferred\"\n[drain]\nmax_tasks = 1\n", "session.fallback", `["claude"]`, "[session]\nfallback = [\"claude\"] # last\ncap = \"inferred\"\n[drain]\nmax_tasks = 1\n"},
		{"a text of several lines", "[agent]\nname = \"\"\"\\\n  Bo\"\"\" # b\nemail = \"b@example.org\"\n", "agent.name", `"Al"`, "[agent]\nname = \"Al\" # b\nemail = \"b@example.org\"\n"},
		{"a dotted key", "drain.max_tasks = 1\ndrain.lease = \"1h\"\n", "drain.lease", `"2h"`, "drain.max_tasks = 1\ndrain.lease = \"2h\"\n"},
		{"a line that shows it", "[board]\n# remote = \"origin\"  # shared\n\n# [budget]\n# monthly_usd = 1\n[drain]\nmax_tasks = 1\n", "board.remote", `"hub"`, "[board]\nremote = \"hub\"  # shared\n\n# [budget]\n# monthly_usd = 1\n[drain]\nmax_tasks = 1\n"},
		{"a table that is only shown", "[drain]\nmax_tasks = 1\n# [budget]\n# monthly_usd = 20.00\n", "budget.monthly_usd", "5", "[drain]\nmax_tasks = 1\n[budget]\nmonthly_usd = 5\n"},
		{"a table that is only named", "[drain]\nmax_tasks = 1\n# [budget]\n", "budget.monthly_usd", "5", "[drain]\nmax_tasks = 1\n# [budget]\n\n[budget]\nmonthly_usd = 5\n"},
		{"a name with dots", "[drain]\nmax_tasks = 1\n[prices.\"m-2.5\"]\ninput_usd = 1\noutput_usd = 2\n", `prices."m-2.5".output_usd`, "3", "[drain]\nmax_tasks = 1\n[prices.\"m-2.5\"]\ninput_usd = 1\noutput_usd = 3\n"},
		{"a team", "[budget]\nmonthly_usd = 9\n", "budget.teams.docs", "2.5", "[budget]\nmonthly_usd = 9\n\n[budget.teams]\ndocs = 2.5\n"},
	} {
		path, err := ParseKey(c.key)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Set("odd.toml", []byte(c.in), path, c.value)
		if d := cmp.Diff(c.want, string(got)); err != nil || d != "" {
			t.Errorf("%s: %v\n%s", c.name, err, d)
		}
	}
}

func TestUnsetTakesOutOneLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, key, want string }{
		{"[drain]\nmax_tasks = 1 # why\n# kept\nlease = \"1h\"\n", "drain.max_tasks", "[drain]\n# kept\nlease = \"1h\"\n"},
		{"[session]\nfallback = [\n  \"exec\",\n] # last\ncap = \"inferred\"", "session.fallback", "[session]\ncap = \"inferred\""},
		{"[session]\ncap = \"inferred\"\nmax_turns = 3", "session.max_turns", "[session]\ncap = \"inferred\"\n"},
	} {
		path, _ := ParseKey(c.key)
		got, err := Unset("odd.toml", []byte(c.in), path)
		if d := cmp.Diff(c.want, string(got)); err != nil || d != "" {
			t.Errorf("%s: %v\n%s", c.key, err, d)
		}
	}
}

// What cannot be edited without a change of something else, or would not be valid.
func TestEditsThatAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, key, value, want string }{
		{"drain = {max_tasks = 1, lease = \"1h\"}\n", "drain.max_tasks", "2", "odd.toml: drain.max_tasks cannot be edited safely"},
		{"drain = {lease = \"1h\"}\n", "drain.max_tasks", "2", "cannot be edited safely"},
		{"[drain]\nmax_tasks = 1\n", "drain.max_tasks", "0", "odd.toml:2: drain.max_tasks: want an integer from 1"},
		{"[drain]\nmax_tasks = 1\n", "drain.max_tasks", "1\nlease = \"2h\"", "is no TOML value"},
		{"[drain]\nmax_tasks = 1\n", "budget.hard_stop_usd", "5", "odd.toml:4: budget: has no monthly_usd"},
		{"[drain]\nmax_tasks = = 1\n", "drain.lease", `"2h"`, "odd.toml:2: "},
		{"[drain]\nmax_tasks = 1\n", "drain.max_tasks.x", "1", "cannot be edited safely"},
	} {
		path, _ := ParseKey(c.key)
		_, err := Set("odd.toml", []byte(c.in), path, c.value)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s = %s: %v, want %s", c.key, c.value, err, c.want)
		}
	}
	for _, c := range []struct{ in, key, want string }{
		{"drain = {max_tasks = 1, lease = \"1h\"}\n", "drain.max_tasks", "cannot be edited safely"},
		{"[drain]\nmax_tasks = 1\n", "drain.lease", "cannot be edited safely"},
		{"[drain]\nmax_tasks = 1\n", "drain.max_tasks", "odd.toml:1: empty"},
	} {
		path, _ := ParseKey(c.key)
		if _, err := Unset("odd.toml", []byte(c.in), path); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("unset %s: %v, want %s", c.key, err, c.want)
		}
	}
}

func TestLiteralKnowsTheKindOfAKey(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ key, words, want string }{
		{"session.substrate", "claude", `"claude"`}, {"session.model", "5", `"5"`}, {"drain.max_tasks", "5", "5"}, {"drain.max_tasks", "five", `"five"`},
		{"budget.monthly_usd", "0.30", "0.30"}, {"sandbox.unix_sockets", "true", "true"}, {"session.fallback", "claude,openai", `["claude", "openai"]`},
		{"session.fallback", `["exec"]`, `["exec"]`}, {"pipeline.validate", "make,test", `[["make", "test"]]`}, {"route.complex.substrate", "exec", `"exec"`},
	} {
		path, _ := ParseKey(c.key)
		if got := Literal(path, strings.Split(c.words, ",")); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.key, c.words, got, c.want)
		}
	}
}

func TestParseKeyRefuses(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "a..b", "a b", "a = 1 #", "a = 1\nb", "[a]", "a.", "é"} {
		if got, err := ParseKey(s); err == nil {
			t.Errorf("%q: %q", s, got)
		}
	}
}

func TestSettingsAreWhatIsSet(t *testing.T) {
	t.Parallel()
	got, err := Settings("odd.toml", []byte("[budget]\nmonthly_usd = 1_0.50\n[pipeline]\nvalidate = [[\"make\", \"test\"]]\n[[mcp]]\nname = \"files\"\nargv = [\"x\"]\ntools = [\"*\"]\n"))
	var keys []string
	for _, s := range got {
		keys = append(keys, s.Key+" "+s.Value)
	}
	want := []string{"budget.monthly_usd 10.50", `pipeline.validate [["make", "test"]]`, `mcp.1.name "files"`, `mcp.1.argv ["x"]`, `mcp.1.tools ["*"]`}
	if d := cmp.Diff(want, keys); err != nil || d != "" {
		t.Error(err, d)
	}
}

// An edit changes the one value, or nothing: whatever the file.
func FuzzSet(f *testing.F) {
	f.Add(Template(), "drain.max_tasks", "2")
	f.Add([]byte("drain.max_tasks = 1\n[board] # x\n# remote = 'a'\n"), "board.remote", "'hub'")
	f.Add([]byte("[session]\nfallback = [\"a]\", '''x''', # y\n]"), "session.fallback", "[\"exec\"]")
	f.Fuzz(func(t *testing.T, b []byte, key, value string) {
		path, err := ParseKey(key)
		if err != nil {
			return
		}
		out, err := Set("odd.toml", b, path, value)
		if err != nil {
			return
		}
		if _, err := Parse("odd.toml", out); err != nil {
			t.Fatalf("%q: %v", out, err)
		}
		if back, err := Unset("odd.toml", out, path); err == nil {
			if _, err := decodeTOML("odd.toml", back); err != nil {
				t.Fatalf("%q: %v", back, err)
			}
		}
	})
}
