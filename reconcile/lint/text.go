package lint

import (
	"bytes"
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
		{"shell_exec_introduced", "runs text in a shell", scriptExts(), []string{"child_process", "exec", "spawn", "shell", "Deno"},
			re(`\bchild_process\b|\bexecSync\s*\(|\b(?:spawn|execFile)(?:Sync)?\s*\(\s*(?:["'](?:\S*/)?(?:ba|z|da|k)?sh["']|[^"'\s)])|\bshell\s*:\s*true\b|\bDeno\.(?:run|Command)\b|\bshelljs\b`)},
		{"process_exec_introduced", "runs a program", scriptExts(), []string{"child_process"}, withoutShell()},
		{"shell_exec_introduced", "runs text in a shell", otherExts(), []string{"system", "exec", "Runtime", "Process", "StartInfo", "Command", "popen", "`"},
			re(`\b(?:system|popen|shell_exec|passthru|proc_open)\s*\(|\bgetRuntime\(\)\.exec\b|\b(?:rt|[rR]untime)\.exec\s*\(|\bProcessBuilder\s*\(|\bProcess\.Start\s*\(|\bProcessStartInfo\s*\(\s*[^)\s]|\b(?:StartInfo\.|ProcessStartInfo\b.*\b)FileName\s*=|\bprocess::(?:\{[^}]*\b)?Command\s+as\b|\bCommand>?::new\s*\(|\bKernel\.(?:system|exec)\b|%x\{`)},
		{"process_exec_introduced", "runs a program", otherExts(), []string{"StartInfo", "Process", "Command"}, namedProgram()},
		{"dynamic_code_introduced", "runs or loads code that is computed", pythonExts(), []string{"eval", "exec", "compile", "import", "load", "builtins", "globals", "ctypes", "__sub"},
			re(`(?:^|[^.\w])(?:eval|exec|compile|__import__)\s*\(|\bimportlib\.(?:import_module|reload|util|machinery)|\bimport\s+import_module\b|\b(?:pickle|marshal|dill|shelve)\.(?:loads?|open)\s*\(|\byaml\.(?:unsafe_)?load\s*\(|__builtins__|__subclasses__|\bglobals\s*\(\s*\)\s*\[|\bctypes\b`)},
		{"dynamic_code_introduced", "runs or loads code that is computed", scriptExts(), []string{"eval", "Function", "vm", "require", "import", "constructor"},
			re(`\beval\s*\(|\bnew\s+Function\s*\(|\bvm\.(?:run|compile)|\brequire\s*\(\s*[^"'\s)]|\bimport\s*\(\s*[^"'\s)]|\.constructor\s*\(\s*["']`)},
		{"dynamic_code_introduced", "runs or loads code that is computed", slices.Concat(shellExts(), otherExts()), []string{"eval", "dlopen", "loadstring", "forName", "loadLibrary"},
			re(`(?:^|[;&|(]\s*|\s)eval\s|\beval\s*\(|\bdlopen\s*\(|\bloadstring\s*\(|\bClass\.forName\s*\(|\bloadLibrary\s*\(`)},
		{"dynamic_code_introduced", "makes code of what is no code, or links code of elsewhere", []string{".rs"}, nil,
			re(`\btransmute(?:_copy)?\b|\w*asm!|\bextern\s*(?:(?:r?"[^"]*"\s*)?\{|r?"[^"]*"\s*$)|\buse\s+libc::(?:\{[^}]*\b)?(?:system|popen|syscall|fork|f?exec[lv]\w*|posix_spawnp?)\s+as\b|::<(?:unsafe |extern "\w+" )*fn\b|\bma(?:p|ke)_exec\b|\bunion\s+\w+|\bdlsym\b|\blibloading\b|LoadLibrary|GetProcAddress|PROT_EXEC|mprotect|VirtualProtect|PAGE_EXECUTE|\b(?:syscall|fork|f?exec[lv]\w*|posix_spawnp?)\s*\(|\bas\s*\*\s*(?:const|mut)\b.*\bfn\b|\blink_section\b`)},
		{"dynamic_code_introduced", "runs or loads code that is computed", []string{".cs"}, nil,
			re(`\bunsafe\b\s*(?:\{|$)|\bGetDelegateForFunctionPointer\b|\bAssembly\.(?:Unsafe)?Load`)},
		{"unsafe_introduced", "has code that the compiler does not check", []string{".rs"}, nil, re(`\bunsafe\s*(?:\{|$)`)},
		{"permission_loosened", "lets everyone write, or sets the setuid bit", nil, []string{"chmod", "umask", "S_IWOTH", "S_ISUID"},
			re(`(?i)\bchmod\b[^\n]*?(?:\b0?o?[0-7]?[0-7]{2}[2367]\b|\b[2467][0-7]{3}\b|[ao]\+[rx]*w|u\+s|g\+s)|\bumask\s*\(?\s*0?o?0{1,3}\b|\bS_IWOTH\b|\bS_ISUID\b`)},
		{"silent_exception_swallow", "ignores an error", slices.Concat(shellExts(), []string{".yml", ".yaml"}), []string{"||", "set +e"}, re(`\|\|\s*(?:true|:|exit\s+0)(?:\s|;|$)|^\s*set\s+\+e`)},
		{"silent_exception_swallow", "ignores an error", code, []string{"catch", "except", "rescue"},
			re(`\bcatch\s*(?:\([^)]*\))?\s*\{\s*\}|^\s*except\b[^:]*:\s*(?:pass|\.\.\.)\s*$|\brescue\s*(?:=>\s*\w+)?\s*(?:;|nil\b)|\.catch\(\s*(?:\(\)|_|e|err)\s*=>\s*(?:\{\s*\}|null|undefined)\s*\)`)},
		{"silent_exception_swallow", "ignores an error", pythonExts(), []string{"suppress", "except"}, re(`\bcontextlib\.suppress\s*\(\s*(?:Base)?Exception|^\s*except\s*:\s*$`)},
		{"guard_constant", "a condition is always true or always false", code, []string{"if"}, re(`^\s*(?:\}\s*)?(?:el|else\s+)?if\s*\(?\s*(?:not\s+|!\s*)?(?:True|False|true|false|0|1)\b\s*(?:and\b|or\b|&&|\|\||\)|:|\{|;)`)},
		{"lint_silenced", "turns a linter off", append(code, ".go"), []string{"nolint", "noqa", "nosec", "eslint-disable", "@ts-", "type: ignore", "pylint:", "no cover", "SuppressWarnings", "shellcheck disable", "lint:ignore", "#[allow"},
			re(`//\s*nolint|#\s*noqa|#\s*nosec|\beslint-disable|@ts-(?:ignore|nocheck|expect-error)|#\s*type:\s*ignore|pylint:\s*disable|pragma:\s*no cover|@SuppressWarnings|shellcheck disable|lint:ignore|#\[allow\(`)},
		{"test_detected", "checks whether it runs in a test", code, []string{"PYTEST", "pytest", "NODE_ENV", "JEST", "unittest", "cfg!("},
			re(`PYTEST_CURRENT_TEST|["']pytest["']\s+in\s+sys\.modules|NODE_ENV\s*={2,3}\s*["']test["']|JEST_WORKER_ID|["']unittest["']\s+in\s+sys\.modules|\bcfg!\(test\)`)},
	}
})

