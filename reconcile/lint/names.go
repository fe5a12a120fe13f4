package lint

import (
	"bytes"
	"fmt"
	"go/scanner"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/jsonc"
	"golang.org/x/text/unicode/norm"

	"github.com/odd-cli/odd/persona/jsontree"
	"github.com/odd-cli/odd/reconcile/policy"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// lookalikes are letters that are drawn like a letter of ASCII, or nearly so:
// those of Cyrillic, Greek and Armenian that Unicode's table of confusables
// gives an ASCII letter, and a few of Latin itself. Compatibility forms
// (full width, mathematical) are told by their normal form instead.
var lookalikes = map[rune]rune{
	'а': 'a', 'е': 'e', 'о': 'o', 'р': 'p', 'с': 'c', 'у': 'y', 'х': 'x', 'і': 'i', 'ј': 'j', 'ѕ': 's', 'ԁ': 'd', 'ԛ': 'q', 'ԝ': 'w', 'һ': 'h', 'ӏ': 'l', 'ѵ': 'v',
	'А': 'A', 'В': 'B', 'Е': 'E', 'К': 'K', 'М': 'M', 'Н': 'H', 'О': 'O', 'Р': 'P', 'С': 'C', 'Т': 'T', 'У': 'Y', 'Х': 'X', 'І': 'I', 'Ј': 'J', 'Ѕ': 'S', 'Ү': 'Y', 'Ԍ': 'G', 'Ѵ': 'V', 'З': '3', 'Ӏ': 'I',
	'Α': 'A', 'Β': 'B', 'Ε': 'E', 'Ζ': 'Z', 'Η': 'H', 'Ι': 'I', 'Κ': 'K', 'Μ': 'M', 'Ν': 'N', 'Ο': 'O', 'Ρ': 'P', 'Τ': 'T', 'Υ': 'Y', 'Χ': 'X',
	'α': 'a', 'ι': 'i', 'ν': 'v', 'ο': 'o', 'ρ': 'p', 'υ': 'u', 'ϲ': 'c', 'ϳ': 'j',
	'ո': 'n', 'օ': 'o', 'ս': 'u', 'հ': 'h', 'ց': 'g', 'զ': 'q', 'Օ': 'O', 'Տ': 'S', 'Լ': 'L', 'Ս': 'U',
	'ı': 'i', 'ɑ': 'a', 'ɡ': 'g', 'ɩ': 'i', 'ʏ': 'y', 'ᴄ': 'c', 'ᴏ': 'o', 'ᴠ': 'v', 'ᴡ': 'w', 'ᴢ': 'z', 'ꜱ': 's', 'ǀ': 'l', 'ɪ': 'i', 'ɴ': 'n', 'ʀ': 'r',
}

// checkName lists what is wrong with one name, be it an identifier, a key, an id or
// a path: nothing in it may be hidden, and none of it may be drawn like a name it
// is not. A name wholly of another script stands, unless it has several letters
// and each is drawn like an ASCII one. Prose is no name, and free.
func checkName(name string) []policy.Finding {
	var out []policy.Finding
	bad := func(code, text string) {
		out = append(out, newFinding(code, policy.ByBytes, "", 0, fmt.Sprintf("the name %+q %s", name, text)))
	}
	switch {
	case !utf8.ValidString(name):
		bad("name_not_utf8", "is not UTF-8")
	case strings.ContainsFunc(name, unicode.IsControl):
		bad("name_control", "has a control character")
	}
	if strings.ContainsFunc(name, secrets.IsUnseen) {
		bad("name_invisible", "has an invisible character or one that changes the writing direction")
	}
	if r, ok := isDisguised(name); ok {
		bad("name_confusable", fmt.Sprintf("has %U, which looks like %c", r, lookalikes[r]))
	}
	if plain := norm.NFKC.String(justLetters(name)); plain != justLetters(name) {
		bad("name_compatibility", fmt.Sprintf("is another spelling of %q", plain))
	}
	if r, ok := repairName(name); ok && r != name && !strings.ContainsFunc(name, secrets.IsUnseen) {
		bad("name_punctuation", fmt.Sprintf("has a character that only looks like an ASCII one; it should be %q", r))
	}
	return out
}

// isDisguised reports a name that is drawn like one of ASCII, by one of its letters: it
// mixes such a letter with those of ASCII, or has several and no others.
func isDisguised(name string) (sample rune, ok bool) {
	letters, ascii, alike := 0, 0, 0
	for _, r := range name {
		if !unicode.IsLetter(r) {
			continue
		}
		letters++
		switch {
		case r < utf8.RuneSelf:
			ascii++
		case lookalikes[r] != 0:
			alike++
			sample = r
		}
	}
	return sample, alike > 0 && (ascii > 0 || alike == letters && letters > 1)
}

// justLetters leaves a name's letters and their marks, without the sign for
// micro, which units are written with.
func justLetters(name string) string {
	return strings.Map(func(r rune) rune {
		if r != 'µ' && (unicode.IsLetter(r) || unicode.IsMark(r)) && !secrets.IsUnseen(r) {
			return r
		}
		return -1
	}, name)
}

// checkNames judges the names that a change brings in: its paths, the identifiers of
// its Go files, and the keys of its JSON, YAML, TOML and frontmatter. A name that
// one of its files had before is not its doing. In files that are not prose it
// refuses characters that turn the direction of writing anywhere, because they
// make code read otherwise than it runs.
func checkNames(files []File) []policy.Finding {
	old := namesBefore(files)
	var out []policy.Finding
	for _, f := range files {
		if f.After == nil {
			continue
		}
		names := namesIn(f.Path, f.After)
		for _, part := range strings.Split(f.Path, "/") {
			if !old[f.Path] {
				names = append(names, foundName{text: part, how: policy.ByBytes})
			}
		}
		told := map[string]bool{}
		for _, n := range names {
			if old[n.text] || told[n.text] {
				continue
			}
			told[n.text] = true
			for _, bad := range checkName(n.text) {
				bad.Path, bad.Line, bad.How = f.Path, n.line, n.how
				out = append(out, bad)
			}
		}
		if bytes.IndexByte(f.After, 0) < 0 { // else it is no text
			out = append(out, checkDirections(f)...)
		}
	}
	return out
}

// namesBefore are the names that the files of a change had, and their paths.
func namesBefore(files []File) map[string]bool {
	old := map[string]bool{}
	for _, f := range files {
		if f.Before != nil {
			old[f.Path] = true
		}
		for _, n := range namesIn(f.Path, f.Before) {
			old[n.text] = true
		}
	}
	return old
}

// foundName is one name in a file.
type foundName struct {
	text     string
	at, line int
	how      policy.How
}

// namesIn finds the names of a file: those of a language it knows.
func namesIn(p string, b []byte) []foundName {
	switch strings.ToLower(path.Ext(p)) {
	case ".go":
		names, _ := scanGo(b)
		return names
	case ".json":
		return jsonNames(b)
	case ".yaml", ".yml":
		return keyNames(b, yamlKey())
	case ".toml":
		return keyNames(b, tomlKey())
	case ".md", ".markdown":
		front, ok, err := splitFront(b)
		if !ok || err != nil {
			return nil
		}
		return keyNames(b[:bytes.Index(b, front)+len(front)], yamlKey())
	}
	return nil
}

// scanGo finds the identifiers of a Go file, and the characters of no token: what was typed
// in place of a sign of the language. errs is how many errors the scanner has.
func scanGo(b []byte) (out []foundName, errs int) {
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(b))
	s.Init(file, b, func(token.Position, string) { errs++ }, 0)
	for {
		pos, tok, lit := s.Scan()
		switch tok {
		case token.EOF:
			return out, errs
		case token.IDENT, token.ILLEGAL:
			out = append(out, foundName{lit, file.Offset(pos), file.Line(pos), policy.BySyntax})
		}
	}
}

