package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/odd-cli/odd/reconcile/policy"
)

// The marks that a placeholder stands behind: those of comments in code, and in
// prose only those that no sentence begins with.
const (
	codeMark  = `(?://+|#+|/\*+|<!--|--|;+|%+|\{/\*|"""|'''|\.{3,}|…|^\s*\*|^\s*[<\[(])`
	proseMark = `(?:<!--|^\s*(?:\.{3,}|…|[<\[(]\.{3,}|[<\[(]…|//|[<\[(]))`
)

// keeping is which of the phrases says to keep something, as keep begins it.
const (
	keeping = 3
	keep    = `(?:keep|leave|retain)\s+(?:all\s+)?(?:the\s+|your\s+)?(?:existing|previous|original|remaining|rest|other|full|actual|real)\b`
)

// placeholderPhrases are what a placeholder says, by language.
func placeholderPhrases() []string {
	return []string{
		`(?:the\s+)?(?:rest|remainder)\s+(?:of\s+)?(?:the\s+|this\s+|your\s+)?(?:\w+\s+){0,2}(?:unchanged|(?:is|are|stays|remains?)\s+(?:the\s+same|unchanged|as\s+(?:is|before))|as\s+(?:is|before)|omitted|here|goes\s+here|same)`,
		`(?:the\s+)?(?:rest|remainder)\s+of\s+(?:the\s+)?(?:file|code|function|class|method|module|implementation|document|content)\b[^\n]{0,20}(?:$|\*/|-->)`,
		`(?:the\s+)?(?:existing|previous|original|remaining|other|unchanged|above|same)\s+(?:code|content|contents|implementation|imports?|functions?|methods?|lines?|sections?|logic|tests?|fields?)\s*(?:here|unchanged|omitted|(?:stays?|remains?)\b[^\n]{0,24}|(?:is|are)\s+(?:all\s+|just\s+|still\s+)?(?:the\s+same|unchanged|as\b|like\b|omitted|elided|here|below|above|kept|not\s|identical|intact|unmodified|untouched|same)|continues?|below|above|goes\s+here|as\s+before|\.{2,}|…|\*/|-->|>|\)|\]|$)`,
		keep + `(?:\s+\w+){0,2}\s*(?:$|[.:…>)\]]|\*/|-->|unchanged|as\s+(?:is|before)|here)`,
		`(?:insert|add|put|paste|include)\s+(?:all\s+)?(?:the\s+|your\s+)?(?:existing|previous|original|remaining|rest|other|full|actual|real)\b(?:\s+\w+){0,2}\s*(?:\.{2,}|[…>)\]]|\*/|-->|unchanged|as\s+(?:is|before)|here)`,
		`(?:your|the|actual|real|some|more)\s+(?:code|implementation|logic|content|test|tests)\s+(?:goes\s+|comes\s+|is\s+)?here\b`,
		`(?:implementation|code|content|body|logic)\s+(?:goes|comes|omitted|elided|truncated|removed|left\s+out)\b`,
		`omitted\s*[.…]*\s*(?:$|\*/|-->|>|\)|\])|(?:no\s+changes|unchanged|same\s+as\s+(?:before|above|original)|as\s+before|snip(?:ped)?|elided|abridged)\b[^\n]{0,30}(?:$|\*/|-->|>|\)|\])|truncated(?:\s+(?:here|below|above|output|file|code|content|due|to\s+save)\b[^\n]{0,24})?[\s.…:]*(?:$|\*/|-->|>|\)|\])|[<\[(]\s*truncated\b[^\n]{0,30}[>\])]|(?:\.{3}|…)\s*truncated\b[^\n]{0,30}$|truncated\b[^\n]{0,30}(?:\.{3}|…)\W*$|etc[.…]*\s*(?:$|\*/|-->|>|\)\s*$|\])|(?:continued|continue\s*(?:\.{3}|…)|continued?\s+(?:from|with|in|below|here|as|on|to|(?:the|your)\s+(?:(?:existing|previous|original|remaining|other|rest|same)\b|(?:\w+\s+)?(?:code|file|class|(?:function|method|test|case|handler)s?|implementation|logic|content)\b)|existing|previous|original|implement\w*|code)\b[^\n]{0,24})[\s.…:]*(?:$|\*/|-->|>|\)|\])`,
		`(?:omitted|shortened|truncated|elided)\s+for\s+(?:brevity|clarity|length|space|readability)`,
		`(?:full|complete|entire|whole)\s+(?:file\s+)?(?:content|contents|code|file|implementation)\b[^\n]{0,30}(?:here|goes|omitted|>|\]|\)|$)`,
		`\d+\s+(?:more\s+|other\s+)?lines?\s+(?:omitted|unchanged|hidden|elided|truncated|not\s+shown|remain)`,
		`(?:TO` + `DO|FIX` + `ME|X` + `XX|HA` + `CK|TB` + `D)\b[:(\s]*(?:\w+\)?:?\s+)?(?:(?:implement|write|fill|complete|finish)(?:\s+(?:me|it|this|that|in|here|the\s+(?:rest|code|body|function|method|logic|tests?)))*[\s.…]*(?:$|\*/|-->)|add\s+(?:the\s+)?(?:real|actual|implementation|code|logic)|placeholder|real\s+implementation)`,
		`(?:placeholder|st` + `ub|dummy|mock)\s+(?:implementation|code|content|body)\b|(?:placeholder|st` + `ub|dummy|mock)\s+function\s*(?:$|[.…)]|\*/|-->)`,
		`(?:not|un)\s*(?:yet\s+)?implemented\b|to\s+be\s+(?:implemented|written|filled|completed|done)\b`,
		// German, French, Spanish, Portuguese, Italian, Dutch
		`(?:der\s+)?rest\s+(?:der\s+datei|des\s+codes|bleibt|wie)\b[^\n]{0,30}|(?:bestehender|vorhandener|restlicher|übriger)\s+code\b|unverändert\b|hier\s+(?:kommt|folgt|steht)\b[^\n]{0,20}|noch\s+(?:zu\s+implementieren|nicht\s+implementiert)`,
		`(?:le\s+)?reste\s+du\s+(?:fichier|code)\b|(?:code|contenu)\s+(?:existant|inchangé|précédent)|inchangé\b|à\s+(?:implémenter|compléter)`,
		`(?:el\s+)?resto\s+del?\s+(?:archivo|código|codigo|fichero)\b|código\s+existente|sin\s+cambios\b|por\s+implementar|(?:o\s+)?resto\s+do\s+(?:arquivo|código|ficheiro)|sem\s+alterações|(?:il\s+)?resto\s+del\s+(?:file|codice)|codice\s+esistente|rest\s+van\s+(?:het\s+bestand|de\s+code)|ongewijzigd\b`,
		// Russian, Chinese, Japanese, Korean
		`(?:остальн(?:ой|ая|ое)|существующий|прежний)\s+(?:код|часть|содержимое)|без\s+изменений|оставить\s+как\s+есть`,
		`(?:其余|剩余|其他|现有|原有|此处)(?:的)?(?:代码|部分|内容|文件|省略)|保持不变|代码省略|省略|未改动|以下(?:同|省略)|残りの(?:コード|部分)|変更なし|既存のコード|ここに(?:コード|実装)|나머지\s*(?:코드|부분)|기존\s*코드|변경\s*없음|생략`,
	}
}

