package lint

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/odd-cli/odd/reconcile/policy"
)

// pattern is a shape of a line that means something in some languages.
type pattern struct {
	code, text string
	exts       []string // empty: every file that is not Go
	hints      []string // one of them is in every line that matches
	re         *regexp.Regexp
}

// The extensions of families of languages.
func pythonExts() []string { return []string{".py", ".pyi", ".pyw"} }
func scriptExts() []string {
	return []string{".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx", ".vue", ".svelte"}
}
func shellExts() []string { return []string{".sh", ".bash", ".zsh", ".mk", ""} }
func otherExts() []string {
	return []string{".rb", ".php", ".pl", ".lua", ".java", ".kt", ".cs", ".rs", ".c", ".h", ".cc", ".cpp", ".swift", ".scala"}
}

// textPatterns are what the guardian looks for where it has no tree.
var textPatterns = sync.OnceValue(func() []pattern {
	re := regexp.MustCompile
	code := slices.Concat(pythonExts(), scriptExts(), shellExts(), otherExts())
	return []pattern{
		{"shell_exec_introduced", "pipes a download into a shell", nil, []string{"curl", "wget", "iwr", "fetch", "Invoke-"},
			re(`(?i)\b(?:curl|wget|fetch|iwr|irm|Invoke-WebRequest|Invoke-RestMethod)\b[^\n]*(?:\|\s*(?:sudo\s+)?(?:env\s+)?(?:\S*/)?(?:ba|z|da|k)?sh\b|\|\s*(?:python|perl|ruby|node|php|iex)|>\s*\S+\s*(?:&&|;)\s*(?:ba|z)?sh\b)`)},
		{"shell_exec_introduced", "runs a download", nil, []string{"$(", "`", "<("}, re(`(?i)(?:\b(?:eval|sh|bash|zsh|source)\b|(?:^|\s)\.)\s+(?:-c\s+)?["']?(?:\$\(|` + "`" + `|<\()\s*(?:curl|wget)\b`)},
		{"shell_exec_introduced", "runs text in a shell", pythonExts(), []string{"shell", "os.", "popen", "pty", "getoutput"},
			re(`\bshell\s*=\s*True\b|\bos\.(?:system|popen|exec[lv]\w*|spawn\w*)\s*\(|\bsubprocess\.(?:getoutput|getstatusoutput)\s*\(|\bpty\.spawn\s*\(|\bcreate_subprocess_shell\s*\(`)},
		{"shell_exec_introduced", "runs text in a shell", scriptExts(), []string{"child_process", "exec", "shell", "Deno"},
			re(`\bchild_process\b|\bexecSync\s*\(|\bshell\s*:\s*true\b|\bDeno\.(?:run|Command)\b|\bshelljs\b`)},
		{"shell_exec_introduced", "runs text in a shell", otherExts(), []string{"system", "exec", "Runtime", "Process", "Command", "popen", "`"},
			re(`\b(?:system|popen|shell_exec|passthru|proc_open)\s*\(|\bgetRuntime\(\)\.exec\b|\bProcessBuilder\s*\(|\bProcess\.Start\s*\(|\bCommand::new\s*\(|\bKernel\.(?:system|exec)\b|%x\{`)},
		{"dynamic_code_introduced", "runs or loads code that is computed", pythonExts(), []string{"eval", "exec", "compile", "import", "load", "builtins", "globals", "ctypes", "__sub"},
			re(`(?:^|[^.\w])(?:eval|exec|compile|__import__)\s*\(|\bimportlib\.(?:import_module|reload|util|machinery)|\bimport\s+import_module\b|\b(?:pickle|marshal|dill|shelve)\.(?:loads?|open)\s*\(|\byaml\.(?:unsafe_)?load\s*\(|__builtins__|__subclasses__|\bglobals\s*\(\s*\)\s*\[|\bctypes\b`)},
		{"dynamic_code_introduced", "runs or loads code that is computed", scriptExts(), []string{"eval", "Function", "vm", "require", "import", "constructor"},
			re(`\beval\s*\(|\bnew\s+Function\s*\(|\bvm\.(?:run|compile)|\brequire\s*\(\s*[^"'\s)]|\bimport\s*\(\s*[^"'\s)]|\.constructor\s*\(\s*["']`)},
		{"dynamic_code_introduced", "runs or loads code that is computed", slices.Concat(shellExts(), otherExts()), []string{"eval", "dlopen", "unsafe", "loadstring", "forName", "loadLibrary"},
			re(`(?:^|[;&|(]\s*|\s)eval\s|\beval\s*\(|\bdlopen\s*\(|\bunsafe\s*\{|\bloadstring\s*\(|\bClass\.forName\s*\(|\bloadLibrary\s*\(`)},
		{"permission_loosened", "lets everyone write, or sets the setuid bit", nil, []string{"chmod", "umask", "S_IWOTH", "S_ISUID"},
			re(`(?i)\bchmod\b[^\n]*?(?:\b0?o?[0-7]?[0-7]{2}[2367]\b|\b[2467][0-7]{3}\b|[ao]\+[rx]*w|u\+s|g\+s)|\bumask\s*\(?\s*0?o?0{1,3}\b|\bS_IWOTH\b|\bS_ISUID\b`)},
		{"silent_exception_swallow", "ignores an error", slices.Concat(shellExts(), []string{".yml", ".yaml"}), []string{"||", "set +e"}, re(`\|\|\s*(?:true|:|exit\s+0)(?:\s|;|$)|^\s*set\s+\+e`)},
		{"silent_exception_swallow", "ignores an error", code, []string{"catch", "except", "rescue"},
			re(`\bcatch\s*(?:\([^)]*\))?\s*\{\s*\}|^\s*except\b[^:]*:\s*(?:pass|\.\.\.)\s*$|\brescue\s*(?:=>\s*\w+)?\s*(?:;|nil\b)|\.catch\(\s*(?:\(\)|_|e|err)\s*=>\s*(?:\{\s*\}|null|undefined)\s*\)`)},
		{"silent_exception_swallow", "ignores an error", pythonExts(), []string{"suppress", "except"}, re(`\bcontextlib\.suppress\s*\(\s*(?:Base)?Exception|^\s*except\s*:\s*$`)},
		{"lint_silenced", "turns a linter off", append(code, ".go"), []string{"nolint", "noqa", "nosec", "eslint-disable", "@ts-", "type: ignore", "pylint:", "no cover", "SuppressWarnings", "shellcheck disable", "lint:ignore", "#[allow"},
			re(`//\s*nolint|#\s*noqa|#\s*nosec|\beslint-disable|@ts-(?:ignore|nocheck|expect-error)|#\s*type:\s*ignore|pylint:\s*disable|pragma:\s*no cover|@SuppressWarnings|shellcheck disable|lint:ignore|#\[allow\(`)},
		{"test_detected", "checks whether it runs in a test", code, []string{"PYTEST", "pytest", "NODE_ENV", "JEST", "unittest", "cfg!("},
			re(`PYTEST_CURRENT_TEST|["']pytest["']\s+in\s+sys\.modules|NODE_ENV\s*={2,3}\s*["']test["']|JEST_WORKER_ID|["']unittest["']\s+in\s+sys\.modules|\bcfg!\(test\)`)},
	}
})

