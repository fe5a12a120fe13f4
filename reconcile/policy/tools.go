package policy

import (
	"slices"
	"strings"
)

// judgeGo judges the go command. What it compiles and tests is the repository's
// own code; which flags hand the work to another program is not.
func judgeGo(p *program) {
	args := goFolder(p, p.argv[1:])
	if len(args) == 0 {
		return
	}
	judgeGoFlags(p, args)
	o := p.with(args).options("o", "o")
	p.unsureOf(o)
	switch verb := args[0]; {
	case verb.is("version", "help", "list", "doc", "vet", "telemetry"), verb.is("build") && o.has("o"):
	case verb.is("env"):
		if o.has("w", "u") {
			p.addHard("command_environment", "go env -w changes how every go command works", "leave it out")
		}
	case verb.is("mod"):
		goMod(p, o.first())
	case verb.is("work"):
		p.writes(false, knownWord("go.work"), knownWord("go.work.sum"))
	case verb.is("build"):
		p.unsure("go build may write a program into the work tree; use go vet, or go build -o /dev/null")
	case verb.is("test"):
		p.unsure("%s", writesUnknown(p.name()))
	default:
		p.unsure("it is not known which files go %s writes", verb.text)
	}
}

// goFolder takes out the flag by which go works in another folder. It is the first of the flags.
func goFolder(p *program, args []word) []word {
	i := slices.IndexFunc(args, func(a word) bool { return strings.HasPrefix(a.lead, "-") })
	if i < 0 {
		return args
	}
	flag, value, has := strings.Cut(strings.TrimLeft(args[i].text, "-"), "=")
	switch {
	case flag != "C":
		return args
	case has:
		p.dirs = p.policy.enterFolder(p.dirs, word{text: value, known: args[i].known})
		return slices.Concat(args[:i], args[i+1:])
	case i+1 < len(args):
		p.dirs = p.policy.enterFolder(p.dirs, args[i+1])
		return slices.Concat(args[:i], args[i+2:])
	}
	return args[:i]
}

// judgeGoFlags judges the flags among words.
func judgeGoFlags(p *program, args []word) {
	for i, a := range args {
		if strings.HasPrefix(a.lead, "-") {
			goFlag(p, a, args[i+1:])
		}
	}
}

// tameTools matches flags for the compiler and the linker that run nothing and write no file of their own.
var tameTools = lazyRegexp(`^(?:[\w./-]+=)?(?:\s*-(?:[swNlm]|m=[0-9]|X[ =][\w./-]+=[^\s'"]*))*\s*$`)

// goFlag judges one flag of the go command, before the words that follow it.
func goFlag(p *program, a word, rest []word) {
	flag, value, has := strings.Cut(strings.TrimLeft(a.text, "-"), "=")
	switch {
	case flag == "toolexec" || flag == "vettool" || flag == "exec":
		p.addHard("command_runs_program", "go -"+flag+" runs another program", "run go without it")
	case flag == "modfile" || flag == "overlay" || flag == "mod" && (value == "mod" || !has):
		p.noteUnknown("go -%s changes which files go reads and writes", flag)
	case slices.Contains(goTools(), flag):
		if !has && len(rest) > 0 {
			a, value = rest[0], rest[0].text
		}
		if !a.known || !tameTools().MatchString(value) {
			p.noteUnknown("go -%s can run programs and write files", flag)
		}
	case flag == "fix":
		p.noteUnknown("go vet -fix changes the files of the packages")
	case flag == "c":
		p.noteUnknown("go test -c writes a program into the work tree; use go vet")
	case goWrites(flag) && has:
		p.writes(false, word{text: value, known: a.known})
	case goWrites(flag) && len(rest) > 0:
		p.writes(false, rest[0])
	}
}

// goTools are the flags that hand other flags to the compiler, the assembler and the linker.
func goTools() []string { return strings.Fields("ldflags gcflags asmflags gccgoflags") }

// goWrites reports a flag of the go command that names a file or folder to write.
func goWrites(flag string) bool {
	return slices.Contains(strings.Fields("o outputdir coverprofile cpuprofile memprofile blockprofile mutexprofile trace"), strings.TrimPrefix(flag, "test."))
}

// goMod judges what go mod does with the files of a module.
func goMod(p *program, verb word) {
	switch {
	case verb.is("graph", "why", "verify"):
	case verb.is("tidy", "edit", "init"):
		p.writes(false, knownWord("go.mod"), knownWord("go.sum"))
	case verb.is("vendor"):
		p.writes(true, knownWord("vendor"))
	default:
		p.unsure("it is not known which files go mod writes")
	}
}

// findTests are find's tests that take one word, whatever it is.
var findTests = strings.Fields(`-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -newer -anewer -cnewer -samefile -type -xtype
	-size -mtime -mmin -ctime -cmin -atime -amin -user -group -uid -gid -perm -maxdepth -mindepth -inum -links -printf`)

// judgeFind judges find: where it starts, what it runs and what it removes.
func judgeFind(p *program) {
	args := p.argv[1:]
	for len(args) > 0 && args[0].is("-H", "-L", "-P") {
		args = args[1:]
	}
	n := 0
	for n < len(args) && !strings.HasPrefix(args[n].lead, "-") && !args[n].is("(", "!") {
		if args[n].mayBeFlag() {
			p.unsure("find gets arguments that are not known")
		}
		n++
	}
	starts := args[:n:n]
	if n == 0 {
		starts = []word{knownWord(".")}
	}
	findActs(p, starts, args[n:])
}

