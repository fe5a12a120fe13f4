package journal

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// tsv writes rows with "|" for a tab, as the tests are easier to read so.
func tsv(rows ...string) []byte {
	return []byte(strings.ReplaceAll(strings.Join(rows, "\n")+"\n", "|", "\t"))
}

const head = "type|typeName|facet|quality_score|quality_max|quality_level|title|content"

// parse reads a file that must be a journal and tells its problems as "line: text".
func parse(t testing.TB, b []byte) ([]Entry, []string) {
	t.Helper()
	entries, problems, err := Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, p := range problems {
		out = append(out, fmt.Sprintf("%d: %s", p.Line, p.Message))
	}
	return entries, out
}

func TestParseReadsTheFiveShapes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		file []byte
		want []Entry
	}{
		{"A, eight columns", tsv(head,
			`D|Decision||5|5|strong|"Quoted" from the start|Content with "quotes and a \n in it`,
			"O|Observation|open|3|5|adequate|Who owns the glossary?|Nobody."),
			[]Entry{
				{Type: "D", TypeName: "Decision", Score: "5", Max: "5", Level: "strong", Title: `"Quoted" from the start`, Content: `Content with "quotes and a \n in it`, Line: 2},
				{Type: "O", TypeName: "Observation", Facet: "open", Score: "3", Max: "5", Level: "adequate", Title: "Who owns the glossary?", Content: "Nobody.", Line: 3},
			}},
		{"B, a width for each letter", tsv(
			"D|Keep JSON lines|A line is written once.|It diffs well.|SQLite|two-way",
			"O|Three files differ|Counted by hand.|run 7|verified",
			"O|open|P1.2|Who owns it?|Nobody said.",
			"H|Over to the desk|Next: the prices.||desk",
			"E|Captured|This file."),
			[]Entry{
				{Type: "D", TypeName: "Decision", Title: "Keep JSON lines", Content: "A line is written once.", Line: 1,
					More: []Field{{"rationale", "It diffs well."}, {"alternatives", "SQLite"}, {"reversibility", "two-way"}}},
				{Type: "O", TypeName: "Observation", Title: "Three files differ", Content: "Counted by hand.", Line: 2, More: []Field{{"source", "run 7"}, {"verifiability", "verified"}}},
				{Type: "O", TypeName: "Open", Facet: "open", Title: "Who owns it?", Content: "Nobody said.", Line: 3, More: []Field{{"priority", "P1.2"}}},
				{Type: "H", TypeName: "Handoff", Title: "Over to the desk", Content: "Next: the prices.", Line: 4, More: []Field{{"blocked_by", ""}, {"owner", "desk"}}},
				{Type: "E", TypeName: "Encode", Title: "Captured", Content: "This file.", Line: 5},
			}},
		{"C, letter, summary, detail", tsv("D|Keep it|Because.", "[O-open P1]|Ask|Whom?", "L|Learned|That."),
			[]Entry{
				{Type: "D", TypeName: "Decision", Title: "Keep it", Content: "Because.", Line: 1},
				{Type: "O", TypeName: "Open", Facet: "open", Title: "Ask", Content: "Whom?", Line: 2, More: []Field{{"priority", "P1"}}},
				{Type: "L", TypeName: "Learning", Title: "Learned", Content: "That.", Line: 3},
			}},
		{"nothing", nil, nil},
	} {
		got, problems := parse(t, c.file)
		if d := cmp.Diff(c.want, got); d != "" || problems != nil {
			t.Errorf("%s: %v\n%s", c.name, problems, d)
		}
	}
}

