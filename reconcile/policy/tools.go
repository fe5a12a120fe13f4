package policy

import (
	"slices"
	"strings"
)

// judgeGo judges the go command. What it compiles and tests is the repository's
// own code; which flags hand the work to another program is not.
func (w *walker) judgeGo(c call) {
	args := c.argv[1:]
	if len(args) > 1 && args[0].is("-C") {
		c.dirs, args = w.enterFolder(c.dirs, args[1]), args[2:]
	}
	if len(args) == 0 {
		return
	}
	for i, a := range args {
		if strings.HasPrefix(a.lead, "-") {
			w.goFlag(c, a, args[i+1:])
		}
	}
	w.goVerb(c, args[0], c.with(args).options("o", "o"))
}

// goFlag judges one flag of the go command, before the words that follow it.
func (w *walker) goFlag(c call, a word, rest []word) {
	flag, value, has := strings.Cut(strings.TrimLeft(a.text, "-"), "=")
	switch {
	case flag == "toolexec" || flag == "vettool" || flag == "exec":
		w.addHard("command_runs_program", "go -"+flag+" runs another program", "run go without it")
	case flag == "modfile" || flag == "overlay" || flag == "mod" && (value == "mod" || !has):
		w.noteUnknown("go -%s changes which files go reads and writes", flag)
	case flag == "fix":
		w.noteUnknown("go vet -fix changes the files of the packages")
	case flag == "c":
		w.noteUnknown("go test -c writes a program into the work tree; use go vet")
	case goWrites(flag) && has:
		w.noteWrites(c, word{text: value, known: a.known})
	case goWrites(flag) && len(rest) > 0:
		w.noteWrites(c, rest[0])
	}
}

// goWrites reports a flag of the go command that names a file or folder to write.
func goWrites(flag string) bool {
	return slices.Contains(strings.Fields("o outputdir coverprofile cpuprofile memprofile blockprofile mutexprofile trace"), strings.TrimPrefix(flag, "test."))
}

// enterFolder returns where a program works that is told to go to a folder first.
func (w *walker) enterFolder(from dirs, folder word) dirs {
	to := dirs{lost: from.lost || !folder.known}
	for _, d := range from.at {
		at := w.resolvePath(d, folder.text)
		to = to.or(dirs{at: []string{at}, lost: w.isUnderLink(at) || w.climbsFromLink(from, folder.text)})
	}
	return to
}

// goVerb judges what a verb of the go command writes.
func (w *walker) goVerb(c call, verb word, p parsed) {
	switch {
	case verb.is("version", "help", "list", "doc", "vet", "telemetry"):
	case verb.is("env"):
		if p.has("w", "u") {
			w.addHard("command_environment", "go env -w changes how every go command works", "leave it out")
		}
	case verb.is("build") && p.has("o"):
	case verb.is("mod"):
		w.goMod(c, p.first())
	case verb.is("work"):
		w.noteWrites(c, word{text: "go.work", known: true}, word{text: "go.work.sum", known: true})
	case verb.is("build"):
		w.addPending("go build may write a program into the work tree; use go vet, or go build -o /dev/null")
	case verb.is("test"):
		w.addPending("%s", writesUnknown(c.name()))
	default:
		w.addPending("it is not known which files go %s writes", verb.text)
	}
}

// goMod judges what go mod does with the files of a module.
func (w *walker) goMod(c call, verb word) {
	switch {
	case verb.is("graph", "why", "verify"):
	case verb.is("tidy", "edit", "init"):
		w.noteWrites(c, word{text: "go.mod", known: true}, word{text: "go.sum", known: true})
	case verb.is("vendor"):
		w.noteTreeWrites(c, word{text: "vendor", known: true})
	default:
		w.addPending("it is not known which files go mod writes")
	}
}

// findTests are find's tests that take one word, whatever it is.
var findTests = strings.Fields(`-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -newer -anewer -cnewer -samefile -type -xtype
	-size -mtime -mmin -ctime -cmin -atime -amin -user -group -uid -gid -perm -maxdepth -mindepth -inum -links -printf`)

// judgeFind judges find: where it starts, what it runs and what it removes.
func (w *walker) judgeFind(c call) {
	args := c.argv[1:]
	for len(args) > 0 && args[0].is("-H", "-L", "-P") {
		args = args[1:]
	}
	n := 0
	for n < len(args) && !strings.HasPrefix(args[n].lead, "-") && !args[n].is("(", "!") {
		if args[n].mayBeFlag() {
			w.addPending("find gets arguments that are not known")
		}
		n++
	}
	starts := args[:n:n]
	if n == 0 {
		starts = []word{{text: ".", known: true}}
	}
	w.findActs(c, starts, args[n:])
}

// mayBeFlag reports a word that may be several, or a flag, for all the line tells.
func (a word) mayBeFlag() bool { return !a.known && (a.splits || a.lead == "") }

// findActs judges what find looks for and what it does about it.
func (w *walker) findActs(c call, starts, args []word) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a.mayBeFlag():
			if a.splits || a.glob || i == 0 || !args[i-1].is(findTests...) {
				w.addPending("find gets arguments that are not known")
			}
		case a.is("-delete"):
			w.addHard("command_find_delete", "find -delete deletes files that are not named", "delete the files by name")
			w.noteTreeWrites(c, starts...)
		case a.is("-fprint", "-fprint0", "-fls", "-fprintf") && i+1 < len(args):
			i++
			w.noteWrites(c, args[i])
		case a.is("-exec", "-execdir", "-ok", "-okdir"):
			i += 1 + w.findRuns(c, args[i+1:])
		}
	}
}