// mayBeFlag reports a word that may be several, or a flag, for all the line tells.
func (w word) mayBeFlag() bool { return !w.known && (w.splits || w.lead == "") }

// findActs judges what find looks for and what it does about it.
func findActs(p *program, starts, args []word) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a.is(findTests...) && i+1 < len(args):
			if i++; args[i].splits || args[i].glob {
				p.unsure("find gets arguments that are not known")
			}
		case a.mayBeFlag():
			p.unsure("find gets arguments that are not known")
		case a.is("-delete"):
			p.addHard("command_find_delete", "find -delete deletes files that are not named", "delete the files by name")
			p.writes(true, starts...)
		case a.is("-fprint", "-fprint0", "-fls", "-fprintf") && i+1 < len(args):
			i++
			p.writes(false, args[i])
		case a.is("-exec", "-execdir", "-ok", "-okdir"):
			runs := args[i+1:]
			end := 0
			for end < len(runs) && !runs[end].is(";") && (!runs[end].is("+") || end == 0 || !runs[end-1].is("{}")) {
				end++
			}
			if i += 1 + end; end > 0 {
				c := p.with(markFilledWords(runs[:end], "{}", "./"))
				c.dirs.lost = c.dirs.lost || strings.HasSuffix(a.text, "dir") // in the folder of each file
				p.run(c)
			}
		}
	}
}

// plainSed matches a script of addresses, s, p, d, q and = alone: it only changes what sed prints.
var plainSed = lazyRegexp(func() string {
	text := func(end string) string { // no set in brackets has an end in it, which not all seds read alike
		in := `[^\]\[\\\n` + end + `]`
		if end != ":" {
			in = `(?:\[:[a-z]+:\]|` + in + `)`
		}
		return `(?:[^\\\n\[` + end + `]|\\.|\[\^?(?:\]|` + in + `)` + in + `*\])*` + end
	}
	puts := ""
	for _, end := range []string{"/", ",", ":", "#", "@", `\|`} {
		puts += "|s" + end + text(end) + text(end) + `[gpiI0-9]*`
	}
	address := `(?:[0-9]+|\$|/` + text("/") + `)`
	return `^(?:[\s;]*(?:` + address + `(?:,` + address + `)?)?!?\s*(?:[pdq=]` + puts + `)\s*(?:[;\n]|$))*[\s;]*$`
}())

// judgeSed judges sed: in place it writes its files, and a script of its own may
// write, read or run more.
func judgeSed(p *program) {
	argv, inPlace, suffix := sedFlags(p.argv)
	o := p.with(argv).options("efl", "expression", "file", "line-length")
	p.unsureOf(o)
	if o.has("f", "file") {
		p.unsure("sed reads its script from a file")
	}
	var scripts []word
	files := o.operands
	for _, f := range o.options {
		if f.means("e", "expression") {
			scripts = append(scripts, f.value)
		}
	}
	if len(scripts) == 0 && len(files) > 0 && !o.has("f", "file") {
		scripts, files = files[:1], files[1:]
	}
	for _, s := range scripts {
		if !s.known || !plainSed().MatchString(s.text) {
			p.unsure("the sed script %s may write, read or run more than its files; use only s/…/…/, p, d, q and =", s.text)
		}
	}
	if inPlace {
		p.writes(false, files...)
		for _, f := range files {
			p.keeps(f, suffix)
		}
	} else {
		p.reads(files...)
	}
}

// sedEdits matches a word of flags by which sed edits in place.
var sedEdits = lazyRegexp(`^-(?:-i[^=]*=?|[^ief-][^ief]*i|i)`)

// sedFlags is an argv without what tells sed to edit in place, whether it does, and the suffix of what
// it keeps.
func sedFlags(argv []word) (rest []word, inPlace bool, suffix word) {
	rest = slices.Clone(argv)
	for i, a := range argv[1:] {
		if sedEdits().MatchString(a.lead) {
			rest[i+1], inPlace = knownWord("-s"), true
			suffix = word{text: sedEdits().ReplaceAllString(a.text, ""), known: a.known}
			if strings.HasSuffix(a.text, "i") && i+2 < len(argv) && argv[i+2].is("") {
				rest[i+2] = knownWord("-s") // the suffix that other seds want
			}
		}
	}
	return rest, inPlace, suffix
}

// judgeAwk judges awk: its program may write and run whatever it likes.
func judgeAwk(p *program) {
	o := p.options("FvfiloedpD", "field-separator", "assign", "file", "include", "load")
	if slices.ContainsFunc(o.options, func(f option) bool { return !f.means("F", "v", "field-separator", "assign") }) {
		p.unsure("%s has flags that may write files", p.name())
	}
	if len(o.operands) == 0 {
		p.unsureOf(o)
		return
	}
	prog := o.operands[0] // behind which no word is a flag
	if at := slices.Index(p.argv, prog); slices.ContainsFunc(p.argv[1:at], func(a word) bool { return a.mayBeFlag() || !a.known && strings.HasPrefix(a.lead, "-") }) {
		p.unsure("%s gets arguments that are not known", p.name())
	}
	tame := strings.NewReplacer("||", "", ">=", "").Replace(prog.text)
	if !prog.known || strings.ContainsAny(tame, "|>@") || strings.Contains(tame, "system") || strings.Contains(tame, "getline") {
		p.unsure("the %s program may write files or run programs", p.name())
	}
	p.reads(o.operands[1:]...)
}