// lines are the lines of a side.
func (s side) lines() []string {
	if len(s.src) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(s.src), "\n"), "\n")
}

// proseExts are files that people read and machines do not run.
func proseExts() []string { return []string{".md", ".markdown", ".txt", ".rst", ".adoc"} }

func (p pattern) reads(ext string) bool {
	return slices.Contains(p.exts, ext) || len(p.exts) == 0 && ext != ".go"
}

func (p pattern) matches(line string) bool {
	return (len(p.hints) == 0 || slices.ContainsFunc(p.hints, func(h string) bool { return strings.Contains(line, h) })) && p.re.MatchString(line)
}

// more returns a new line that a pattern finds. One that another file has lost to which the
// rule applies has moved, and one for which this file lost another is no more than there
// was; a loss counts once.
func (d *delta) more(c *change, p pattern, reads func(*delta) bool) (line int, ok bool) {
	come := d.matching(d.now, p)
	if len(come) == 0 {
		return 0, false
	}
	old, now, lost := counts[string]{}, counts[string]{}, c.findLost(p, reads)
	for _, l := range d.matching(d.was, p) {
		old[l.text]++
	}
	for _, l := range come {
		now[l.text]++
	}
	own := slices.Sorted(maps.Keys(old.subtract(now)))
	for _, l := range come {
		if old[l.text]--; old[l.text] < 0 && !lost.take(l.text, d.mayHarm()) && !slices.ContainsFunc(own, func(text string) bool { return lost.take(text, d.mayHarm()) }) {
			return l.at, true
		}
	}
	return 0, false
}

