package policy

import (
	"cmp"
	"slices"
	"strings"
)

// wrapper is a program that runs another: its letters and long flags that take
// a value, and how many operands of its own stand before the other's name.
type wrapper struct {
	takes    string
	long     []string
	operands int
}

var wrappers = map[string]wrapper{
	"env":        {"uCSa", []string{"unset", "chdir", "split-string", "argv0"}, 0},
	"nice":       {"n", []string{"adjustment"}, 0},
	"nohup":      {"", nil, 0},
	"time":       {"fo", []string{"format", "output"}, 0},
	"command":    {"", nil, 0},
	"builtin":    {"", nil, 0},
	"exec":       {"a", nil, 0},
	"timeout":    {"ks", []string{"kill-after", "signal"}, 1},
	"gtimeout":   {"ks", []string{"kill-after", "signal"}, 1},
	"stdbuf":     {"ioe", []string{"input", "output", "error"}, 0},
	"setsid":     {"", nil, 0},
	"ionice":     {"cnpPu", []string{"class", "classdata"}, 0},
	"chrt":       {"pTPD", nil, 1},
	"taskset":    {"", nil, 1},
	"busybox":    {"", nil, 0},
	"toybox":     {"", nil, 0},
	"unbuffer":   {"", nil, 0},
	"caffeinate": {"tw", nil, 0},
	"chronic":    {"", nil, 0},
	"xargs":      {"adEILnPs", []string{"arg-file", "delimiter", "max-args", "max-procs", "max-chars", "process-slot-var"}, 0},
	"flock":      {"wE", []string{"timeout", "wait", "conflict-exit-code"}, 1},
	"watch":      {"ndt", []string{"interval"}, 0},
	"strace":     {"eopPsua", []string{"output"}, 0},
	"ltrace":     {"eopsua", []string{"output"}, 0},
	"parallel":   {"jIaSN", []string{"jobs", "arg-file", "results", "joblog", "sshlogin"}, 0},
}

var shells = strings.Fields("sh bash dash zsh ksh mksh ash fish rbash csh tcsh")

// judgeInner judges what a program runs in turn, and reports whether that is all
// that it does.
func (w *walker) judgeInner(c call) bool {
	name := programName(c.name())
	if wrap, ok := wrappers[name]; ok {
		w.judgeWrapper(c, name, wrap)
		return true
	}
	for _, s := range shells {
		if denyTableName(c.name()) == s {
			w.judgeShell(c)
			return true
		}
	}
	if name == "trap" {
		if p := c.options(""); len(p.operands) > 1 && !p.operands[0].is("-", "") {
			w.judgeNestedScript(c, p.operands[0])
		}
		return true
	}
	return false
}

// judgeWrapper finds where the other program's argv begins and judges it.
func (w *walker) judgeWrapper(c call, name string, wrap wrapper) {
	p, rest := c.splitWrapper(wrap)
	c = w.wrapperFlags(c, name, p)
	for len(rest) > 0 && name == "env" && (rest[0].is("-") || strings.Contains(rest[0].lead, "=")) {
		variable, value, _ := strings.Cut(rest[0].text, "=")
		w.judgeVariable(variable, value)
		rest = rest[1:]
	}
	switch {
	case name == "strace" || name == "ltrace" || name == "busybox" && p.has("install"):
		w.addPending("%s may do more than the command shows", name)
		if p.has("p", "attach") && name != "busybox" {
			w.addHard("command_debugger", name+" -p looks into a running program, such as the shell of a person", "trace the command that you run")
		}
	case wrap.operands > len(rest):
		return
	}
	if name == "flock" {
		w.noteWrites(c, rest[0])
	}
	if rest = rest[wrap.operands:]; len(rest) > 0 {
		w.judgeHandedArgv(c, name, p, rest)
	}
}

// judgeHandedArgv judges the argv that a wrapper called name with the options p hands on.
func (w *walker) judgeHandedArgv(c call, name string, p parsed, rest []word) {
	switch {
	case name == "command" && p.has("v", "V"):
		return
	case name == "watch" || name == "parallel":
		w.addPending("%s runs its arguments in a shell", name)
		w.judgeNestedScript(c, joinWords(rest))
		return
	case name == "flock" && rest[0].is("-c", "--command") && len(rest) > 1:
		w.judgeNestedScript(c, rest[1])
		return
	case name == "xargs":
		rest = w.fromInput(p, rest)
	}
	w.judgeCall(c.with(rest))
}

// wrapperFlags judges the flags of a wrapper that do more than their work.
func (w *walker) wrapperFlags(c call, name string, p parsed) call {
	for _, o := range p.options {
		switch {
		case name == "env" && o.means("C", "chdir"):
			c.dirs = w.enterFolder(c.dirs, o.value)
		case name == "env" && o.means("S", "split-string"):
			w.addHard("command_evaluated", "env -S runs text as a command", "write the command itself")
		case name == "parallel" && (o.means("", "results") || o.means("", "joblog")), slices.Contains(reporters, name) && o.means("o", "output"):
			w.noteWrites(c, o.value)
		}
	}
	return c
}

