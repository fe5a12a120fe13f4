package lint

import (
	"fmt"
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

// more returns a new line that matches, where more of them do than of those that are gone.
// What another file had and has no more has moved, and what is a comment does nothing.
func (d *delta) more(c *change, p pattern) (line int, ok bool) {
	n := 0
	for l, times := range d.lost {
		n -= times * btoi(p.matches(l))
	}
	old, seen := d.was.countLines(), counts[string]{}
	for i, l := range d.now.lines() {
		if seen[l]++; seen[l] <= old[l] || c.lost[l] > d.lost[l] || !p.matches(l) || p.code != "lint_silenced" && len(p.exts) > 0 && commentLine().MatchString(l) {
			continue
		}
		if n++; line == 0 {
			line = i + 1
		}
	}
	return line, n > 0
}

// commentLine finds a line that is a comment in most languages.
var commentLine = lazy(`^\s*(?://|#\s|/?\*)`)

// patterns judges what lines say, in every language but Go where a tree says it
// better, and addresses and shells in all.
func patterns(c *change, d *delta) []policy.Finding {
	if d.After == nil {
		return nil
	}
	var out []policy.Finding
	for _, p := range textPatterns() {
		if !p.reads(d.ext) && !(len(p.exts) == 0 && p.code == "shell_exec_introduced") {
			continue
		}
		if line, ok := d.more(c, p); ok {
			out = append(out, d.list(d.inTest(p.code), policy.ByText, line, p.text)...)
		}
	}
	return append(out, addresses(d)...)
}

// inTest is the code of a finding in this file: tests may run code that they compute.
func (d *delta) inTest(code string) string {
	if code == "dynamic_code_introduced" && (d.test || slices.Contains(strings.Split(d.dir, "/"), "testdata")) {
		return "dynamic_code_in_test"
	}
	return code
}

var address = lazy(`\bhttps?://[A-Za-z0-9.-]+(?::[0-9]+)?[A-Za-z0-9/._~%+-]*`)

// addresses finds URLs that give way to others.
func addresses(d *delta) []policy.Finding {
	if d.Before == nil || d.After == nil {
		return nil
	}
	was := urls(d.was)
	now := urls(d.now)
	lost := ""
	for u := range was {
		if _, still := now[u]; !still && (lost == "" || u < lost) {
			lost = u
		}
	}
	come, at := "", 0
	for u, line := range now {
		if _, had := was[u]; !had && (come == "" || u < come) {
			come, at = u, line
		}
	}
	if lost == "" || come == "" {
		return nil
	}
	return d.list("hardcoded_url_swap", policy.ByText, at, fmt.Sprintf("the address is now %s, it was %s", short80(come), short80(lost)))
}

func urls(s side) map[string]int {
	out := map[string]int{}
	for i, l := range s.lines() {
		if !strings.Contains(l, "://") {
			continue
		}
		for _, u := range address().FindAllString(l, -1) {
			if u = strings.TrimRight(u, ".-/"); out[u] == 0 {
				out[u] = i + 1
			}
		}
	}
	return out
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
	if d.After == nil || !slices.Contains([]string{".md", ".markdown", ".txt", ".yaml", ".yml", ".toml", ".json", ".jsonl", ""}, d.ext) {
		return nil
	}
	for _, p := range claimPatterns() {
		if line, ok := d.more(c, p); ok {
			return d.list("self_signed", policy.ByText, line, p.text)
		}
	}
	return nil
}
