package session

import (
	"fmt"
	"strings"
	"testing"
)

// looked are calls from words: a tool, # and a number where the arguments differ,
// ! in front where it failed and ? where it was denied.
func looked(words string) (calls []Call) {
	for _, w := range strings.Fields(words) {
		c := Call{Status: CallOK}
		w, failed := strings.CutPrefix(w, "!")
		if failed {
			c.Status = CallFailed
		}
		if w, failed = strings.CutPrefix(w, "?"); failed {
			c.Status = CallDenied
		}
		c.Tool, c.Key, _ = strings.Cut(w, "#")
		calls = append(calls, c)
	}
	return calls
}

func TestExplore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, calls, given string
		milli              int64
		categories, unique int
		complexity         string
		enough             bool
	}{
		{"every kind", "read_file search_code get_callers list_symbols git_blame", "", 25_500, 5, 5, "architectural", true},
		{"two reads, symbols, blame", "read_file#1 read_file#2 list_symbols git_blame", "", 11_000, 3, 4, "complex", true},
		{"two reads, two lists, symbols", "read_file#1 read_file#2 list_dir#1 list_dir#2 list_symbols", "", 9_000, 3, 5, "complex", false},
		{"four reads", "read_file#1 read_file#2 read_file#3 read_file#4", "", 4_000, 1, 4, "simple", false},
		{"three reads and one again", "read_file#1 read_file#2 read_file#3 read_file#1", "", 3_000, 1, 3, "simple", false},
		{"two reads and a list", "read_file#1 read_file#2 list_dir", "", 3_750, 2, 3, "complex", false},
		{"a read and a search", "read_file search_code", "", 3_750, 2, 2, "simple", false}, // the floor of simple is 4
		{"a read, a search and a list", "read_file search_code list_dir", "", 4_500, 2, 3, "simple", true},
		{"complex at its floor", "read_file search_code get_callers", "", 10_000, 3, 3, "complex", true},
		{"four reads, two searches, two symbols", "read_file#1 read_file#2 read_file#3 read_file#4 search_code#1 search_code#2 list_symbols#1 list_symbols#2", "", 20_000, 3, 8, "complex", true},
		{"fifty reads", many("read_file", 50), "", 15_000, 1, 50, "simple", false},
		{"one failed search", "!search_code", "", 0, 0, 0, "simple", false},
		{"a failed search and a read", "!search_code read_file", "", 2_500, 1, 1, "simple", false},
		{"failed, then answered", "!search_code search_code read_file", "", 3_750, 2, 2, "simple", false},
		{"denied ones", "?git_blame ?git_log#1 ?get_callers read_file", "", 1_000, 1, 1, "simple", false},
		{"one file twice", "read_file#1 read_file#1 read_file#2", "", 2_000, 1, 2, "simple", false},
		{"what explores nothing", "read_file get_callers edit_file run", "", 5_250, 2, 2, "simple", true},
		{"files in the brief", "get_callers", "a b", 6_750, 2, 3, "simple", true},
		{"architectural without history", "read_file search_code get_callers list_symbols", "", 16_250, 4, 4, "architectural", false},
		{"architectural", "read_file search_code get_callers git_log", "", 16_250, 4, 4, "architectural", true},
		{"nothing for what is trivial", "", "", 0, 0, 0, "trivial", true},
		{"unknown is moderate", "read_file search_code list_dir", "", 4_500, 2, 3, "", false},
		{"moderate", "read_file search_code list_symbols", "", 8_000, 3, 3, "moderate", true},
	} {
		e := Explore(looked(c.calls), strings.Fields(c.given))
		if e.Milli != c.milli || len(e.Categories) != c.categories || e.Unique != c.unique {
			t.Errorf("%s: %d from %q, %d different; want %d from %d, %d", c.name, e.Milli, e.Categories, e.Unique, c.milli, c.categories, c.unique)
		}
		if short := e.Shortfall(c.complexity); (short == "") != c.enough {
			t.Errorf("%s: %s: %q", c.name, c.complexity, short)
		}
	}
}

func many(tool string, n int) string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("%s#%d", tool, i))
	}
	return strings.Join(out, " ")
}

func TestShortfallNamesWhatIsMissingFirst(t *testing.T) {
	t.Parallel()
	got := Explore(looked("read_file get_callers"), nil).Shortfall("architectural")
	for _, want := range []string{"score of 14", "so far it is 5.25 from 2", "it needs history", "not yet looked at: history with git_blame, git_log or git_diff; structure with list_symbols"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q\nwant %q in it", got, want)
		}
	}
}