// reporters are the wrappers that write what they tell to the file of -o.
var reporters = strings.Fields("time strace ltrace")

// splitWrapper takes a wrapper's own flags off the front of its argv: they end at the
// first operand.
func (c call) splitWrapper(wrap wrapper) (own parsed, rest []word) {
	end := 1
	for end < len(c.argv) {
		a := c.argv[end]
		if a.is("--") {
			end++
			break
		}
		if !strings.HasPrefix(a.lead, "-") || len(a.text) < 2 {
			break
		}
		end++
		if end < len(c.argv) && takesNext(a.text, wrap) {
			end++
		}
	}
	own = c.with(c.argv[:end]).options(wrap.takes, wrap.long...)
	return own, c.argv[end:]
}

func takesNext(flag string, wrap wrapper) bool {
	if long, ok := strings.CutPrefix(flag, "--"); ok {
		return !strings.Contains(long, "=") && hasLongFlag(long, wrap.long)
	}
	at := strings.IndexAny(flag[1:], wrap.takes)
	return wrap.takes != "" && at >= 0 && at == len(flag)-2
}

// fromInput is the argv of a program that xargs runs: what it reads from its
// input takes the place of the mark, or stands at the end.
func (w *walker) fromInput(p parsed, rest []word) []word {
	if p.has("i", "e", "l") {
		w.addPending("xargs has a flag that makes its arguments unclear; use -I, -E or -L")
	}
	o, ok := p.option("I", "replace")
	switch {
	case !ok:
		return append(slices.Clone(rest), word{text: "…"})
	case o.value.text == "":
		return markFilledWords(rest, "{}", "")
	}
	return markFilledWords(rest, o.value.text, "")
}

// markFilledWords marks the words that another program's output fills in, which begins
// with lead.
func markFilledWords(argv []word, mark, lead string) []word {
	var out []word
	for _, a := range argv {
		if at := strings.Index(a.text, mark); at >= 0 {
			a = word{text: a.text, lead: cmp.Or(a.text[:at], lead)}
		}
		out = append(out, a)
	}
	return out
}

func joinWords(ws []word) word {
	out := word{known: true}
	for i, a := range ws {
		if i > 0 {
			out.text += " "
		}
		out.text += a.text
		out.known = out.known && a.known
	}
	return out
}

// judgeNestedScript judges text that a shell will read as a line of its own.
func (w *walker) judgeNestedScript(c call, text word) {
	if !text.known {
		w.addHard("command_evaluated", c.name()+" runs text that the command does not show", "write the command itself")
		w.noteUnknown("%s runs text that the command does not show", c.name())
		return
	}
	w.judgeLine(text.text, c.dirs, c.from)
}

// judgeShell judges a shell: what it is told to run, or the input it reads.
func (w *walker) judgeShell(c call) {
	own, rest := c.splitWrapper(wrapper{takes: "oO", long: []string{"rcfile", "init-file"}})
	if own.has("rcfile", "init-file") {
		w.addHard("command_evaluated", c.name()+" reads a file of commands first", "run the command without it")
	}
	if len(rest) > 0 && rest[0].is(standardInput...) && !own.has("c") {
		rest = nil // a name for what it reads
	}
	if name := denyTableName(c.name()); slices.Contains([]string{"fish", "csh", "tcsh"}, name) {
		w.addPending("%s reads another language than bash", name)
	}
	w.shellRuns(c, own, rest)
}

// shellRuns judges what a shell runs: the text behind -c, a script, or its input.
func (w *walker) shellRuns(c call, own parsed, rest []word) {
	switch {
	case own.dynamic || len(rest) > 0 && !rest[0].known && rest[0].lead == "":
		w.addHard("command_evaluated", c.name()+" runs a command that is not shown", "write the command itself")
		w.noteUnknown("%s runs a command that is not shown", c.name())
	case own.has("c") && len(rest) > 0:
		w.judgeNestedScript(c, rest[0])
	case len(rest) > 0 && !own.has("s"):
		w.noteReads(c, rest[0])
		w.addPending("it is not known which files the script %s writes", rest[0].text)
	case c.from.kind == here:
		w.judgeNestedScript(c, word{text: c.from.text, known: c.from.known})
	case c.from.kind == piped:
		w.addHard("command_piped_to_shell", c.name()+" runs what another program prints", "save it, read it, and run the commands you need")
		w.noteUnknown("%s runs what another program prints", c.name())
	case own.has("version", "help"):
	default:
		w.addPending("%s runs what it reads", c.name())
	}
}