// placeholderPatterns are the two shapes of a placeholder, for code and for prose.
var placeholderPatterns = sync.OnceValue(func() []pattern {
	all := "(?:" + strings.Join(placeholderPhrases(), "|") + ")"
	mark, lead, end := `(?://+|#+|/\*+|<!--)`, `[\s.…*<\[({:=-]*`, `[\s.…)>\]]*(?:\*/\}?|-->)?\s*$`
	behind := placeholderPhrases() // a statement, to keep something is what the code does, unless it is code
	keeps := behind[keeping]
	behind[keeping] = keep + `(?:(?:\s+\w+)?\s+(?:code|implementation|checks?|logic)(?:\s+\w+)?|(?:\s+\w+){0,2}\s*(?:\.{2}|…))`
	alone := regexp.MustCompile(`\[\^\\n\]\{0,\d+\}`).ReplaceAllString("(?:"+strings.Join(behind, "|")+")", `\s*`) // nothing but the phrase
	empty := `(?:(?:[{:]|\bpass|\.{3}|…)\s*` + mark + lead + `|` + mark + `\s*(?:\.{2}|…)` + lead + `)` + keeps + `(?:[\s.…)>\]};,]|\*/|-->)*$`
	cut := `|^\s*(?:[<\[(]\s*truncated\b[^\n>\])]{0,30}[>\])]|(?:\.{3,}|…)\s+truncated\b[^\n]{0,30})\W*$` // without a mark of a comment
	return []pattern{
		{"placeholder_text", "is a placeholder", nil, nil, regexp.MustCompile(`(?i)(?:^\s*|\.{3}|…)` + codeMark + lead + all + `|` + mark + lead + alone + end + `|` + empty + cut)},
		{"placeholder_text", "is a placeholder", proseExts(), nil, regexp.MustCompile(`(?i)` + proseMark + lead + all + cut)},
	}
})

