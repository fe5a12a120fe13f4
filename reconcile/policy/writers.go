package policy

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// judgeWriter judges a program that writes every operand it has.
func judgeWriter(p *program) {
	takes := map[string]string{"touch": "drt", "mkdir": "m", "mkfifo": "m", "mknod": "m", "truncate": "sr"}
	o := p.options(takes[programName(p.name())], "date", "reference", "mode", "size", "time")
	p.unsureOf(o)
	p.writes(false, o.operands...)
}

// judgeFormatter judges a program that rewrites its operands, files and folders, under -w.
func judgeFormatter(p *program) {
	judgeGoFlags(p, p.argv[1:])
	o := p.options("")
	p.unsureOf(o)
	if o.has("w") {
		p.writes(true, o.operands...)
	} else {
		p.reads(o.operands...)
	}
}

// judgeFilter judges a program that reads one file and writes another.
func judgeFilter(p *program) {
	takes := map[string]string{"uniq": "fsw", "xxd": "cglosnR"}
	c := p.with(slices.Clone(p.argv))
	for i, a := range c.argv { // xxd has words behind one dash, of which the first letter counts
		if programName(p.name()) == "xxd" && strings.HasPrefix(a.lead, "-") && len(a.text) > 2 && !strings.Contains(takes["xxd"], a.text[1:2]) {
			c.argv[i] = word{text: "-p", known: a.known, lead: "-p"}
		}
	}
	o := c.options(takes[programName(p.name())], "skip-fields", "skip-chars", "check-chars")
	p.unsureOf(o)
	if len(o.operands) > 0 {
		if n := o.operands[0]; n.glob || n.splits {
			p.unsure("%s writes the second of its files, and %s may be two", p.name(), n.text)
		}
		p.reads(o.operands[0])
		p.writes(false, o.operands[1:]...)
	}
}

func judgeDd(p *program) {
	for _, a := range p.argv[1:] {
		key, value, _ := strings.Cut(a.text, "=")
		n := word{text: value, known: a.known, lead: value}
		switch {
		case key == "of":
			p.writes(false, n)
		case key == "if":
			p.reads(n)
		case !a.known && !strings.Contains(a.lead, "="):
			p.unsure("dd gets arguments that are not known")
		}
	}
}

func judgeRemove(p *program) {
	o := p.options("")
	p.unsureOf(o)
	for _, n := range o.operands {
		if !deniesDestroying(p, n) {
			p.writes(o.has("r", "R", "recursive"), n)
		}
	}
}

// transfer is a copy, a move or a link: of what, and where to. A folder takes each by its own name.
type transfer struct {
	from   []word
	to     word
	folder bool
	kept   []option // flags that keep what was there
}

// readTransfer takes the operands of a program apart that copies, moves or links.
func readTransfer(o parsed) transfer {
	last := len(o.operands) - 1
	t := transfer{from: o.operands}
	into, is := o.option("t", "target-directory")
	switch {
	case is:
		t.to, t.folder = into.value, true
		t.to.text = cmp.Or(t.to.text, "…")
	case last > 0:
		t.from, t.to, t.folder = o.operands[:last], o.operands[last], last > 1
	}
	for _, f := range o.options {
		if f.means("b", "backup", "S", "suffix") {
			t.kept = append(t.kept, f)
		}
	}
	return t
}

// puts writes to a target that may be a file or a folder.
func (t transfer) puts(p *program, tree bool) {
	if t.to.text == "" {
		if slices.ContainsFunc(t.from, func(n word) bool { return n.glob || n.splits }) {
			p.unsure("%s writes the last of its files, and the command does not show which that is", p.name())
		}
		return
	}
	for _, n := range t.from {
		if !n.known {
			p.unsure("%s writes %s, and the command does not show which file that is", p.name(), n.text)
			continue
		}
		inner := t.to
		inner.text = strings.TrimSuffix(t.to.text, "/") + "/" + path.Base(n.text)
		t.put(p, inner, tree, n)
	}
	if !t.folder {
		t.put(p, t.to, tree, t.from...)
	}
}

// put writes one target, with all that is below what it is made from.
func (t transfer) put(p *program, to word, tree bool, from ...word) {
	p.writes(tree, to)
	for _, n := range from {
		for _, r := range p.places(n.text) {
			if p.policy.Files == nil || isOutside(r) {
				continue
			}
			if info, err := fs.Stat(p.policy.Files, r); err == nil && info.IsDir() {
				all := to
				all.text = strings.TrimSuffix(to.text, "/") + "/**"
				p.writes(false, all)
			}
		}
	}
	for _, f := range t.kept {
		if f.means("S", "suffix") {
			p.keeps(to, f.value)
		} else {
			p.unsure("%s keeps what was in %s, and the command does not show where", p.name(), to.text)
		}
	}
}