// The irregularities measured in journals people keep.
func TestParseLocatesIrregularities(t *testing.T) {
	t.Parallel()
	good := "E|Encode||5|5|high|Kept|All of it."
	for _, c := range []struct {
		name    string
		file    []byte
		entries int
		want    []string
	}{
		{"a doubled tab", tsv(head, good, "D|Decision|||5|5|strong|Split it|In two."), 2,
			[]string{"3: a doubled tab behind the facet shifts the columns; odd journal lint --fix removes it"}},
		{"nine columns for another reason", tsv(head, "D|Decision||5|5|strong|Split|it|In two."), 0, []string{"2: 9 columns, want 8; is a tab missing, or inside a text?"}},
		{"nine columns without numbers", tsv(head, "D|Decision|||five|5|strong|Split|In two."), 0, []string{"2: 9 columns, want 8; is a tab missing, or inside a text?"}},
		{"seven columns", tsv(head, "D|Decision|5|5|strong|Split|In two.", good), 1, []string{"2: 7 columns, want 8; is a tab missing, or inside a text?"}},
		{"CRLF", []byte("type\ttypeName\tfacet\tquality_score\tquality_max\tquality_level\ttitle\tcontent\r\nE\tEncode\t\t5\t5\thigh\tKept\tAll\r\n"), 1,
			[]string{"1: CRLF line ends; save the file with LF"}},
		{"a byte order mark", append([]byte("\xef\xbb\xbf"), tsv(head, good)...), 1, []string{"1: begins with a byte order mark; save the file without it"}},
		{"no newline at the end", bytes.TrimSuffix(tsv(head, good), []byte("\n")), 1, []string{"2: no newline at the end; the row may be torn"}},
		{"an open one by its name", tsv(head, "O|Open||3|5|medium|Ask|Whom?", "O|Observation (Open)||3|5|medium|Ask|Whom?"), 2, nil},
		{"a facet that is a word", tsv(head, "O|Observation|correction|3|4|adequate|Mended|It."), 1, nil},
		{"an unknown letter", tsv(head, "P|Principle||3|4|adequate|First|It."), 1, []string{`2: unknown type "P"; known are D O L C H E O-open T`}},
		{"a question mark for a letter", tsv(head, "?|Open||3|4|adequate|First|It."), 1, []string{`2: unknown type "?"; known are D O L C H E O-open T`}},
		{"a letter under another name", tsv(head, "L|Lesson||3|4|adequate|First|It."), 1, []string{`2: type L is Learning, not "Lesson"`}},
		{"the H twice", tsv(head, "E|Encode||3|4|adequate|The DOLCHEO+H set|It."), 1, []string{`2: "DOLCHEO+H": the letter is in the name already; write DOLCHEO`}},
		{"the T twice", tsv(head, "E|Encode||3|4|adequate|The set|DOLCHEOT+T."), 1, []string{`2: "DOLCHEOT+T": the letter is in the name already; write DOLCHEOT`}},
		{"the five letters of old", tsv(head, "E|Encode||3|4|adequate|The OLDC+H set|It."), 1, nil},
		{"no title", tsv(head, "E|Encode||3|4|adequate||It."), 1, []string{"2: no title"}},
		{"quality in words", tsv(head, "E|Encode||good|4|adequate|X|It."), 1, []string{`2: quality "good" is not a whole number`}},
		{"more quality than there is", tsv(head, "E|Encode||5|4|adequate|X|It."), 1, []string{"2: quality 5 of 4 is more than there is"}},
		{"no quality", tsv(head, "E|Encode|||||X|It."), 1, nil},
		{"an empty line", tsv(head, "", good, ""), 1, nil},
		{"a priority in words", tsv("O|open|soon|Ask|Whom?"), 1, []string{`1: priority "soon" is not like P1 or P2.1`}},
		{"a row of one", tsv("D"), 0, []string{`1: 1 columns, which no entry of type "D" has`}},
		{"a row that is too wide", tsv("E|Captured|This.|that|more"), 0, []string{`1: 5 columns, which no entry of type "E" has`}},
		{"problems in the order of lines", tsv(head, "E|Encode||9|4|adequate||It.", "x"), 1,
			[]string{"2: no title", "2: quality 9 of 4 is more than there is", "3: 1 columns, want 8; is a tab missing, or inside a text?"}},
	} {
		entries, problems := parse(t, c.file)
		if d := cmp.Diff(c.want, problems); d != "" || len(entries) != c.entries {
			t.Errorf("%s: %d entries, want %d\n%s", c.name, len(entries), c.entries, d)
		}
	}
}

