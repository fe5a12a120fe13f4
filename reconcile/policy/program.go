package policy

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// program is one program of a line while it is judged.
type program struct {
	call
	*shell
	pending []string // why its effect is not known
}

// run judges one program being run: first what is denied, then what it runs in
// turn, then what it reads and writes.
func (s *shell) run(c call) {
	if !s.noteProgram(c) {
		return
	}
	if !c.argv[0].known {
		s.addHard("command_dynamic", "the program is not written out: "+c.name(), "write the program's name")
		s.noteUnknown("the program is not written out: %s", c.name())
		return
	}
	s.inside++
	defer func() { s.inside-- }()
	if s.inside > maxInner {
		s.addHard("command_too_deep", fmt.Sprintf("more than %d programs start one another", maxInner), "write the command itself")
		return
	}
	p := &program{call: c, shell: s}
	checkDenyTable(p)
	if !judgeInner(p) {
		judgeEffects(p)
	}
	if p.call = c; !s.policy.allows(c) { // a person answers for what an allowed one does
		p.settle()
	}
}

// noteProgram notes a program; false means that there are too many.
func (s *shell) noteProgram(c call) bool {
	if len(s.v.Programs) >= maxCalls {
		s.addHard("command_too_long", fmt.Sprintf("the line runs more than %d programs", maxCalls), "write fewer")
		return false
	}
	s.v.Programs = append(s.v.Programs, c.texts())
	return true
}

// unsure notes why it is not known what the program does.
func (p *program) unsure(format string, args ...any) {
	p.pending = append(p.pending, fmt.Sprintf(format, args...))
}

// unsureOf notes that flags may be hidden in a word of a program that writes.
func (p *program) unsureOf(o parsed) {
	if o.dynamic {
		p.unsure("%s gets arguments that are not known", p.name())
	}
}

// usesNetwork notes that the program speaks to other machines.
func (p *program) usesNetwork() {
	p.addSoft("command_network", p.name()+" uses the network", "work with the files of the repository")
	p.unsure("%s uses the network", p.name())
}

// settle closes the judgement of a program that is not allowed by its name.
func (p *program) settle() {
	if len(p.pending) == 0 {
		return
	}
	opens := !p.vars.steered && p.policy.mayWork(p.call)
	if opens && p.policy.Work(p.texts()) {
		p.v.Works = true
	} else {
		opens = opens && len(p.pending) == 1 && p.pending[0] == writesUnknown(p.name()) && programName(p.name()) != "git"
		for _, reason := range p.pending {
			p.listable[reason] = opens && (p.listable[reason] || !slices.Contains(p.v.Reasons, reason))
			p.noteUnknown("%s", reason)
		}
	}
	judgeMentions(p)
}

func writesUnknown(name string) string {
	return fmt.Sprintf("it is not known which files %s writes", name)
}

// programName is the name by which the tables know a program: a file of the usual
// folders counts as its name, any other path is a program of its own.
func programName(name string) string {
	dir, base := path.Split(name)
	if dir == "" || slices.Contains([]string{"/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/", "/opt/homebrew/bin/"}, dir) {
		return base
	}
	return name
}

