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
	"arch":       {"de", nil, 0},
	"chrt":       {"pTPD", nil, 1},
	"taskset":    {"", nil, 1},
	"busybox":    {"", nil, 0},
	"toybox":     {"", nil, 0},
	"unbuffer":   {"", nil, 0},
	"caffeinate": {"tw", nil, 0},
	"chronic":    {"", nil, 0},
	"xargs":      {"adEIJLnPRSs", []string{"arg-file", "delimiter", "max-args", "max-procs", "max-chars", "process-slot-var"}, 0},
	"flock":      {"wE", []string{"timeout", "wait", "conflict-exit-code"}, 1},
	"watch":      {"ndt", []string{"interval"}, 0},
	"strace":     {"eopPsua", []string{"output"}, 0},
	"ltrace":     {"eopsua", []string{"output"}, 0},
	"parallel":   {"jIaSN", []string{"jobs", "arg-file", "results", "joblog", "sshlogin"}, 0},
}

var shells = strings.Fields("sh bash dash zsh ksh mksh ash fish rbash csh tcsh")

// judgeInner judges what a program runs in turn, and reports whether that is all
// that it does.
func judgeInner(p *program) bool {
	name := programName(p.name())
	wrap, wraps := wrappers[name]
	switch {
	case wraps:
		judgeWrapper(p, name, wrap)
	case slices.Contains(shells, denyTableName(p.name())):
		judgeShell(p)
	case name == "trap":
		if o := p.options(""); len(o.operands) > 1 && !o.operands[0].is("-", "") {
			if ok, bad := judgeText(p, o.operands[0]); !ok.same(p.dirs) || !bad.same(p.dirs) {
				p.noteUnknown("trap changes the folder that the rest runs in")
			}
		}
	default:
		return false
	}
	return true
}

// judgeWrapper finds where the other program's argv begins and judges it.
func judgeWrapper(p *program, name string, wrap wrapper) {
	o, rest := p.splitWrapper(wrap)
	wrapperFlags(p, name, o)
	for len(rest) > 0 && name == "env" && (rest[0].is("-") || strings.Contains(rest[0].lead, "=")) {
		variable, value, _ := strings.Cut(rest[0].text, "=")
		p.steer(variable, value)
		rest = rest[1:]
	}
	switch {
	case name == "strace" || name == "ltrace" || name == "busybox" && o.has("install"):
		p.unsure("%s may do more than the command shows", name)
		if o.has("p", "attach") && name != "busybox" {
			p.addHard("command_debugger", name+" -p looks into a running program, such as the shell of a person", "trace the command that you run")
		}
	case wrap.operands > len(rest):
		return
	}
	if name == "flock" {
		p.writes(false, rest[0])
	}
	if rest = rest[wrap.operands:]; len(rest) > 0 {
		handsOn(p, name, o, rest)
	}
}

// handsOn judges the argv that a wrapper called name with the options o hands on.
func handsOn(p *program, name string, o parsed, rest []word) {
	switch {
	case name == "command" && o.has("v", "V"):
	case name == "watch" || name == "parallel":
		p.unsure("%s runs its arguments in a shell", name)
		runsText(p, joinWords(rest))
	case name == "flock" && rest[0].is("-c", "--command") && len(rest) > 1:
		runsText(p, rest[1])
	case name == "xargs":
		p.run(p.with(fromInput(p, o, rest)))
	default:
		p.run(p.with(rest))
	}
}

// wrapperFlags judges the flags of a wrapper that do more than their work.
func wrapperFlags(p *program, name string, flags parsed) {
	from := p.dirs
	for _, o := range flags.options {
		switch {
		case name == "env" && o.means("C", "chdir"):
			p.dirs = p.policy.enterFolder(from, o.value) // the last one counts
		case name == "env" && o.means("S", "split-string"):
			p.addHard("command_evaluated", "env -S runs text as a command", "write the command itself")
		case name == "parallel" && o.means("results", "joblog"), slices.Contains([]string{"time", "strace", "ltrace"}, name) && o.means("o", "output"):
			p.writes(false, o.value)
		}
	}
}

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
func fromInput(p *program, flags parsed, rest []word) []word {
	if flags.has("i", "e", "l") {
		p.unsure("xargs has a flag that makes its arguments unclear; use -I, -E or -L")
	}
	if o, ok := flags.option("I", "J", "replace"); ok {
		return markFilledWords(rest, cmp.Or(o.value.text, "{}"), "")
	}
	return append(slices.Clone(rest), word{text: "…"})
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
	for _, a := range ws {
		out.text += " " + a.text
		out.known = out.known && a.known
	}
	return out
}

// runsText judges text that a shell of its own will read, which has none of the line's functions.
func runsText(p *program, text word) {
	mine := p.mine
	p.mine = nil
	judgeText(p, text)
	p.mine = mine
}

// judgeText judges text that a shell will read, and returns where that shell is then.
func judgeText(p *program, text word) (ok, bad dirs) {
	if !text.known {
		runsUnseen(p, "command_evaluated", "runs text that the command does not show", "write the command itself")
		return p.dirs, p.dirs
	}
	return p.judgeLine(text.text, p.dirs, p.from)
}

func runsUnseen(p *program, code, what, fix string) {
	p.addHard(code, p.name()+" "+what, fix)
	p.noteUnknown("%s %s", p.name(), what)
}

// judgeShell judges a shell: the text behind -c, a script, or the input it reads.
func judgeShell(p *program) {
	own, rest := p.splitWrapper(wrapper{takes: "oO", long: []string{"rcfile", "init-file"}})
	if own.has("rcfile", "init-file") {
		p.addHard("command_evaluated", p.name()+" reads a file of commands first", "run the command without it")
	}
	if len(rest) > 0 && rest[0].is(standardInput...) && !own.has("c") {
		rest = nil // a name for what it reads
	}
	if name := denyTableName(p.name()); slices.Contains([]string{"fish", "csh", "tcsh"}, name) {
		p.unsure("%s reads another language than bash", name)
	}
	switch {
	case own.dynamic || len(rest) > 0 && !rest[0].known && rest[0].lead == "":
		runsUnseen(p, "command_evaluated", "runs a command that is not shown", "write the command itself")
	case own.has("c") && len(rest) > 0:
		runsText(p, rest[0])
	case len(rest) > 0 && !own.has("s") && (strings.HasPrefix(rest[0].lead, "/dev/") || strings.HasPrefix(rest[0].lead, "/proc/")):
		runsUnseen(p, "command_evaluated", "runs what it reads from "+rest[0].text, "write the command itself")
	case len(rest) > 0 && !own.has("s"):
		p.reads(rest[0])
		p.unsure("it is not known which files the script %s writes", rest[0].text)
	case p.from.kind == here:
		runsText(p, p.from.doc)
	case p.from.kind == piped:
		runsUnseen(p, "command_piped_to_shell", "runs what another program prints", "save it, read it, and run the commands you need")
	case p.from.kind == fromFile:
		p.unsure("%s runs what it reads", p.name())
	case !own.has("version", "help"):
		runsUnseen(p, "command_evaluated", "runs what it reads, and the command does not show that", "write the command itself")
	}
}
