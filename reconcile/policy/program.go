package policy

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// judgeCall judges one program being run: first what is denied, then what it runs in
// turn, then what it reads and writes.
func (w *walker) judgeCall(c call) {
	if !w.noteProgram(c) {
		return
	}
	if !c.argv[0].known {
		w.addHard("command_dynamic", fmt.Sprintf("the program is not written out: %s", c.name()), "write the program's name")
		w.noteUnknown("the program is not written out: %s", c.name())
		return
	}
	if w.inside++; w.inside > maxInner {
		w.addHard("command_too_deep", fmt.Sprintf("more than %d programs start one another", maxInner), "write the command itself")
		w.inside--
		return
	}
	defer func() { w.inside-- }()
	outer := w.pending
	w.pending = nil
	w.checkDenyTable(c)
	if !w.judgeInner(c) {
		w.judgeEffects(c)
	}
	w.settlePending(c, w.isAllowed(c))
	w.pending = outer
}

// noteProgram notes a program; false means that there are too many.
func (w *walker) noteProgram(c call) bool {
	if len(w.v.Programs) >= maxCalls {
		w.addHard("command_too_long", fmt.Sprintf("the line runs more than %d programs", maxCalls), "write fewer")
		return false
	}
	w.v.Programs = append(w.v.Programs, c.texts())
	return true
}

// isAllowed reports whether the policy names a beginning of the argv.
func (w *walker) isAllowed(c call) bool {
	return slices.ContainsFunc(w.p.Allow, func(prefix []string) bool {
		if len(prefix) == 0 || len(prefix) > len(c.argv) {
			return false
		}
		for i, p := range prefix {
			if !c.argv[i].is(p) {
				return false
			}
		}
		return true
	})
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
	_, reads := readers[name]
	_, writes := writers[name]
	_, wraps := wrappers[name]
	return reads || writes || wraps || slices.Contains(shells, name) || slices.Contains(builtins, name) ||
		slices.Contains([]string{"git", "go", "find", "sed", "awk", "xargs", "cd", "eval", "source", "odd"}, name)
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
	"basename": "", "dirname": "", "realpath": "", "readlink": "", "date": "-s --set", "printenv": "", "which": "", "whoami": "", "id": "", "uname": "", "groups": "", "logname": "", "arch": "",
	"nproc": "", "uptime": "", "sleep": "", "seq": "", "expr": "", "tac": "", "rev": "", "nl": "", "fold": "", "fmt": "", "column": "", "paste": "", "join": "", "od": "", "hexdump": "",
	"strings": "", "md5sum": "", "sha1sum": "", "sha224sum": "", "sha256sum": "", "sha384sum": "", "sha512sum": "", "b2sum": "", "cksum": "", "shasum": "", "md5": "", "base64": "-o --output", "base32": "", "jq": "",
	"tree": "-o -R --output", "cal": "", "factor": "", "numfmt": "", "tsort": "", "ps": "", "free": "", "locale": "", "tty": "", "look": "", "tokei": "",
	"yq": "-i --inplace -s --split-exp --split-exp-file", "iconv": "-o --output", "getconf": "", "hostname": "-F --file -b", "zcat": "", "zgrep": "", "pgrep": "", "lsof": "", "exa": "", "eza": "", "staticcheck": "",
}

// valued are the letters of a reader that take a value, so that a value is not
// taken for a file.
var valued = map[string]string{"head": "nc", "tail": "nc", "grep": "efmABCdD", "egrep": "efmABC", "fgrep": "efmABC", "rg": "efmABCgtTjMdr", "sort": "kStT", "cut": "dfbc", "seq": "fs", "date": "dr", "jq": "fL"}

// judgeEffects judges what a program reads and writes.
func (w *walker) judgeEffects(c call) {
	name := programName(c.name())
	write, writes := writers[name]
	flags, reads := readers[name]
	switch {
	case writes:
		write(w, c)
	case w.ownJudge(name) != nil:
		w.ownJudge(name)(c)
	case slices.Contains(builtins, name):
		w.judgeBuiltin(c)
	case name == "cd" || name == "pushd" || name == "popd":
		w.noteUnknown("%s changes to an unknown folder", name)
	case reads:
		w.judgeReader(c, flags)
	case slices.Contains(speakers, name):
		w.noteNetwork(c)
	default:
		w.addPending("%s", writesUnknown(c.name()))
	}
}

// ownJudge is what judges a program whose words say what it does, nil for another.
func (w *walker) ownJudge(name string) func(call) {
	switch name {
	case "git":
		return w.judgeGit
	case "go":
		return w.judgeGo
	case "find":
		return w.judgeFind
	case "sed", "gsed":
		return w.judgeSed
	case "odd":
		return w.judgeOdd
	}
	if strings.HasSuffix(name, "awk") && len(name) <= 4 {
		return w.judgeAwk
	}
	return nil
}

// speakers are programs whose work is to speak to other machines.
var speakers = strings.Fields("curl wget nc ncat netcat ssh scp sftp ftp telnet rsync socat gh glab http https aria2c lynx w3m ping dig nslookup host")