// keeps notes that what was in a file goes by another name: with a suffix, or with * in it for the file's.
func (p *program) keeps(name, suffix word) {
	switch {
	case suffix.text == "":
	case !suffix.known || strings.ContainsAny(suffix.text, "*/"):
		p.unsure("%s keeps a copy of %s, and the command does not show where", p.name(), name.text)
	default:
		name.text = strings.TrimSuffix(name.text, "/") + suffix.text
		p.writes(false, name)
	}
}

func judgeMove(p *program) {
	o := p.options("tS", "target-directory", "suffix")
	p.unsureOf(o)
	t := readTransfer(o)
	for _, n := range t.from {
		if !deniesDestroying(p, n) {
			p.writes(p.policy.mayBeFolder(n), n)
		}
	}
	t.puts(p, false)
}

func judgeCopy(p *program) {
	o := p.options("tSmog", "target-directory", "suffix", "mode", "owner", "group")
	p.unsureOf(o)
	installs := programName(p.name()) == "install"
	if installs && o.has("d", "directory") {
		p.writes(false, o.operands...)
		return
	}
	t := readTransfer(o)
	p.reads(t.from...)
	for _, n := range t.from {
		copiesOdd(p, n)
	}
	t.puts(p, o.has("r", "R", "a", "recursive", "archive"))
	if !installs && o.has("s", "l", "symbolic-link", "link", "parents") {
		p.unsure("cp makes links, or folders that are not named")
	}
}

// copiesOdd refuses a second name for odd's own program, under which no rule would know it.
// A folder of the repository may have that name.
func copiesOdd(p *program, from word) {
	for _, a := range splitNames(from.text) {
		if denyTableName(a.text) == "odd" && (!from.known || isOutside(p.places(a.text)[0])) {
			p.addHard("command_human_act", p.name()+" makes a copy of odd, whose commands no rule would know", "run odd by its name")
		}
	}
}

// judgeLink makes a file go by a second name, under which no rule knows it.
func judgeLink(p *program) {
	t := readTransfer(p.options("tS", "target-directory", "suffix"))
	if t.to.text == "" && len(t.from) == 1 {
		t.to = word{text: path.Base(t.from[0].text), known: t.from[0].known}
	}
	for _, n := range t.from {
		copiesOdd(p, n)
		for _, r := range p.places(n.text) {
			if !n.known || isOutside(r) || len(CheckProtected(r, p.policy.Protect)) > 0 {
				p.addHard("command_link", fmt.Sprintf("ln gives %s a name in the repository", n.text), "copy what is needed, or leave it out")
			}
		}
	}
	t.puts(p, false)
	p.noteUnknown("ln gives one file two names")
}

// judgeMode judges changes of rights: files that all may write, or that lend their
// owner's rights, are denied.
func judgeMode(p *program) {
	o := p.options("", "reference", "from")
	args, chmod := o.operands, programName(p.name()) == "chmod"
	if given := o.has("reference") || chmod && o.has("r", "w", "x", "X", "s", "t"); !given && len(args) > 0 { // a mode like -w is
		if mode := args[0]; chmod && (!mode.known || isLooseMode(mode.text)) {
			p.addHard("command_permission", "chmod "+mode.text+" lets everyone write or sets the setuid bit", "give rights to the owner only, like chmod 755 or u+x")
		}
		args = args[1:]
	}
	p.unsureOf(o)
	p.writes(o.has("R", "recursive"), args...)
}

// isLooseMode reports whether a mode, octal or symbolic, lets others write or sets an id.
func isLooseMode(mode string) bool {
	if strings.Trim(mode, "01234567") == "" && mode != "" {
		digits := strings.TrimLeft(mode, "0")
		if len(digits) > 3 && strings.ContainsAny(digits[:len(digits)-3], "234567") {
			return true
		}
		return digits != "" && strings.ContainsAny(digits[len(digits)-1:], "2367")
	}
	for _, clause := range strings.Split(mode, ",") {
		who, rights, ok := strings.Cut(strings.ReplaceAll(clause, "=", "+"), "+")
		everyone := who == "" || strings.ContainsAny(who, "oa")
		if ok && (strings.Contains(rights, "s") || strings.Contains(rights, "w") && everyone && who != "") {
			return true
		}
	}
	return false
}