// withoutShell finds an import of JavaScript of what runs programs with their arguments as a list.
var withoutShell = lazy(`^\s*(?:import|const|let|var)\s+(?:type\s+)?\{(?:\s*(?:(?:spawn|execFile)(?:Sync)?|fork|ChildProcess\w*)\s*,?)+\s*\}\s*(?:from|=\s*require\()\s*["'](?:node:)?child_process["']\)?;?\s*$`)

// namedProgram finds a call that runs a program by its name, which is written out, and a Command of Rust by another name.
var namedProgram = lazy(`\b(?:Command::new|ProcessBuilder|Process\.Start|ProcessStartInfo)\s*\(\s*"[\w./+-]+"\s*[,)]|\bFileName\s*=\s*"[\w./+-]+"\s*(?:[,;}]|$)|\bprocess::(?:\{[^}]*\b)?Command\s+as\s+\w+`)

// otherProgram finds what makes the name of a program say little, anywhere in a file: a shell, an interpreter or a
// program that runs others, as a whole text or before an option, a variable that brings code, and in Java and C# what
// gives a process another program.
var otherProgram = lazy(`(?i)["'](?:[^"'\s]*[/\\])?(?:(?:r?ba|z|da|l?k|c|tc|fi|a|pw|mk|o|xon|elvi)?sh|nu|cmd|powershell|busybox|toybox|env|exec|eval|start|at|crontab|npx|uvx|pipx|strace|gdb|taskset|chrt|runuser|pkexec|systemd-run|wine|xargs|sudo|doas|su|ssh|nohup|nice|ionice|timeout|setsid|stdbuf|watch|parallel|chroot|unshare|nsenter|flock|script|expect|find|awk|gawk|mawk|perl|ruby|python[\d.]*w?|pypy[\d.]*|node|nodejs|deno|bun|php[\d.]*|lua[\d.]*|tclsh|osascript|[cw]script|mshta|rundll32|docker|podman|tmux|screen|wsl|hyperfine|entr|start-stop-daemon)(?:\.exe)?(?:["']|\s+-)|["'](?:ld_preload|dyld_insert_libraries|git_ssh_command)["']|["']alias\.|(?-i:\bcommand\s*\(|::command\b|"command")|(?-i:\.FileName\s*=\s*[^"=\s]|\.StartInfo\s*=\s*\w+\s*;)`)