// denyTableName is the name by which the deny table knows a program, wherever it is
// kept and however it is written: file systems may not tell the difference.
func denyTableName(name string) string {
	return strings.TrimSuffix(strings.ToLower(path.Base(strings.ReplaceAll(name, `\`, "/"))), ".exe")
}

// isKnownProgram reports whether a name is a program, or a word of the shell, that is
// judged here by its name.
func isKnownProgram(name string) bool {
	_, wraps := wrappers[name]
	_, interprets := inline[strings.TrimRight(name, "0123456789.-")]
	denied := slices.ContainsFunc(denials, func(d denial) bool { return isListed(d.programs, denyTableName(name)) })
	return wraps || interprets || denied || judgeOf(name) != nil || slices.Contains(shells, name) || slices.Contains([]string{"cd", "eval", "source"}, name)
}

// builtins of the shell that write nothing and run nothing. A name they set is
// judged apart.
var builtins = strings.Fields(`: true false echo printf test [ pwd exit return break continue shift set shopt read unset wait times umask ulimit getopts hash type bg fg
	mapfile readarray logout suspend caller disown help dirs let`)

// readers are the programs that write nothing, with the flags that make them
// write or run something after all.
var readers = map[string]string{
	"ls": "", "cat": "", "head": "", "tail": "", "grep": "", "egrep": "", "fgrep": "", "rg": "--pre --hostname-bin", "ag": "--pager", "wc": "",
	"sort": "-o --output --compress-program -T", "cut": "", "tr": "", "diff": "", "cmp": "", "comm": "", "file": "-C --compile", "stat": "", "du": "", "df": "",
	"basename": "", "dirname": "", "realpath": "", "readlink": "", "date": "-s --set", "printenv": "", "which": "", "whoami": "", "id": "", "uname": "", "groups": "", "logname": "",
	"nproc": "", "uptime": "", "sleep": "", "seq": "", "expr": "", "tac": "", "rev": "", "nl": "", "fold": "", "fmt": "", "column": "", "paste": "", "join": "", "od": "", "hexdump": "",
	"strings": "", "md5sum": "", "sha1sum": "", "sha224sum": "", "sha256sum": "", "sha384sum": "", "sha512sum": "", "b2sum": "", "cksum": "", "shasum": "", "md5": "", "base64": "-o --output", "base32": "", "jq": "",
	"tree": "-o -R --output", "cal": "", "factor": "", "numfmt": "", "tsort": "", "ps": "", "free": "", "locale": "", "tty": "", "look": "", "tokei": "",
	"yq": "-i --inplace --in-place -s --split-exp --split-exp-file", "iconv": "-o --output", "getconf": "", "hostname": "-F --file -b", "zcat": "", "zgrep": "", "pgrep": "", "lsof": "", "exa": "", "eza": "", "staticcheck": "-d --debug.cpuprofile --debug.memprofile --debug.measure-analyzers --debug.trace",
}

// valued are the letters of a reader that take a value, so that a value is not
// taken for a file.
var valued = map[string]string{"head": "nc", "tail": "nc", "grep": "efmABCdD", "egrep": "efmABC", "fgrep": "efmABC", "rg": "efmABCgtTjMdr", "sort": "kStT", "cut": "dfbc", "seq": "fs", "date": "dr", "jq": "fL"}

// speakers are programs whose work is to speak to other machines.
var speakers = strings.Fields("curl wget nc ncat netcat ssh scp sftp ftp telnet rsync socat gh glab http https aria2c lynx w3m ping dig nslookup host")

// judgeEffects judges what a program reads and writes.
func judgeEffects(p *program) {
	if judge := judgeOf(programName(p.name())); judge != nil {
		judge(p)
	} else {
		p.unsure("%s", writesUnknown(p.name()))
	}
}

// judgeOf is what judges a program whose words say what it does, nil for another.
func judgeOf(name string) func(*program) {
	switch name {
	case "git":
		return judgeGit
	case "go":
		return judgeGo
	case "find":
		return judgeFind
	case "sed", "gsed":
		return judgeSed
	case "awk", "gawk", "mawk", "nawk":
		return judgeAwk
	case "odd":
		return judgeOdd
	case "rm", "rmdir", "unlink":
		return judgeRemove
	case "mv":
		return judgeMove
	case "cp", "install":
		return judgeCopy
	case "ln":
		return judgeLink
	case "chmod", "chown", "chgrp":
		return judgeMode
	case "dd":
		return judgeDd
	case "tee", "touch", "mkdir", "truncate", "mkfifo", "mknod":
		return judgeWriter
	case "uniq", "xxd":
		return judgeFilter
	case "gofmt", "goimports", "gofumpt":
		return judgeFormatter
	}
	flags, reads := readers[name]
	switch {
	case slices.Contains(builtins, name):
		return judgeBuiltin
	case reads:
		return func(p *program) { judgeReader(p, flags) }
	case slices.Contains(speakers, name):
		return (*program).usesNetwork
	}
	return nil
}

// judgeReader judges a program that only reads, if none of its flags says more.
func judgeReader(p *program, flags string) {
	name := programName(p.name())
	o := p.options(valued[name])
	for _, flag := range strings.Fields(flags) {
		if o.has(strings.TrimLeft(flag, "-")) {
			p.unsure("%s %s writes a file or runs a program", name, flag)
		}
	}
	if flags != "" && o.dynamic {
		p.unsure("a flag of %s is not written out", name)
	}
	files := o.operands
	switch name {
	case "grep", "egrep", "fgrep", "rg", "ag", "jq", "zgrep", "yq":
		if len(files) > 0 && !o.has("e", "f", "regexp", "file") {
			files = files[1:]
		}
	case "hostname", "date":
		if len(files) > 0 && !strings.HasPrefix(files[0].text, "+") {
			p.unsure("%s with an argument changes a setting", name)
		}
		return
	case "basename", "dirname", "tr", "seq", "expr", "sleep", "which":
		return
	}
	p.reads(files...)
}

// tameSettings are settings of the shell that do not change what a line means.
var tameSettings = strings.Fields("errexit nounset pipefail noglob noclobber xtrace verbose noexec globstar nullglob failglob nocaseglob nocasematch inherit_errexit")

// judgeBuiltin judges a word of the shell that runs nothing: a name it sets may
// steer other programs, or hold text that is run on the way.
func judgeBuiltin(p *program) {
	args := p.argv[1:]
	switch name := p.name(); name {
	case "set", "shopt": // some settings make other text of the line run than its syntax tree shows
		for _, a := range args {
			flags, is := strings.CutPrefix(strings.Replace(a.text, "+", "-", 1), "-")
			letters := map[string]string{"set": "euxvfCno", "shopt": "supqo"}[name]
			if !a.known || is && strings.Trim(flags, letters) != "" || !is && !slices.Contains(tameSettings, a.text) {
				p.unsure("%s %s changes how the shell reads the command", name, a.text)
			}
		}
	case "test", "[":
		judgeTest(p, args)
	case "hash":
		if len(args) > 0 {
			p.unsure("hash can make a name run another program")
		}
	case "printf":
		if o, sets := p.options("v").option("v"); sets {
			setNames(p, o.value)
		} else if p.argv[min(1, len(args))].splits {
			p.unsure("printf gets arguments that are not known; quote the expansion")
		}
	case "mapfile", "readarray":
		if p.options("dnOsuCc").has("C", "c") {
			p.unsure("%s -C runs a command", name)
		}
		setNames(p, args...)
	case "let":
		p.unsure("let evaluates text, and could run commands in it; use $((…))")
		for _, a := range args {
			name, _, _ := strings.Cut(a.text, "=")
			p.steer(name, "")
		}
	case "read", "unset", "getopts", "wait":
		if name == "unset" && slices.ContainsFunc(args, func(a word) bool { return slices.Contains(p.mine, a.text) }) {
			p.unsure("unset makes the name of a function another program's")
		}
		setNames(p, args...)
	}
}

// judgeTest judges test and [, which compute what an expansion holds where it may be an index.
func judgeTest(p *program, args []word) {
	for i, a := range args {
		name := strings.Trim(a.text, "${}")
		mayBeV := !a.known && i+1 < len(args) && !args[i+1].is("=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef", "-a", "-o", ")", "]")
		switch {
		case a.splits && syntax.ValidName(name):
			p.vars.evaluated[name] = true
		case a.is("-v"), mayBeV, a.splits && name != "?" && name != "#":
			p.unsure("%s may read a variable whose name runs a command; quote the expansion", p.name())
		}
	}
}

// setNames judges variables that a word of the shell sets. A value of a flag is judged as a name
// too, and a name may stand close to its letter.
func setNames(p *program, names ...word) {
	for _, a := range names {
		flag := strings.HasPrefix(a.text, "-")
		if !a.known || !flag && strings.Trim(a.text, nameLetters) != "" || strings.Contains(a.text, "[") {
			p.unsure("%s sets %s, and the command does not show which variable that is", p.name(), a.text)
			continue
		}
		for name := a.text; flag && name != ""; name = name[1:] {
			p.steer(name, "")
			p.vars.set(name, false)
		}
		p.steer(a.text, "")
		p.vars.set(a.text, false)
	}
}

const nameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"

// judgeOdd judges odd's own verbs. Which of them are a person's is in the deny table.
func judgeOdd(p *program) {
	o := p.options("C")
	reads := strings.Fields("search get related expand why backlinks status context check log canon compile-persona explain help version anchor")
	if verb := o.first(); len(o.operands) > 0 && (!verb.is(reads...) || o.has("out", "output", "fix")) {
		p.unsure("it is not known which files odd %s writes", verb.text)
	}
}