// findRuns judges the command that find runs for what it found, and returns how
// many words of args it is.
func (w *walker) findRuns(c call, args []word) int {
	end := 0
	for end < len(args) && !args[end].is(";") && (!args[end].is("+") || end == 0 || !args[end-1].is("{}")) {
		end++
	}
	if end > 0 {
		w.judgeCall(c.with(markFilledWords(args[:end], "{}", "./")))
	}
	return end
}

// judgeSed judges sed: in place it writes its files, and a script of its own may
// write, read or run more.
func (w *walker) judgeSed(c call) {
	argv, inPlace := sedFlags(c.argv)
	p := c.with(argv).options("efl", "expression", "file", "line-length")
	w.addDynamicPending(c, p)
	if p.has("f", "file") {
		w.addPending("sed reads its script from a file")
	}
	scripts, files := sedScripts(p)
	for _, s := range scripts {
		if !s.known || !isTameSed(s.text) {
			w.addPending("the sed script %s may write, read or run more than its files", s.text)
		}
	}
	if inPlace {
		w.noteWrites(c, files...)
	} else {
		w.noteReads(c, files...)
	}
}

// sedFlags is an argv without what tells sed to edit in place, and whether it does.
func sedFlags(argv []word) (rest []word, inPlace bool) {
	rest = slices.Clone(argv)
	for i, a := range argv {
		if flags, ok := sedInPlace(a.lead); ok && i > 0 {
			rest[i], inPlace = flags, true
			if strings.HasSuffix(a.text, "i") && i+1 < len(argv) && argv[i+1].is("") {
				rest[i+1] = flags // the suffix that other seds want
			}
		}
	}
	return rest, inPlace
}

// sedScripts are the scripts that sed is given and the files it reads: the first
// operand is a script where no flag names one.
func sedScripts(p parsed) (scripts, files []word) {
	for _, o := range p.options {
		if o.means("e", "expression") {
			scripts = append(scripts, o.value)
		}
	}
	if len(scripts) == 0 && len(p.operands) > 0 && !p.has("f", "file") {
		return p.operands[:1], p.operands[1:]
	}
	return scripts, p.operands
}

// sedInPlace returns a word of flags without the one that edits in place.
func sedInPlace(lead string) (word, bool) {
	flags := "-s"
	switch at := strings.IndexAny(lead, "ief"); {
	case strings.HasPrefix(lead, "--"):
		if !strings.HasPrefix(lead, "--i") {
			return word{}, false
		}
	case !strings.HasPrefix(lead, "-") || at < 0 || lead[at] != 'i':
		return word{}, false
	default:
		flags += lead[1:at]
	}
	return word{text: flags, known: true, lead: flags}, true
}

// isTameSed reports whether a script is one that only edits what it prints. What
// it does not know is not tame.
func isTameSed(s string) bool {
	for {
		s = strings.TrimLeft(s, " \t\n;{}!,$0123456789+~")
		if s == "" {
			return true
		}
		if strings.ContainsRune("aic", rune(s[0])) { // text to the end of the line
			return !strings.Contains(s, "\n")
		}
		rest, ok := skipSedCommand(s)
		if !ok {
			return false
		}
		s = rest
	}
}

// skipSedCommand skips one address or one command of a sed script.
func skipSedCommand(s string) (rest string, ok bool) {
	ends := " \t\n;}"
	switch c := s[0]; {
	case c == '/' || c == '\\' && len(s) > 1:
		rest, ok = skipDelimited(strings.TrimPrefix(s, `\`), 1)
		return strings.TrimLeft(rest, "IM"), ok
	case c == 's' || c == 'y':
		rest, ok = skipDelimited(s[1:], 2)
		rest = strings.TrimLeft(rest, "gpiIM0123456789")
	case strings.IndexByte("pdDgGhHnNqQxlPz=F", c) >= 0:
		rest, ok, ends = s[1:], true, ends+"0123456789"
	}
	return rest, ok && (rest == "" || strings.ContainsAny(rest[:1], ends))
}

// skipDelimited skips n texts that end in the delimiter s begins with.
func skipDelimited(s string, n int) (rest string, ok bool) {
	if s == "" || s[0] == '\n' || s[0] == '\\' || s[0] >= 0x80 {
		return "", false
	}
	delim, from := s[0], 1
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == delim:
			if text := s[from:i]; strings.Count(text, "[") != strings.Count(text, "]") {
				return "", false // whether the delimiter counts inside brackets, seds do not agree
			}
			if n--; n == 0 {
				return s[i+1:], true
			}
			from = i + 1
		}
	}
	return "", false
}

// judgeAwk judges awk: its program may write and run whatever it likes.
func (w *walker) judgeAwk(c call) {
	p := c.options("FvfiloedpD", "field-separator", "assign", "file", "include", "load")
	for _, o := range p.options {
		if o.name != "F" && o.name != "v" && o.name != "field-separator" && o.name != "assign" {
			w.addPending("%s has flags that may write files", c.name())
		}
	}
	w.addDynamicPending(c, p)
	if len(p.operands) == 0 {
		return
	}
	prog := p.operands[0]
	tame := strings.NewReplacer("||", "", ">=", "").Replace(prog.text)
	if !prog.known || strings.ContainsAny(tame, "|>@") || strings.Contains(tame, "system") || strings.Contains(tame, "getline") {
		w.addPending("the %s program may write files or run programs", c.name())
	}
	w.noteReads(c, p.operands[1:]...)
}