var (
	// otherCommand finds what may give the names Command and clap to something else in a file of Rust.
	otherCommand = lazy(`\bprocess\b|\b(?:as|mod|crate|type|struct|enum|trait|union|macro_rules!)\s+(?:clap|Command)\b|\bmod\s+\w+\s*\{|\binclude!|\bCommand\s*:(?:[^:]|$)`)
	rustUse      = lazy(`(?m)(?:^|[^\w\s"'.,:-])\s*(?:pub(?:\([^)]*\))?\s+)?use\s+([^;]+);`)
	takenNames   = lazy(`\b(?:Command|clap)\b`)
	ownCommand   = lazy(`\bCommand\s*(?:$|[,}])`)
)

// parsedCommand finds the calls in a file of Rust that make a Command of clap, which runs nothing, and can make no other;
// nil for none. A name that the head of a file imports stands before what a star brings there.
func (s side) parsedCommand() *regexp.Regexp {
	named, stars, end := false, false, 0
	for _, m := range rustUse().FindAllSubmatchIndex(s.src, -1) {
		from, head := s.src[m[2]:m[3]], !bytes.ContainsRune(s.src[end:m[2]], '{')
		own, star := bytes.HasPrefix(from, []byte("clap::")), bytes.ContainsRune(from, '*')
		if !own && takenNames().Match(from) || star && !head {
			return nil
		}
		named, stars = named || head && own && ownCommand().Match(from), stars || star && !own
		if head {
			end = m[1]
		}
	}
	switch {
	case otherCommand().Match(s.src):
	case named:
		return namedClap()
	case !stars:
		return clapByPath()
	}
	return nil
}

var (
	clapByPath = lazy(`(^|[^\w:])clap::Command::new\s*\(`)
	namedClap  = lazy(`(^|[^\w:])(?:clap::)?Command::new\s*\(`)
)

