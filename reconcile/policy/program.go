package policy

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// call judges one program being run: first what is denied, then what it runs in
// turn, then what it reads and writes.
func (w *walker) call(c call) {
	if !w.ran(c) {
		return
	}
	if !c.argv[0].known {
		w.hard("command_dynamic", fmt.Sprintf("the program is not written out: %s", c.name()), "write the program's name")
		w.unknown("the program is not written out: %s", c.name())
		return
	}
	if w.inside++; w.inside > maxInner {
		w.hard("command_too_deep", fmt.Sprintf("more than %d programs start one another", maxInner), "write the command itself")
		w.inside--
		return
	}
	defer func() { w.inside-- }()
	outer := w.pending
	w.pending = nil
	w.checkDenyTable(c)
	if !w.inner(c) {
		w.effects(c)
	}
	w.settle(c, w.isAllowed(c))
	w.pending = outer
}

// ran notes a program; false means that there are too many.
func (w *walker) ran(c call) bool {
	if len(w.v.Programs) >= maxCalls {
		w.hard("command_too_long", fmt.Sprintf("the line runs more than %d programs", maxCalls), "write fewer")
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

// program is the name by which the tables know a program: a file of the usual
// folders counts as its name, any other path is a program of its own.
func program(name string) string {
	dir, base := path.Split(name)
	if dir == "" || slices.Contains([]string{"/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/", "/opt/homebrew/bin/"}, dir) {
		return base
	}
	return name
}

// deniedAs is the name by which the deny table knows a program, wherever it is
// kept and however it is written: file systems may not tell the difference.
func deniedAs(name string) string {
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

// effects judges what a program reads and writes.
func (w *walker) effects(c call) {
	name := program(c.name())
	write, writes := writers[name]
	flags, reads := readers[name]
	switch {
	case writes:
		write(w, c)
	case w.ofItsOwn(name) != nil:
		w.ofItsOwn(name)(c)
	case slices.Contains(builtins, name):
		w.builtin(c)
	case name == "cd" || name == "pushd" || name == "popd":
		w.unknown("%s changes to an unknown folder", name)
	case reads:
		w.reader(c, flags)
	case slices.Contains(speakers, name):
		w.network(c)
	default:
		w.pend("%s", writesUnknown(c.name()))
	}
}

// ofItsOwn is what judges a program whose words say what it does, nil for another.
func (w *walker) ofItsOwn(name string) func(call) {
	switch name {
	case "git":
		return w.git
	case "go":
		return w.goTool
	case "find":
		return w.findTool
	case "sed", "gsed":
		return w.sed
	case "odd":
		return w.odd
	}
	if strings.HasSuffix(name, "awk") && len(name) <= 4 {
		return w.awk
	}
	return nil
}

// speakers are programs whose work is to speak to other machines.
var speakers = strings.Fields("curl wget nc ncat netcat ssh scp sftp ftp telnet rsync socat gh glab http https aria2c lynx w3m ping dig nslookup host")

// reader judges a program that only reads, if none of its flags says more.
func (w *walker) reader(c call, flags string) {
	name := program(c.name())
	p := c.options(valued[name])
	for _, flag := range strings.Fields(flags) {
		if p.has(strings.TrimLeft(flag, "-")) {
			w.pend("%s %s writes a file or runs a program", name, flag)
		}
	}
	if flags != "" && p.dynamic {
		w.pend("a flag of %s is not written out", name)
	}
	files := p.operands
	switch name {
	case "grep", "egrep", "fgrep", "rg", "ag", "jq", "zgrep", "yq":
		if len(files) > 0 && !p.has("e", "f", "regexp", "file") {
			files = files[1:]
		}
	case "hostname", "date":
		if len(files) > 0 && !strings.HasPrefix(files[0].text, "+") {
			w.pend("%s with an argument changes a setting", name)
		}
		return
	case "basename", "dirname", "tr", "seq", "expr", "sleep", "which":
		return
	}
	w.read(c, files...)
}

// settingBuiltins set the variables that their operands name.
var settingBuiltins = strings.Fields("read unset mapfile readarray getopts let wait")

// builtin judges a word of the shell that runs nothing: a name it sets may
// steer other programs, or hold text that is run on the way.
func (w *walker) builtin(c call) {
	p := c.options("vdinNptuaCcOs")
	told := !slices.ContainsFunc(c.argv[1:], func(a word) bool { return !a.known })
	switch name := c.name(); {
	case name == "set" || name == "shopt":
		w.settings(c)
	case name == "test" || name == "[":
		w.tests(c, told)
	case name == "hash" && len(c.argv) > 1:
		w.pend("hash can make a name run another program")
	case (name == "mapfile" || name == "readarray") && p.has("C", "c"):
		w.pend("%s -C runs a command", name)
	case name == "printf":
		w.printf(c, p)
	case name == "echo" || name == ":":
		return // they expand nothing more
	}
	w.indexes(c)
	if slices.Contains(settingBuiltins, c.name()) {
		w.names(c, c.argv[1:]...)
	}
}

// printf judges printf, which with -v sets a name.
func (w *walker) printf(c call, p parsed) {
	if o, ok := p.option("v"); ok {
		w.names(c, o.value)
	} else if c.argv[min(1, len(c.argv)-1)].splits {
		w.pend("printf gets arguments that are not known; quote the expansion")
	}
}

// indexes judges the indexes of names, which the shell computes.
func (w *walker) indexes(c call) {
	for _, a := range c.argv[1:] {
		if a.known && holdsCode(a.text) && strings.Contains(a.text, "[") {
			w.pend("%s would run the command in the index of %s", c.name(), a.text)
		}
	}
}

// tests judges test and [, which with -v compute the index of a variable: it must
// not come out of an expansion.
func (w *walker) tests(c call, told bool) {
	for _, a := range c.argv[1:] {
		name := strings.Trim(a.text, "${}")
		switch {
		case !told && a.is("-v"), a.splits && !syntax.ValidName(name) && name != "?" && name != "#":
			w.pend("%s may read a variable whose name runs a command; quote the expansion", c.name())
		case a.splits && syntax.ValidName(name):
			w.sums[name] = true
		}
	}
}

// names judges variables that a word of the shell sets. A value of a flag is
// judged as a name too: which flags have one, the words do not agree on.
func (w *walker) names(c call, names ...word) {
	for _, a := range names {
		if !a.known {
			w.pend("%s sets %s, and the command does not show which variable that is", c.name(), a.text)
			continue
		}
		name, _, _ := strings.Cut(a.text, "=")
		for ; strings.HasPrefix(a.text, "-") && name != ""; name = name[1:] { // a name may stand close to its letter
			w.variable(name, "")
		}
		w.variable(name, "")
		w.sets(name, false)
	}
}

// tameSettings are settings of the shell that do not change what a line means.
var tameSettings = strings.Fields("errexit nounset pipefail noglob noclobber xtrace verbose noexec globstar nullglob dotglob failglob nocaseglob nocasematch inherit_errexit")

// settings judges set and shopt: some settings make other text of the line run
// than its syntax tree shows.
func (w *walker) settings(c call) {
	for _, a := range c.argv[1:] {
		switch {
		case a.is("--", "-") && c.name() == "set":
			return
		case !a.known:
			w.pend("%s gets arguments that are not known", c.name())
		case strings.HasPrefix(a.text, "-") || strings.HasPrefix(a.text, "+"):
			if letters := "euxvfCno"; c.name() == "set" && strings.Trim(a.text[1:], letters) != "" || c.name() == "shopt" && strings.Trim(a.text[1:], "supqo") != "" {
				w.pend("%s %s changes how the shell reads the command", c.name(), a.text)
			}
		case !slices.Contains(tameSettings, a.text):
			w.pend("%s %s changes how the shell reads the command", c.name(), a.text)
		}
	}
}

// odd judges odd's own verbs. Which of them are a person's is in the deny table.
func (w *walker) odd(c call) {
	p := c.options("C")
	if len(p.operands) == 0 {
		return
	}
	verb := p.operands[0]
	reads := strings.Fields("search get related expand why backlinks status context check log canon compile-persona explain help version anchor")
	if !verb.is(reads...) || p.has("out", "output", "fix") {
		w.pend("it is not known which files odd %s writes", verb.text)
	}
}
