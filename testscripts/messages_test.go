package testscripts

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	inText  = regexp.MustCompile(`\bodd(?: -C \S+)?((?: [a-z][a-z-]+)+)`)
	ends    = regexp.MustCompile(`[;,.:)](?:\s|$)|\n| (?:or|and|odd) `) // of a command in a sentence
	listed  = regexp.MustCompile(`(?m)^  ([a-z][a-z-]+)  `)
	flagged = regexp.MustCompile(`(?:^| )(--[a-z][a-z0-9-]*)`)
	quoting = regexp.MustCompile(`'[^']*'`)
)

// tree answers what verbs there are, from odd's own help.
type tree struct {
	t     *testing.T
	pages map[string]string
	verbs map[string]map[string]bool
}

func (x tree) page(verb string) string {
	if _, ok := x.pages[verb]; !ok {
		x.pages[verb] = said(x.t, append([]string{"help"}, strings.Fields(verb)...)...)
	}
	return x.pages[verb]
}

// below are the verbs directly below a verb, or, for "all", the top-level ones.
func (x tree) below(verb string) map[string]bool {
	if out, ok := x.verbs[verb]; ok {
		return out
	}
	out := map[string]bool{}
	x.verbs[verb] = out
	page := x.page(verb)
	if verb != "all" {
		_, page, _ = strings.Cut(page, "\nCommands\n")
		page, _, _ = strings.Cut(page, "\n\n")
	}
	for _, m := range listed.FindAllStringSubmatch(page, -1) {
		out[m[1]] = true
	}
	return out
}

// wrongCommands says which commands a text names that odd does not have: a verb that
// stands below another, a noun without a verb of its own, a flag that its verb lacks.
func (x tree) wrongCommands(text string) (wrong []string, seen int) {
	words := inText.FindAllStringSubmatchIndex(text, -1)
	if len(words) == 0 {
		return nil, 0
	}
	top, nested := x.below("all"), map[string]string{}
	for noun := range top {
		for verb := range x.below(noun) {
			nested[verb] = noun
		}
	}
	for _, m := range words {
		words, rest := strings.Fields(text[m[2]:m[3]]), text[m[3]:]
		if end := ends.FindStringIndex(rest); end != nil {
			rest = rest[:end[0]]
		}
		rest, _, _ = strings.Cut(rest, " -- ") // what follows are another command's words
		if noun, ok := nested[words[0]]; ok && !top[words[0]] && !prose[words[0]] {
			wrong = append(wrong, "odd "+words[0]+" is odd "+noun+" "+words[0])
			continue
		}
		if !top[words[0]] {
			continue // odd reads, odd refuses
		}
		seen++
		at := words[0]
		for _, w := range words[1:] {
			if !x.below(at)[w] {
				if usage := "Usage: odd " + at + " COMMAND"; strings.Contains(x.page(at), usage) && !prose[w] {
					wrong = append(wrong, "odd "+at+" "+w)
				}
				break
			}
			at += " " + w
		}
		if strings.HasPrefix(rest, " %") && len(x.below(at)) > 0 {
			continue // the verb is filled in
		}
		for _, f := range flagged.FindAllStringSubmatch(quoting.ReplaceAllString(rest, ""), -1) {
			if !regexp.MustCompile(regexp.QuoteMeta(f[1]) + `(?:[ ,\]]|$)`).MatchString(x.page(at)) {
				wrong = append(wrong, "odd "+at+" has no "+f[1])
			}
		}
	}
	return wrong, seen
}

// prose are words that follow odd, or one of its nouns, in a sentence.
var prose = map[string]bool{"and": true, "alone": true, "by": true, "edits": true, "or": true, "is": true, "does": true, "reads": true, "run": true, "list": true, "show": true, "for": true, "has": true, "in": true, "with": true, "commits": true, "writes": true, "without": true, "names": true}

// TestMessagesNameWhatIsThere: a command that a string of the program names has a verb
// that odd has, and flags that the verb has.
func TestMessagesNameWhatIsThere(t *testing.T) {
	t.Parallel()
	files, err := tracked()
	if err != nil {
		t.Skipf("git ls-files: %v", err) // a source archive has no git
	}
	x, seen := tree{t, map[string]string{}, map[string]map[string]bool{}}, 0
	for _, name := range files {
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, filepath.Join(root, filepath.FromSlash(name)), nil, 0)
		if os.IsNotExist(err) {
			continue // deleted and not yet committed
		} else if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, _ := strconv.Unquote(lit.Value)
			wrong, n2 := x.wrongCommands(text)
			seen += n2
			for _, w := range wrong {
				t.Errorf("%s:%d: %s", name, set.Position(lit.Pos()).Line, w)
			}
			return true
		})
	}
	if seen < 200 {
		t.Errorf("only %d commands found in the messages", seen)
	}
}

// TestWrongCommands shows that the check of messages says no.
func TestWrongCommands(t *testing.T) {
	t.Parallel()
	x := tree{t, map[string]string{}, map[string]map[string]bool{}}
	for text, want := range map[string]string{
		"run odd drain, then odd review T --stat":  "",
		"odd keeps what odd task list shows":       "",
		"odd lease shows it":                       "odd lease is odd gate lease",
		"run odd op explain CODE":                  "odd op explain",
		"see odd gate lease check --jsn":           "odd gate lease check has no --jsn",
		"odd check --range A..B; odd drain --fast": "odd drain has no --fast",
		"odd drain --dry":                          "odd drain has no --dry",
	} {
		if wrong, _ := x.wrongCommands(text); strings.Join(wrong, "; ") != want {
			t.Errorf("%s: got %q, want %q", text, wrong, want)
		}
	}
}