// jsonNames reads the keys of a JSON file that parses, which may hold comments.
func jsonNames(b []byte) []foundName {
	root, err := jsontree.Parse(jsonc.ToJSON(b))
	if err != nil {
		return nil
	}
	var out []foundName
	line, at := 1, 0
	var walk func(n jsontree.Node)
	walk = func(n jsontree.Node) {
		for _, m := range n.Members {
			if n.Kind == '{' {
				line, at = line+bytes.Count(b[at:m.From], []byte("\n")), m.From
				out = append(out, foundName{m.Name, m.From + 1, line, policy.BySyntax})
			}
			walk(m.Value)
		}
	}
	walk(root)
	return out
}

var (
	yamlKey = lazy(`^[ \t]*(?:- +)*(?:"([^"\n]+)"|'([^'\n]+)'|([^\s#:"'\[{&*!|>%@-][^#:\n]*?))[ \t]*:(?:[ \t]|$)`)
	tomlKey = lazy(`^[ \t]*(?:\[\[?[ \t]*([^\]\n]+?)[ \t]*\]|"([^"\n]+)"[ \t]*=|([^\s#="'\[][^#="\n]*?)[ \t]*=)`)
)

// keyNames finds keys line by line. What stands in a block of text may be taken
// for a key too, which does no harm: prose rarely mixes alphabets in a word.
func keyNames(b []byte, key *regexp.Regexp) []foundName {
	var out []foundName
	from, i := 0, 0
	for line := range bytes.Lines(b) {
		i++
		m := key.FindSubmatchIndex(bytes.TrimRight(line, "\r\n"))
		for g := 2; g < len(m); g += 2 {
			if m[g] < 0 || bytes.Count(line[m[g]:m[g+1]], []byte(" ")) > 3 {
				continue // a sentence before a colon
			}
			name := string(line[m[g]:m[g+1]])
			out = append(out, foundName{name, from + m[g], i, policy.ByText})
			if rest := bytes.TrimLeft(line[m[1]:], " \t=\"'"); name == "id" {
				out = append(out, foundName{string(bytes.TrimRight(rest, " \t\r\n\"'")), from + len(line) - len(rest), i, policy.ByText})
			}
		}
		from += len(line)
	}
	return out
}