// lines are the lines of a side.
func (s side) lines() []string {
	if len(s.src) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(s.src), "\n"), "\n")
}

// proseExts are files that people read and machines do not run.
func proseExts() []string { return []string{".md", ".markdown", ".txt", ".rst", ".adoc"} }

func (p pattern) readsFile(ext string) bool {
	return slices.Contains(p.exts, ext) || len(p.exts) == 0 && (ext != ".go" || p.code == "shell_exec_introduced")
}

func (p pattern) matchesLine(line string) bool {
	return (len(p.hints) == 0 || slices.ContainsFunc(p.hints, func(h string) bool { return strings.Contains(line, h) })) && p.re.MatchString(line)
}

// findMatching are the lines of a side that a pattern finds, but for comments, which do nothing.
// Of a pattern that finds comments too, these are only lines that the change has more often
// or less.
func (d *delta) findMatching(s side, p pattern) []hit {
	var out []hit
	var silent map[int]bool
	all := len(p.exts) == 0 || p.code == "lint_silenced"
	named := p.code == "shell_exec_introduced" && !otherProgram().Match(d.now.src)
	var clap *regexp.Regexp
	if d.ext == ".rs" && strings.HasSuffix(p.code, "_exec_introduced") {
		clap = s.parsedCommand()
	}
	for i, l := range s.lines() {
		if all && d.lost[l] == 0 && d.come[l] == 0 || !p.matchesLine(l) {
			continue
		}
		if clap != nil && !p.re.MatchString(clap.ReplaceAllString(l, "$1")) || p.code == "shell_exec_introduced" && (withoutShell().MatchString(l) || named && !p.re.MatchString(namedProgram().ReplaceAllString(l, ""))) {
			continue
		}
		if silent == nil && !all {
			silent = s.wholeLineComments(d.ext)
		}
		if !silent[i] {
			out = append(out, newHit(p.code, p.text, policy.ByText, p.code+" "+p.text, l, i+1))
		}
	}
	return out
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

// The thresholds of a deletion that a person should know of.
const (
	deletionPercent = 20
	deletionLines   = 12
)

// checkDeletion judges how much of a file goes. What is elsewhere in the change now has
// moved and not gone.
func checkDeletion(_ *change, d *delta) []policy.Finding {
	was, now := len(d.was.lines()), len(d.now.lines())
	if lost := was - now - d.moved.lines; lost < deletionLines || lost*100 <= was*deletionPercent {
		return nil
	}
	return d.oneFinding("large_deletion", policy.ByBytes, 0, fmt.Sprintf("is much shorter: it has %d lines and had %d", now, was))
}

// claimPatterns are the words by which a file says that a person stands behind it.
var claimPatterns = sync.OnceValue(func() []pattern {
	re := regexp.MustCompile
	data := []string{".md", ".markdown", ".txt", ".yaml", ".yml", ".toml", ".json", ".jsonl", ""}
	return []pattern{
		{"self_signed", "says that it is verified", data, nil, re(`(?i)^[\s>*-]*["']?(?:confidence|status|trust|provenance)["']?\s*[:=]\s*["']?(?:verified|human[-_ ]verified|approved|certified)\b`)},
		{"self_signed", "says who approved it", data, nil, re(`(?i)^[\s>*-]*["']?(?:approved|verified|reviewed|certified|signed-off|acked|accepted|ratified)[-_ ]?by["']?\s*[:=]\s*\S`)},
		{"self_signed", "says that it is approved", data, nil, re(`(?i)^[\s>*-]*["']?(?:human[-_ ])?(?:approved|verified|reviewed|certified)["']?\s*[:=]\s*["']?(?:true|yes|human|by\s+human|[0-9]{4}-[0-9]{2}-[0-9]{2})\b`)},
		{"self_signed", "carries a person's signature", data, nil, re(`-----BEGIN (?:SSH|PGP) (?:SIGNATURE|SIGNED MESSAGE)-----`)},
	}
})
