package policy

import (
	"fmt"
	"path"
	"strings"
)

// writers are the programs that change files named in their argv.
var writers = map[string]func(*walker, call){
	"rm": (*walker).remove, "rmdir": (*walker).remove, "unlink": (*walker).remove,
	"mv": (*walker).move, "cp": (*walker).copy, "install": (*walker).copy, "ln": (*walker).link,
	"tee": touches(""), "touch": touches("drt"), "mkdir": touches("m"), "truncate": touches("sr"), "mkfifo": touches("m"), "mknod": touches("m"),
	"chmod": (*walker).mode, "chown": (*walker).mode, "chgrp": (*walker).mode,
	"dd": (*walker).dd, "uniq": (*walker).uniq, "xxd": (*walker).xxd,
	"gofmt": formats("w"), "goimports": formats("w"), "gofumpt": formats("w"),
}

// touches is a program that writes every operand it has.
func touches(takes string) func(*walker, call) {
	return func(w *walker, c call) {
		p := c.options(takes, "date", "reference", "mode", "size", "time")
		w.dynamic(c, p)
		w.write(c, p.operands...)
	}
}

// formats is a program that rewrites its operands, files and folders, under a flag.
func formats(flag string) func(*walker, call) {
	return func(w *walker, c call) {
		p := c.options("")
		w.dynamic(c, p)
		if p.has(flag) {
			w.writeTree(c, p.operands...)
		} else {
			w.read(c, p.operands...)
		}
	}
}

// dynamic says that flags may be hidden in a word of a program that writes.
func (w *walker) dynamic(c call, p parsed) {
	if p.dynamic {
		w.pend("%s gets arguments that are not known", c.name())
	}
}

func (w *walker) remove(c call) {
	p := c.options("")
	w.dynamic(c, p)
	all := p.has("r", "R", "recursive")
	for _, n := range p.operands {
		if w.destroys(c, n) {
			continue
		}
		w.writes(c, all, []word{n})
	}
}

// target takes where a copy or a move goes to from the operands.
func target(p parsed) (from []word, to word, folder, ok bool) {
	if o, is := p.option("t", "target-directory"); is {
		return p.operands, o.value, true, true
	}
	if len(p.operands) < 2 {
		return p.operands, word{}, false, false
	}
	last := len(p.operands) - 1
	return p.operands[:last], p.operands[last], last > 1, true
}

// into writes to a target that may be a file or a folder that takes each by its
// own name.
func (w *walker) into(c call, from []word, to word, folder, tree bool) {
	if !folder {
		w.writes(c, tree, []word{to})
	}
	for _, n := range from {
		if !n.known {
			w.pend("%s writes %s, and the command does not show which file that is", c.name(), n.text)
			continue
		}
		inner := to
		inner.text = strings.TrimSuffix(to.text, "/") + "/" + path.Base(n.text)
		w.writes(c, tree, []word{inner})
	}
}

func (w *walker) move(c call) {
	p := c.options("tS", "target-directory", "suffix")
	w.dynamic(c, p)
	from, to, folder, ok := target(p)
	for _, n := range from {
		if !w.destroys(c, n) {
			w.writes(c, w.mayBeFolder(n), []word{n})
		}
	}
	if ok {
		w.into(c, from, to, folder, false)
	}
}

// mayBeFolder guesses for a work tree that is not at hand: a name without an
// extension may be a folder's.
func (w *walker) mayBeFolder(n word) bool {
	return w.p.Files != nil || strings.Trim(path.Ext(n.text), ".") == ""
}

func (w *walker) copy(c call) {
	p := c.options("tSmog", "target-directory", "suffix", "mode", "owner", "group")
	w.dynamic(c, p)
	if program(c.name()) == "install" && p.has("d", "directory") {
		w.write(c, p.operands...)
		return
	}
	from, to, folder, ok := target(p)
	w.read(c, from...)
	for _, n := range from {
		w.copiesOdd(c, n)
	}
	if ok {
		w.into(c, from, to, folder, p.has("r", "R", "a", "recursive", "archive"))
	}
	if p.has("s", "l", "symbolic-link", "link", "parents") && program(c.name()) == "cp" {
		w.pend("cp makes links, or folders that are not named")
	}
}

// copiesOdd refuses a second name for odd's own program, under which no rule would know it.
// A folder of the repository may have that name.
func (w *walker) copiesOdd(c call, from word) {
	for _, a := range parts(from.text) {
		if deniedAs(a.text) == "odd" && (!from.known || outside(w.resolve(c.dirs.at[0], a.text))) {
			w.hard("command_human_act", c.name()+" makes a copy of odd, whose commands no rule would know", "run odd by its name")
		}
	}
}

// link makes a file go by a second name, under which no rule knows it.
func (w *walker) link(c call) {
	p := c.options("tS", "target-directory", "suffix")
	from, to, folder, ok := target(p)
	if !ok && len(from) == 1 {
		to, ok = word{text: path.Base(from[0].text), known: from[0].known}, true
	}
	for _, n := range from {
		w.copiesOdd(c, n)
		for _, d := range c.dirs.at {
			r := w.resolve(d, n.text)
			if !n.known || outside(r) || len(CheckProtected(r, w.p.Protect)) > 0 {
				w.hard("command_link", fmt.Sprintf("ln gives %s a name in the repository", n.text), "copy what is needed, or leave it out")
			}
		}
	}
	if ok {
		w.into(c, from, to, folder, false)
	}
	w.unknown("ln gives one file two names")
}

// mode judges changes of rights: files that all may write, or that lend their
// owner's rights, are denied.
func (w *walker) mode(c call) {
	p := c.options("", "reference", "from")
	args := p.operands
	given := p.has("reference") || program(c.name()) == "chmod" && p.has("r", "w", "x", "X", "s", "t") // a mode like -w
	if program(c.name()) == "chmod" && !given {
		for i, a := range args {
			if i == 0 && loose(a.text) || !a.known && i == 0 {
				w.hard("command_permission", "chmod "+a.text+" lets everyone write or sets the setuid bit", "give rights to the owner only, like chmod 755 or u+x")
			}
		}
	}
	if len(args) > 0 && !given {
		args = args[1:]
	}
	w.dynamic(c, p)
	w.writes(c, p.has("R", "recursive"), args)
}

// loose reports whether a mode, octal or symbolic, lets others write or sets an id.
func loose(mode string) bool {
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

func (w *walker) dd(c call) {
	for _, a := range c.argv[1:] {
		key, value, _ := strings.Cut(a.text, "=")
		n := word{text: value, known: a.known, lead: value}
		switch {
		case key == "of":
			w.write(c, n)
		case key == "if":
			w.read(c, n)
		case !a.known && !strings.Contains(a.lead, "="):
			w.pend("dd gets arguments that are not known")
		}
	}
}

func (w *walker) uniq(c call) {
	p := c.options("fsw", "skip-fields", "skip-chars", "check-chars")
	w.dynamic(c, p)
	if len(p.operands) > 0 {
		w.read(c, p.operands[0])
		w.write(c, p.operands[1:]...)
	}
}

func (w *walker) xxd(c call) {
	p := c.options("cglosn")
	w.dynamic(c, p)
	if len(p.operands) > 0 {
		w.read(c, p.operands[0])
		w.write(c, p.operands[1:]...)
	}
}