// prose are the extensions of files that people only read.
var prose = []string{".md", ".markdown", ".txt", ".rst", ".adoc", ".org", ".html", ".htm", ".po", ".srt", ".csv", ".tsv"}

// turnsDirection reports whether a character changes the direction of writing.
func turnsDirection(r rune) bool {
	return r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 || r == 0x200E || r == 0x200F || r == 0x061C
}

// isHidden reports whether a character carries text that no one sees.
func isHidden(r rune) bool { return r >= 0xE0000 && r <= 0xE0FFF }

// checkDirections finds characters that turn the direction of writing in code, and
// text that nobody sees in any file, where there are more than before.
func checkDirections(f File) []policy.Finding {
	var out []policy.Finding
	count := func(is func(rune) bool) (more bool, line int) {
		was, now := runesOf(f.Before, is), runesOf(f.After, is)
		if len(now) <= len(was) {
			return false, 0
		}
		return true, now[0]
	}
	if more, line := count(turnsDirection); more && !slices.Contains(prose, strings.ToLower(path.Ext(f.Path))) && !(strings.HasSuffix(f.Path, ".json") && testPath().MatchString(f.Path)) {
		out = append(out, newFinding("text_direction", policy.ByBytes, f.Path, line, "has a character that changes the writing direction, so the code runs differently than it looks"))
	}
	f.Before, f.After = flags().ReplaceAll(f.Before, nil), flags().ReplaceAll(f.After, nil)
	if more, line := count(isHidden); more {
		out = append(out, newFinding("text_hidden", policy.ByBytes, f.Path, line, "has invisible characters that can carry hidden text"))
	}
	return out
}

// flags are emoji of flags that are written with characters nobody sees.
var flags = lazy("\U0001F3F4[\U000E0061-\U000E007A]{2,6}\U000E007F")

// runesOf returns the lines of the characters of a kind.
func runesOf(b []byte, is func(rune) bool) []int {
	var out []int
	line := 1
	for _, r := range string(b) {
		if r == '\n' {
			line++
		} else if is(r) {
			out = append(out, line)
		}
	}
	return out
}
