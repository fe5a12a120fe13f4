package okf

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestWords(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, want string }{
		{"", ""},
		{"Publish the Articles!", "publish the article"},
		{"posts_questions.md", "post question md"},
		{"VoteTypeId and JSONValue", "vote type id votetypeid and jsonvalue"},
		{"don't 2026-07-10", "don t 2026 07 10"},
		{"Résumés cafés naïve", "resume cafe naive"},
		{"ＦＵＬＬ ﬁne", "full fine"},
		{"ΣΊΣΥΦΟΣ Σίσυφος", "σισυφοσ σισυφοσ"},
		{"知識グラフ 木", "知識 識ク クラ ラフ 木"},
		{"класс", "класс"},
		{"a\xffb", "a b"},
		{"e\u0301t\u0301", "et"},
	}
	for _, tt := range tests {
		var got []string
		eachWord(tt.in, func(w string) { got = append(got, w) })
		if d := cmp.Diff(tt.want, strings.Join(got, " ")); d != "" {
			t.Errorf("%q: %s", tt.in, d)
		}
	}
}

func TestSingular(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"roles": "role", "policies": "policy", "process": "process", "processes": "processe", "status": "status", "analysis": "analysis",
		"its": "its", "gas": "gas", "news": "new", "ties": "tie", "boxes": "boxe", "movies": "movy", "s": "s", "days": "day",
	} {
		if got := stripPlural(in); got != want {
			t.Errorf("singular(%q) = %q, want %q", in, got, want)
		}
	}
}

// library has one atom for each field a word may be in.
func library(t *testing.T) *Graph {
	t.Helper()
	return graph(t, map[string]string{
		"terms/title.md":    "type: term\ntitle: The ledger\n\nNothing else.",
		"terms/ledgers.md":  "type: term\n\nNothing else.",
		"terms/tag.md":      "type: term\ntags: [ledger]\n\nNothing else.",
		"terms/summary.md":  "type: term\ntitle: Book\ndescription: A ledger in other words.\n\nNothing else.",
		"terms/heading.md":  "type: term\n\n# Ledger\n\nNothing else.",
		"terms/body.md":     "type: term\n\nIt says ledger here.",
		"terms/code.md":     "type: term\n\n```\n# ledger\n```",
		"terms/long.md":     "type: term\n\nIt says ledger here." + strings.Repeat(" And more of other things.", 50),
		"terms/other.md":    "type: term\n\nJournal rows.",
		"terms/linked.md":   "type: term\n\nA ![xylophone](xylophone.png) [anchorage](xylophone/b.md) [c",
		"policies/month.md": "type: policy\ntitle: Month sums\n\nThe ledger is read once a month.\n\nA month is cached.",
	})
}

func found(hits []Hit) []string {
	var out []string
	for _, h := range hits {
		out = append(out, string(h.ID))
	}
	return out
}

