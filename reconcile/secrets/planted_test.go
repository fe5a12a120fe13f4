package secrets

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// pieces reads a table of testdata: rows of tab-separated pieces, put together
// here, so that no scanner takes the file for a leak.
func pieces(t testing.TB, name string) [][]string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var out [][]string
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimSuffix(line, "\n"); line != "" && line[0] != '#' {
			out = append(out, strings.Split(line, "\t"))
		}
	}
	return out
}

// TestPlanted: what stands between the columns is gone, alone and in the middle
// of a text, and what stands around it is not.
func TestPlanted(t *testing.T) {
	t.Parallel()
	rows := pieces(t, "testdata/planted.tsv")
	if len(rows) < 40 {
		t.Errorf("%d rows", len(rows))
	}
	var all strings.Builder
	var gone []string
	for _, r := range rows {
		kind, lead, value, tail := r[0], r[1], strings.ReplaceAll(r[2], "|", ""), ""
		if len(r) > 3 {
			tail = r[3]
		}
		lead = strings.ReplaceAll(lead, "|", "")
		text := lead + value + tail
		got := RedactText("before\n" + text + "\nafter")
		if strings.Contains(got, value) || !strings.Contains(got, "[redacted:"+kind+"]") || !strings.HasPrefix(got, "before\n") || !strings.HasSuffix(got, "\nafter") {
			t.Errorf("%q: got %q, want it gone as %s", text, got, kind)
		}
		if quoted := RedactText(fmt.Sprintf("{\"a\": %q, \"b\": 1}", "x\n"+text+"\ny")); strings.Contains(quoted, value) {
			t.Errorf("%q: in JSON it stays: %s", text, quoted)
		}
		fmt.Fprintf(&all, "%s\n\n", text)
		gone = append(gone, value)
	}
	together := RedactText(all.String())
	for _, v := range gone {
		if strings.Contains(together, v) {
			t.Errorf("beside others %q stays", v)
		}
	}
	if twice := RedactText(together); twice != together {
		t.Error("not idempotent")
	}
}

func TestCleanLines(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("testdata/clean.txt")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(b)) {
		n++
		if got := RedactText(line); got != line {
			t.Errorf("%q became %q", line, got)
		}
	}
	if got := RedactText(string(b)); got != string(b) || n < 40 {
		t.Errorf("%d lines; together they do not survive", n)
	}
}

// TestRedactIsLinear holds the promise for texts that are all telling words: eight
// times as much takes nowhere near 64 times as much of the processor, whoever else
// is at work on it.
func TestRedactIsLinear(t *testing.T) {
	spent := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			t.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	took := func(line string, size int) time.Duration {
		b, best := []byte(strings.Repeat(line, size/len(line))), time.Hour
		for range 3 {
			began := spent()
			Redact(b)
			best = min(best, spent()-began)
		}
		return best
	}
	for _, line := range []string{
		"aws bearer authorization login url :// token sk- secret\n", "aws secret bearer authorization: curl -u login a password http://x:y token= ",
		"token_", "token=", "token=a1B2c3 ", "token=\"", "aws.", "curl -u", "a://", "aws\\nbearer\\ntoken\\nsk-\\n", "-----BEGIN ",
	} {
		small, large := took(line, 16<<10), took(line, 128<<10)
		if large > 32*max(small, time.Millisecond) {
			t.Errorf("%q: 16 KiB take %v, 128 KiB %v", line, small, large)
		}
		t.Logf("%q: %v, %v", line, small, large)
	}
}

// TestRedactBelowAName: a telling word in the line above takes nothing from a name
// with its value in the line below.
func TestRedactBelowAName(t *testing.T) {
	t.Parallel()
	for _, r := range pieces(t, "testdata/planted.tsv") {
		if r[0] != "aws-secret" {
			continue
		}
		value := strings.ReplaceAll(r[2], "|", "")
		if got := RedactText("the aws account\naws_secret_access_key =\n" + value + "\n"); strings.Contains(got, value) {
			t.Errorf("%q stays", got)
		}
	}
}

func BenchmarkRedact(b *testing.B) {
	for name, line := range map[string]string{
		"prose": "The quick brown fox jumps over the lazy dog, and nobody asks why it should.\n",
		"code":  "\tif err := s.Read(ctx, r.Token); err != nil { return fmt.Errorf(\"%s: %w\", name, err) }\n",
		"mixed": strings.Repeat("The quick brown fox jumps over the lazy dog.\n", 40) + "see https://example.org/a for the token of the aws account\n",
	} {
		text := []byte(strings.Repeat(line, (1<<20)/len(line)))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Redact(text)
			}
		})
	}
}