// judgeReader judges a program that only reads, if none of its flags says more.
func (w *walker) judgeReader(c call, flags string) {
	name := programName(c.name())
	p := c.options(valued[name])
	for _, flag := range strings.Fields(flags) {
		if p.has(strings.TrimLeft(flag, "-")) {
			w.addPending("%s %s writes a file or runs a program", name, flag)
		}
	}
	if flags != "" && p.dynamic {
		w.addPending("a flag of %s is not written out", name)
	}
	files := p.operands
	switch name {
	case "grep", "egrep", "fgrep", "rg", "ag", "jq", "zgrep", "yq":
		if len(files) > 0 && !p.has("e", "f", "regexp", "file") {
			files = files[1:]
		}
	case "hostname", "date":
		if len(files) > 0 && !strings.HasPrefix(files[0].text, "+") {
			w.addPending("%s with an argument changes a setting", name)
		}
		return
	case "basename", "dirname", "tr", "seq", "expr", "sleep", "which":
		return
	}
	w.noteReads(c, files...)
}

// settingBuiltins set the variables that their operands name.
var settingBuiltins = strings.Fields("read unset mapfile readarray getopts let wait")

// judgeBuiltin judges a word of the shell that runs nothing: a name it sets may
// steer other programs, or hold text that is run on the way.
func (w *walker) judgeBuiltin(c call) {
	p := c.options("vdinNptuaCcOs")
	told := !slices.ContainsFunc(c.argv[1:], func(a word) bool { return !a.known })
	switch name := c.name(); {
	case name == "set" || name == "shopt":
		w.judgeSettings(c)
	case name == "test" || name == "[":
		w.judgeTests(c, told)
	case name == "hash" && len(c.argv) > 1:
		w.addPending("hash can make a name run another program")
	case (name == "mapfile" || name == "readarray") && p.has("C", "c"):
		w.addPending("%s -C runs a command", name)
	case name == "printf":
		w.judgePrintf(c, p)
	case name == "echo" || name == ":":
		return // they expand nothing more
	}
	w.judgeIndexes(c)
	if slices.Contains(settingBuiltins, c.name()) {
		w.judgeSetNames(c, c.argv[1:]...)
	}
}

// judgePrintf judges printf, which with -v sets a name.
func (w *walker) judgePrintf(c call, p parsed) {
	if o, ok := p.option("v"); ok {
		w.judgeSetNames(c, o.value)
	} else if c.argv[min(1, len(c.argv)-1)].splits {
		w.addPending("printf gets arguments that are not known; quote the expansion")
	}
}

// judgeIndexes judges the indexes of names, which the shell computes.
func (w *walker) judgeIndexes(c call) {
	for _, a := range c.argv[1:] {
		if a.known && holdsCode(a.text) && strings.Contains(a.text, "[") {
			w.addPending("%s would run the command in the index of %s", c.name(), a.text)
		}
	}
}

// judgeTests judges test and [, which with -v compute the index of a variable: it must
// not come out of an expansion.
func (w *walker) judgeTests(c call, told bool) {
	for _, a := range c.argv[1:] {
		name := strings.Trim(a.text, "${}")
		switch {
		case !told && a.is("-v"), a.splits && !syntax.ValidName(name) && name != "?" && name != "#":
			w.addPending("%s may read a variable whose name runs a command; quote the expansion", c.name())
		case a.splits && syntax.ValidName(name):
			w.sums[name] = true
		}
	}
}

// judgeSetNames judges variables that a word of the shell sets. A value of a flag is
// judged as a name too: which flags have one, the words do not agree on.
func (w *walker) judgeSetNames(c call, names ...word) {
	for _, a := range names {
		if !a.known {
			w.addPending("%s sets %s, and the command does not show which variable that is", c.name(), a.text)
			continue
		}
		name, _, _ := strings.Cut(a.text, "=")
		for ; strings.HasPrefix(a.text, "-") && name != ""; name = name[1:] { // a name may stand close to its letter
			w.judgeVariable(name, "")
		}
		w.judgeVariable(name, "")
		w.noteSet(name, false)
	}
}

// tameSettings are settings of the shell that do not change what a line means.
var tameSettings = strings.Fields("errexit nounset pipefail noglob noclobber xtrace verbose noexec globstar nullglob dotglob failglob nocaseglob nocasematch inherit_errexit")

// judgeSettings judges set and shopt: some settings make other text of the line run
// than its syntax tree shows.
func (w *walker) judgeSettings(c call) {
	for _, a := range c.argv[1:] {
		switch {
		case a.is("--", "-") && c.name() == "set":
			return
		case !a.known:
			w.addPending("%s gets arguments that are not known", c.name())
		case strings.HasPrefix(a.text, "-") || strings.HasPrefix(a.text, "+"):
			if letters := "euxvfCno"; c.name() == "set" && strings.Trim(a.text[1:], letters) != "" || c.name() == "shopt" && strings.Trim(a.text[1:], "supqo") != "" {
				w.addPending("%s %s changes how the shell reads the command", c.name(), a.text)
			}
		case !slices.Contains(tameSettings, a.text):
			w.addPending("%s %s changes how the shell reads the command", c.name(), a.text)
		}
	}
}

// judgeOdd judges odd's own verbs. Which of them are a person's is in the deny table.
func (w *walker) judgeOdd(c call) {
	p := c.options("C")
	if len(p.operands) == 0 {
		return
	}
	verb := p.operands[0]
	reads := strings.Fields("search get related expand why backlinks status context check log canon compile-persona explain help version anchor")
	if !verb.is(reads...) || p.has("out", "output", "fix") {
		w.addPending("it is not known which files odd %s writes", verb.text)
	}
}