var (
	ellipsis = lazy(`^\s*(?:(?://|#|/\*|<!--|--|;)? ?(?:\.{3,}|…|\[\.{3}\]|\[…\]|\(\.{3}\))\s*(?:\*/|-->)?)\s*$`)
	marker   = lazy(`^(?:<{7}|>{7}|\|{7})(?: |$)`)
)

// checkPlaceholders judges lines that stand for content the change was to bring. A
// line that was there before is not the change's doing; text in quotes is no
// comment and passes.
func checkPlaceholders(_ *change, d *delta) []policy.Finding {
	if d.After == nil {
		return nil
	}
	var out []policy.Finding
	old := countOf(d.was.lines())
	p := placeholderPatterns()[btoi(slices.Contains(proseExts(), d.ext))]
	comment := d.now.commentLines()
	had := 0 // a placeholder that stood there is not the change's doing, though it is spelled otherwise now
	for l, n := range d.lost {
		had += n * btoi(p.re.MatchString(l))
	}
	seen := counts[string]{}
	fenced := false
	for i, l := range d.now.lines() {
		if seen[l]++; seen[l] <= old[l] {
			fenced = fenced != strings.HasPrefix(strings.TrimSpace(l), "```")
			continue
		}
		switch {
		case strings.HasPrefix(strings.TrimSpace(l), "```"):
			fenced = !fenced
			if i == 0 && (len(p.exts) == 0 || strings.Contains(l, "markdown")) {
				out = append(out, d.oneFinding("fence_wrapped", policy.ByText, 1, fmt.Sprintf("the whole file is wrapped in a code block, which begins with %q", short80(l)))...)
			}
		case marker().MatchString(l):
			out = append(out, d.oneFinding("conflict_marker", policy.ByText, i+1, "has a merge conflict marker: "+short80(l))...)
		case ellipsis().MatchString(l) && !d.allowsDots(i, l, fenced):
			out = append(out, d.oneFinding("ellipsis_line", policy.ByText, i+1, fmt.Sprintf("the line %q is a placeholder for missing content", strings.TrimSpace(l)))...)
		case (comment == nil || comment[i+1]) && p.re.MatchString(l):
			if had--; had >= 0 {
				continue
			}
			out = append(out, d.oneFinding("placeholder_text", policy.ByText, i+1, fmt.Sprintf("the line %q is a placeholder for missing content", short80(strings.TrimSpace(l))))...)
		}
	}
	return out
}

// commentLines are the lines of a Go file that hold a comment, nil for any other file.
func (s side) commentLines() map[int]bool {
	if s.tree == nil || s.err != nil {
		return nil
	}
	out := map[int]bool{}
	for _, g := range s.tree.Comments {
		for line := s.lineOf(g); line <= s.fset.Position(g.End()).Line; line++ {
			out[line] = true
		}
	}
	return out
}

// allowsDots reports a line of dots that means something: the end of a YAML document, a body in Python, samples in prose
// and what a compiler prints between lines of source or, where nothing is lost, anywhere; and there, between two lines of a
// comment, what stood there so or comes to data.
func (d *delta) allowsDots(i int, line string, fenced bool) bool {
	bare, lines := strings.Trim(line, " \t.") == "", d.now.lines()
	mark := strings.TrimRight(line, " .…")
	if strings.TrimSpace(mark) != "" && i > 0 && i+1 < len(lines) && strings.HasPrefix(lines[i-1], mark) && strings.HasPrefix(lines[i+1], mark) {
		stood := strings.Contains("\n"+string(d.Before), "\n"+strings.Join(lines[i-1:i+2], "\n")+"\n")
		return d.Before != nil && len(d.lost) == 0 && (stood || slices.Contains([]string{".yaml", ".yml", ".toml"}, d.ext))
	}
	switch d.ext {
	case ".yaml", ".yml", ".py", ".pyi":
		return bare
	case ".md", ".mdx", ".markdown", ".txtar":
		return fenced || d.ext == ".txtar"
	case ".rst":
		return strings.HasPrefix(line, " ") // in a block of code
	case ".stderr", ".stdout":
		return bare && d.test && (len(d.lost) == 0 || i > 0 && i+1 < len(lines) && strings.Contains(lines[i-1], " | ") && strings.Contains(lines[i+1], " | "))
	}
	return false
}