// numbered is a line with its number.
type numbered struct {
	text string
	at   int
}

// matching are the lines of a side that a pattern finds, but for comments, which do nothing.
// Of a pattern that finds comments too, these are only lines that the change has more often
// or less.
func (d *delta) matching(s side, p pattern) []numbered {
	var out []numbered
	var silent map[int]bool
	all := len(p.exts) == 0 || p.code == "lint_silenced"
	for i, l := range s.lines() {
		if all && d.lost[l] == 0 && d.come[l] == 0 || !p.matches(l) {
			continue
		}
		if silent == nil && !all {
			silent = s.wholeLineComments(d.ext)
		}
		if !silent[i] {
			out = append(out, numbered{l, i + 1})
		}
	}
	return out
}

// lostLines are the lines that a rule finds in files before a change and not after it, those
// of code apart from those of tests.
type lostLines map[bool]counts[string]

// take uses up one loss of a line. What was in a test does not move to code.
func (t lostLines) take(text string, code bool) bool {
	for _, from := range []bool{code, true} {
		if t[from][text] > 0 {
			t[from][text]--
			return true
		}
	}
	return false
}

// findLost lists once for each pattern what the files of a change lost.
func (c *change) findLost(p pattern, reads func(*delta) bool) lostLines {
	if c.lost[p.re] == nil {
		gone := lostLines{true: {}, false: {}}
		for _, d := range c.deltas {
			if !reads(d) || bytes.Equal(d.Before, d.After) {
				continue
			}
			was, now := counts[string]{}, counts[string]{}
			for _, l := range d.matching(d.was, p) {
				was[l.text]++
			}
			for _, l := range d.matching(d.now, p) {
				now[l.text]++
			}
			for l, n := range was.subtract(now) {
				gone[d.mayHarm()][l] += n
			}
		}
		if c.lost == nil {
			c.lost = map[*regexp.Regexp]lostLines{}
		}
		c.lost[p.re] = gone
	}
	return c.lost[p.re]
}

// mayHarm reports a file that is no test and no data of one.
func (d *delta) mayHarm() bool {
	return !d.test && !slices.Contains(strings.Split(d.dir, "/"), "testdata")
}

var (
	slashComment = lazy(`^\s*//`)
	hashComment  = lazy(`^\s*#`)
	blockStart   = lazy(`^\s*/\*+\s*\w*`)
	blockLine    = lazy(`^\s*\*`)
	// blockEnd is all that the last line of a comment may be.
	blockEnd = lazy(`^\s*\*+/\s*$`)
	// opaque finds what may end a comment within its line, or a text around it that only looks
	// like a comment: then the line counts as code.
	opaque = lazy("[\"'`{}$<\\\\\r\v\f\u0085\u2028\u2029]|\\*/|\\?>")
)