func TestParseReadsADoubledTabAsItWasMeant(t *testing.T) {
	t.Parallel()
	got, _ := parse(t, tsv(head, "D|Decision|||5|5|strong|Split it|In two."))
	want := []Entry{{Type: "D", TypeName: "Decision", Score: "5", Max: "5", Level: "strong", Title: "Split it", Content: "In two.", Line: 2}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, file, want string }{
		{"Latin-1", "D\tx\ty\nD\tcaf\xe9\ty\n", "line 2: not UTF-8 text"},
		{"binary", "D\tx\ty\n\n\x00\n", "line 3: not UTF-8 text"},
		{"an unknown header", "Letter\tSummary\n", "line 1: unknown header; odd writes type, typeName"},
		{"three columns under names", "Type\tTitle\tBody\n", "line 1: unknown header; odd writes type, typeName"},
	} {
		entries, problems, err := Parse([]byte(c.file))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || entries != nil || problems != nil {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

func TestRegistryAddsLetters(t *testing.T) {
	t.Parallel()
	r := append(Standard(), Type{Letter: "P", Name: "Principle", Fields: []string{"title", "body", "reach"}})
	entries, problems, err := r.Parse(tsv("P|First|Do no harm.|everywhere"))
	want := []Entry{{Type: "P", TypeName: "Principle", Title: "First", Content: "Do no harm.", More: []Field{{"reach", "everywhere"}}, Line: 1}}
	if d := cmp.Diff(want, entries); err != nil || problems != nil || d != "" {
		t.Error(err, problems, d)
	}
}

func TestAppend(t *testing.T) {
	t.Parallel()
	b, err := Append(nil, Entry{Type: "O", Facet: "open", Score: "3", Max: "5", Level: "adequate", Title: "Ask\twhom?", Content: "One\r\ntwo\nthree\u2028\x1b[31m\"x\"\x00"})
	if err != nil {
		t.Fatal(err)
	}
	if b, err = Append(b, Entry{Type: "D", Title: "Keep it", Line: 99}); err != nil {
		t.Fatal(err)
	}
	want := string(tsv(head, `O|Open|open|3|5|adequate|Ask whom?|One\ntwo\nthree\n[31m"x"`, "D|Decision|||||Keep it|"))
	if d := cmp.Diff(want, string(b)); d != "" {
		t.Error(d)
	}
}

func TestAppendStartsANewRow(t *testing.T) {
	t.Parallel()
	torn := bytes.TrimSuffix(tsv(head, "E|Encode||||| Kept|"), []byte("\n"))
	b, err := Append(torn, Entry{Type: "E", Title: "Again"})
	if want := string(tsv(head, "E|Encode||||| Kept|", "E|Encode|||||Again|")); err != nil || string(b) != want {
		t.Errorf("got %q, %v", b, err)
	}
}

func TestAppendRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		file []byte
		e    Entry
		want string
	}{
		{"no type", nil, Entry{Title: "x", Type: " \x00"}, `entry "x": no type`},
		{"no title", nil, Entry{Type: "D", Title: "\x07 "}, "entry of type D: no title"},
		{"another shape", tsv("D|Keep it|Because."), Entry{Type: "D", Title: "x"}, "line 1: not the eight-column header"},
		{"what is no field", nil, Entry{Type: "D", Title: "x", More: []Field{{"mood", "y"}}}, `has "mood", which no type of entry has`},
	} {
		if _, err := Append(c.file, c.e); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

func TestFix(t *testing.T) {
	t.Parallel()
	broken := tsv(head, "D|Decision|||5|5|strong|One|a", "E|Encode||5|5|strong|Two|b", "x|y", "|||||||", "D||||5|5|strong|Three|c\r", "O|Open|||3|4|x|Four|d")
	want := tsv(head, "D|Decision||5|5|strong|One|a", "E|Encode||5|5|strong|Two|b", "x|y", "|||||||", "D|||5|5|strong|Three|c\r", "O|Open||3|4|x|Four|d")
	got, rows, err := Fix(broken)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("got %q, %v", got, err)
	}
	if d := cmp.Diff([]int{2, 6, 7}, rows); d != "" {
		t.Error(d)
	}
	again, rows, err := Fix(got)
	if err != nil || len(rows) != 0 || !bytes.Equal(again, got) {
		t.Errorf("a second fix did %v, %v", rows, err)
	}
}

// In the journals that have the defect every row has it, so that no row is odd
// among the others: only the header tells.
func TestFixComparesWithTheHeader(t *testing.T) {
	t.Parallel()
	rows := []string{
		`D|Decision||%s5|5|strong|Rename the "gate" to what it is|It reads: "a fix (1) is another pass". About 70%% less.`,
		`D|Decision||%s5|5|strong|Lift two rules to one|Named in five places; operator: "as role, not as mode."`,
		`O|Observation||%s4|5|medium|The draft had four roles|"Who checks it?" came up twice.`,
		`C|Constraint||%s5|5|strong|No vendor in a name|Names are kept, vendors change.`,
		`H|Handoff||%s5|5|strong|Ready for review|Three files.`,
	}
	all := func(extra string) []byte {
		out := []string{head}
		for _, r := range rows {
			out = append(out, fmt.Sprintf(r, extra))
		}
		return tsv(out...)
	}
	fixed, lines, err := Fix(all("|"))
	if err != nil || !bytes.Equal(fixed, all("")) {
		t.Errorf("%q, %v", fixed, err)
	}
	if d := cmp.Diff([]int{2, 3, 4, 5, 6}, lines); d != "" {
		t.Error(d)
	}
}

func TestFixLeavesOtherShapes(t *testing.T) {
	t.Parallel()
	other := tsv("D|||5|5|a|b|c|d")
	if got, rows, err := Fix(other); err != nil || len(rows) != 0 || !bytes.Equal(got, other) {
		t.Errorf("got %q %v %v", got, rows, err)
	}
	if _, _, err := Fix([]byte("\xff")); err == nil {
		t.Error("fixed what is no text")
	}
}

func TestPath(t *testing.T) {
	t.Parallel()
	date := time.Date(2026, 7, 1, 1, 0, 0, 0, time.FixedZone("east", 2*3600))
	for slug, want := range map[string]string{"run-01J": "journal/2026-06-30-run-01J.tsv", "../a b/ü": "journal/2026-06-30-..-a-b--.tsv"} {
		if got := Path(date, slug); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestWalk(t *testing.T) {
	t.Parallel()
	f := fstest.MapFS{"journal/b.tsv": {}, "journal/a.tsv": {}, "journal/README.md": {}, "journal/x/c.tsv": {}}
	var got []string
	if err := walkFiles(f, func(file string, _ []byte) error { got = append(got, file); return nil }); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"journal/a.tsv", "journal/b.tsv"}, got); d != "" {
		t.Error(d)
	}
	if err := walkFiles(fstest.MapFS{}, nil); err != nil {
		t.Errorf("without a journal: %v", err)
	}
}

// What is appended is read back, whatever is in it, and the file only grows.
func TestParseReadsWhatAppendWrites(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var b []byte
		var want []Entry
		for i := range rapid.IntRange(1, 4).Draw(t, "entries") {
			id := rapid.SampledFrom(Standard()).Draw(t, "type")
			e := Entry{Type: id.Letter, TypeName: id.Name, Facet: id.Facet, Title: "t" + rapid.String().Draw(t, "title"), Content: rapid.String().Draw(t, "content")}
			next, err := Append(b, e)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.HasPrefix(next, b) || bytes.Count(next, []byte("\n")) != i+2 {
				t.Fatalf("not one more row: %q", next)
			}
			e.Title, e.Content, e.Line = cleanCell(e.Title), cleanCell(e.Content), i+2
			b, want = next, append(want, e)
		}
		got, problems, err := Parse(b)
		if d := cmp.Diff(want, got); err != nil || len(problems) > 0 || d != "" {
			t.Fatal(err, problems, d)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add(tsv(head, "D|Decision|||5|5|strong|One|a", "O|Open||3|4|x|Four|d"))
	f.Add(tsv("O|open|P1|x|y", "[T]|a|b|c", "D|a|b|c|d|e|f"))
	f.Add(tsv(head, "O|Open|open||||x|y", "D|Decision||||a|b"))
	f.Add([]byte("type\ttypeName\tfacet\tquality_score\tquality_max\tquality_level\ttitle\tcontent\nO\tOpen\topen\t\t\t\tx\ty | priority: P1\nD\t\t\t1\t5\tweak\tx\ty | closes: a:2, b#3 | rationale: \\| x: z\n"))
	f.Add([]byte("\xef\xbb\xbfD\t\t\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		entries, problems, err := Parse(b)
		lines := 1 + bytes.Count(b, []byte("\n"))
		for _, e := range entries {
			if e.Line < 1 || e.Line > lines {
				t.Fatalf("an entry on line %d of %d", e.Line, lines)
			}
		}
		for _, p := range problems {
			if p.Line < 1 || p.Line > lines || p.Message == "" {
				t.Fatalf("a problem on line %d of %d", p.Line, lines)
			}
		}
		found, lintErr := Standard().Lint("journal/2026-03-02-ann.tsv", b)
		if (err == nil) != (lintErr == nil) || len(found) < len(problems) {
			t.Fatalf("Parse: %d and %v, Lint: %d and %v", len(problems), err, len(found), lintErr)
		}
		book := Standard().Book([]File{{"journal/a.tsv", "a.tsv", b}})
		if len(book.Entries) != len(entries) || len(book.Opens())+len(book.Tensions()) > len(entries) {
			t.Fatalf("%d entries became %d", len(entries), len(book.Entries))
		}
		fixed, rows, fixErr := Fix(b)
		if (err == nil) != (fixErr == nil) {
			t.Fatalf("Parse: %v, Fix: %v", err, fixErr)
		}
		if err == nil && len(b)-len(fixed) != len(rows) {
			t.Fatalf("%d rows repaired and %d bytes gone", len(rows), len(b)-len(fixed))
		}
	})
}

func TestTypeName(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{{"D", "", "Decision"}, {"O", "open", "Open"}, {"O", "correction", "Observation"}, {"O", "", "Observation"}, {"P", "", ""}} {
		if got := TypeName(c[0], c[1]); got != c[2] {
			t.Errorf("TypeName(%q, %q) = %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

func TestLevel(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		score, max int
		want       string
	}{{5, 5, "strong"}, {4, 5, "adequate"}, {3, 5, "adequate"}, {2, 5, "weak"}, {1, 5, "insufficient"}, {4, 4, "strong"}, {3, 4, "adequate"}, {2, 4, "weak"}, {1, 4, "insufficient"}} {
		if got := levelOf(c.score, c.max); got != c.want {
			t.Errorf("%d of %d is %s, want %s", c.score, c.max, got, c.want)
		}
	}
}

func TestEntryID(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]Entry{"D": {Type: "D"}, "O-open": {Type: "O", Facet: "open"}, "O": {Type: "O", Facet: "correction"}, "P": {Type: "P"}} {
		if got := e.ID(); got != want {
			t.Errorf("%v is %s, want %s", e, got, want)
		}
	}
}