// A word counts by the field it is in, and in a short body for more.
func TestSearchRanksByField(t *testing.T) {
	t.Parallel()
	want := []string{"terms/ledgers", "terms/title", "terms/heading", "terms/code", "terms/summary", "terms/tag", "terms/body", "policies/month", "terms/long"}
	got := found(library(t).Search("ledgers", 0))
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestSearch(t *testing.T) {
	t.Parallel()
	g := library(t)
	tests := []struct {
		name, query string
		limit       int
		want        []string
	}{
		{"all words before one", "ledger month", 2, []string{"policies/month", "terms/title"}},
		{"the named atom first", "terms/long", 1, []string{"terms/long"}},
		{"the stem first", "other", 2, []string{"terms/other", "terms/long"}},
		{"a beginning", "journ", 0, []string{"terms/other"}},
		{"another ending", "journaling", 0, []string{"terms/other"}},
		{"a question", "what is read in a month?", 0, []string{"policies/month"}},
		{"only a question", "what is this", 0, []string{"policies/month"}},
		{"a link's text and not its target", "anchorage", 0, []string{"terms/linked"}},
		{"accents", "mönth", 0, []string{"policies/month"}},
		{"nothing has it", "zither", 0, nil},
		{"too short for a beginning", "jo", 0, nil},
		{"no words", "?!", 0, nil},
		{"nothing asked", "", 0, nil},
	}
	for _, tt := range tests {
		if d := cmp.Diff(tt.want, found(g.Search(tt.query, tt.limit))); d != "" {
			t.Errorf("%s: -want +got\n%s", tt.name, d)
		}
	}
}

func TestWithoutTargets(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"[a](b) and [c](d)": "a and c", "x [a](b c) y": "x [a](b c) y", "![a](b)": "a", "](": "](", "a](b)": "a", "[a](": "[a](",
	} {
		if got := dropTargets(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

func TestSearchTiesByID(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 40 {
		files[fmt.Sprintf("z%d.md", i)] = fmt.Sprintf("type: term\nid: n%02d\n\nSame words.", 39-i)
	}
	hits := found(graph(t, files).Search("same", 0))
	for i, id := range hits {
		if want := fmt.Sprintf("n%02d", i); id != want {
			t.Fatalf("hit %d is %s, want %s", i, id, want)
		}
	}
}

func TestSearchSnippet(t *testing.T) {
	t.Parallel()
	g := library(t)
	tests := []struct {
		query, id string
		line      int
		text      string
	}{
		{"ledger month", "policies/month", 6, "The ledger is read once a month."},
		{"ledger", "terms/summary", 4, "A ledger in other words."},
		{"ledger", "terms/title", 0, ""},
		{"ledger", "terms/heading", 5, "Ledger"},
		{"month", "policies/month", 6, "The ledger is read once a month."},
	}
	for _, tt := range tests {
		for _, h := range g.Search(tt.query, 0) {
			if string(h.ID) == tt.id && (h.Line != tt.line || h.Text != tt.text) {
				t.Errorf("%s in %s: %d %q, want %d %q", tt.query, tt.id, h.Line, h.Text, tt.line, tt.text)
			}
		}
	}
	far := graph(t, map[string]string{"a.md": "type: x\n\n" + strings.Repeat("before ", 50) + "needle" + strings.Repeat(" after", 50)})
	text := far.Search("needle", 1)[0].Text
	if !strings.HasPrefix(text, "…before") || !strings.HasSuffix(text, "…") || !strings.Contains(text, "needle") || utf8.RuneCountInString(text) > snippetWidth {
		t.Errorf("excerpt %q", text)
	}
	one := graph(t, map[string]string{"a.md": "type: x\n\nneedle" + strings.Repeat("x", 300) + "\n" + strings.Repeat("y", 300) + " needle"})
	if text := one.Search("needle", 1)[0].Text; utf8.RuneCountInString(text) > snippetWidth || !strings.Contains(text, "needle") {
		t.Errorf("excerpt %q", text)
	}
}

func TestSearchAtOnce(t *testing.T) {
	t.Parallel()
	g := library(t)
	done := make(chan []string)
	for range 4 {
		go func() { done <- found(g.Search("ledger", 0)) }()
	}
	want := <-done
	for range 3 {
		if d := cmp.Diff(want, <-done); d != "" {
			t.Error(d)
		}
	}
}

// A short head of many is the head of them all.
func TestTop(t *testing.T) {
	t.Parallel()
	var list []int32
	for i := range int32(500) {
		list = append(list, i*7919%500)
	}
	for _, n := range []int{0, 1, 3, 200, 201, 499, 500, 600} {
		got := selectTop(slices.Clone(list), n, func(a, b int32) int { return int(a - b) })
		want := n
		if n == 0 || n > 500 {
			want = 500
		}
		if len(got) != want || !slices.IsSorted(got) || got[0] != 0 || got[len(got)-1] != int32(want-1) {
			t.Errorf("top %d is %d long: %v", n, len(got), got)
		}
	}
}

func TestSpell(t *testing.T) {
	t.Parallel()
	g := library(t)
	for in, want := range map[string]string{
		"ledgr": "ledger", "mnth sums": "month sum", "ledger month": "", "zither": "", "anchorman": "", "": "", "Legder of mont": "ledger of month",
	} {
		if got := g.Spell(in); got != want {
			t.Errorf("Spell(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestSearchWhere(t *testing.T) {
	t.Parallel()
	hits, total := library(t).SearchWhere("ledger", func(a *Atom) bool { return a.Type == "term" }, 2)
	if d := cmp.Diff([]string{"terms/title", "terms/heading"}, found(hits)); d != "" || total != 8 {
		t.Errorf("%v of %d", found(hits), total)
	}
	hits, total = library(t).SearchWhere("ledger", func(a *Atom) bool { return a.Type == "policy" }, 0)
	if d := cmp.Diff([]string{"policies/month"}, found(hits)); d != "" || total != 1 {
		t.Errorf("%v of %d", found(hits), total)
	}
}

func FuzzWords(f *testing.F) {
	for _, s := range []string{"Abc dEf", "知識グラフ", "a\u0301\u0301", "ﬃ", "\xff\xfe", "İIıi", "ß"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var got, want []string
		eachWord(s, func(w string) {
			got = append(got, w)
			if w == "" || strings.ContainsAny(w, " \t\n") || utf8.ValidString(s) && !utf8.ValidString(w) {
				t.Errorf("%q gives %q", s, w)
			}
		})
		for _, r := range strings.FieldsFunc(s, func(r rune) bool { return !isWordRune(r) }) {
			addRun(r, func(w string) { want = append(want, w) })
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q gives %q, its runs give %q", s, got, want)
		}
	})
}

// A word that no atom has stands for the same word with another ending, never for another
// word that begins alike.
func TestSearchFindsOtherEndingsOnly(t *testing.T) {
	t.Parallel()
	g := graph(t, map[string]string{
		"a.md": "type: term\nid: claim\n\nAn expense is paid back.",
		"b.md": "type: term\nid: other\n\nWhat is expected of experience; a policy of the company to offer.",
		"c.md": "type: term\nid: boat\n\nHe runs, writes and stops.",
	})
	for query, want := range map[string]string{
		"expensed": "claim", "running": "boat", "writer": "boat", "stopped": "boat", "expecting": "other",
		"expensive": "", "polite": "", "policing": "", "companion": "", "offence": "", "writhe": "",
	} {
		if got := strings.Join(found(g.Search(query, 0)), " "); got != want {
			t.Errorf("%s finds %q, want %q", query, got, want)
		}
	}
}