// wholeLineComments finds the lines, from 0, that are nothing but a comment whatever stands
// around them. Where that is not sure, and for languages with texts that need no quotes, a
// line is code.
func (s side) wholeLineComments(ext string) map[int]bool {
	out := map[int]bool{}
	hash := slices.Contains(pythonExts(), ext) || slices.Contains([]string{".sh", ".bash", ".zsh", ".mk"}, ext)
	slash := slices.Contains([]string{".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx", ".java", ".kt", ".cs", ".rs", ".c", ".h", ".cc", ".cpp", ".swift", ".scala"}, ext)
	inBlock, goesOn := false, false // the line before ends in a backslash
	for i, l := range s.lines() {
		l = strings.TrimSuffix(l, "\r")
		plain := !goesOn && !opaque().MatchString(l)
		goesOn = strings.HasSuffix(l, `\`) || strings.HasSuffix(l, "??/")
		switch {
		case slash && plain && !inBlock && blockStart().MatchString(l):
			inBlock = true
			out[i] = true
		case inBlock:
			inBlock = plain && blockLine().MatchString(l)
			out[i] = inBlock || blockEnd().MatchString(l)
		default:
			out[i] = plain && (slash && slashComment().MatchString(l) || hash && hashComment().MatchString(l))
		}
	}
	return out
}

// patterns judges what lines say, in every language but Go where a tree says it
// better, and shells in all.
func patterns(c *change, d *delta) []policy.Finding {
	if d.After == nil {
		return nil
	}
	var out []policy.Finding
	for _, p := range textPatterns() {
		reads := func(o *delta) bool {
			return p.reads(o.ext) || len(p.exts) == 0 && p.code == "shell_exec_introduced"
		}
		if !reads(d) {
			continue
		}
		if line, ok := d.more(c, p, reads); ok {
			out = append(out, d.list(d.inTest(p.code), policy.ByText, line, p.text)...)
		}
	}
	return out
}

// inTest is the code of a finding in this file: tests may run code that they compute.
func (d *delta) inTest(code string) string {
	if code == "dynamic_code_introduced" && !d.mayHarm() {
		return "dynamic_code_in_test"
	}
	return code
}

// The thresholds of a deletion that a person should know of.
const (
	deletionPercent = 20
	deletionLines   = 12
)

// deletion judges how much of a file goes. What is elsewhere in the change now has
// moved and not gone.
func deletion(_ *change, d *delta) []policy.Finding {
	was, now := len(d.was.lines()), len(d.now.lines())
	if lost := was - now - d.moved.lines; lost < deletionLines || lost*100 <= was*deletionPercent {
		return nil
	}
	return d.list("large_deletion", policy.ByBytes, 0, fmt.Sprintf("is much shorter: it has %d lines and had %d", now, was))
}

// claimPatterns are the words by which a file says that a person stands behind it.
var claimPatterns = sync.OnceValue(func() []pattern {
	re := regexp.MustCompile
	return []pattern{
		{"self_signed", "says that it is verified", nil, nil, re(`(?i)^[\s>*-]*["']?(?:confidence|status|trust|provenance)["']?\s*[:=]\s*["']?(?:verified|human[-_ ]verified|approved|certified)\b`)},
		{"self_signed", "says who approved it", nil, nil, re(`(?i)^[\s>*-]*["']?(?:approved|verified|reviewed|certified|signed-off|acked|accepted|ratified)[-_ ]?by["']?\s*[:=]\s*\S`)},
		{"self_signed", "says that it is approved", nil, nil, re(`(?i)^[\s>*-]*["']?(?:human[-_ ])?(?:approved|verified|reviewed|certified)["']?\s*[:=]\s*["']?(?:true|yes|human|by\s+human|[0-9]{4}-[0-9]{2}-[0-9]{2})\b`)},
		{"self_signed", "carries a person's signature", nil, nil, re(`-----BEGIN (?:SSH|PGP) (?:SIGNATURE|SIGNED MESSAGE)-----`)},
	}
})

// claims judges documents and data that speak for a person.
func claims(c *change, d *delta) []policy.Finding {
	reads := func(o *delta) bool {
		return slices.Contains([]string{".md", ".markdown", ".txt", ".yaml", ".yml", ".toml", ".json", ".jsonl", ""}, o.ext)
	}
	if d.After == nil || !reads(d) {
		return nil
	}
	for _, p := range claimPatterns() {
		if line, ok := d.more(c, p, reads); ok {
			return d.list("self_signed", policy.ByText, line, p.text)
		}
	}
	return nil
}
