package policy

import (
	"fmt"
	"path"
	"strings"
)

// writers are the programs that change files named in their argv.
var writers = map[string]func(*walker, call){
	"rm": (*walker).judgeRemove, "rmdir": (*walker).judgeRemove, "unlink": (*walker).judgeRemove,
	"mv": (*walker).judgeMove, "cp": (*walker).judgeCopy, "install": (*walker).judgeCopy, "ln": (*walker).judgeLink,
	"tee": writesOperands(""), "touch": writesOperands("drt"), "mkdir": writesOperands("m"), "truncate": writesOperands("sr"), "mkfifo": writesOperands("m"), "mknod": writesOperands("m"),
	"chmod": (*walker).judgeMode, "chown": (*walker).judgeMode, "chgrp": (*walker).judgeMode,
	"dd": (*walker).judgeDd, "uniq": (*walker).judgeUniq, "xxd": (*walker).judgeXxd,
	"gofmt": formatsInPlace, "goimports": formatsInPlace, "gofumpt": formatsInPlace,
}

// writesOperands is a program that writes every operand it has.
func writesOperands(takes string) func(*walker, call) {
	return func(w *walker, c call) {
		p := c.options(takes, "date", "reference", "mode", "size", "time")
		w.addDynamicPending(c, p)
		w.noteWrites(c, p.operands...)
	}
}

// formatsInPlace judges a program that rewrites its operands, files and folders, under -w.
func formatsInPlace(w *walker, c call) {
	p := c.options("")
	w.addDynamicPending(c, p)
	if p.has("w") {
		w.noteTreeWrites(c, p.operands...)
	} else {
		w.noteReads(c, p.operands...)
	}
}

// addDynamicPending says that flags may be hidden in a word of a program that writes.
func (w *walker) addDynamicPending(c call, p parsed) {
	if p.dynamic {
		w.addPending("%s gets arguments that are not known", c.name())
	}
}

func (w *walker) judgeRemove(c call) {
	p := c.options("")
	w.addDynamicPending(c, p)
	all := p.has("r", "R", "recursive")
	for _, n := range p.operands {
		if w.deniesDestroying(c, n) {
			continue
		}
		w.noteWrittenWords(c, all, []word{n})
	}
}

// copyTarget takes where a copy or a move goes to from the operands.
func copyTarget(p parsed) (from []word, to word, folder, ok bool) {
	if o, is := p.option("t", "target-directory"); is {
		return p.operands, o.value, true, true
	}
	if len(p.operands) < 2 {
		return p.operands, word{}, false, false
	}
	last := len(p.operands) - 1
	return p.operands[:last], p.operands[last], last > 1, true
}

// noteTargetWrites writes to a target that may be a file or a folder that takes each by its
// own name.
func (w *walker) noteTargetWrites(c call, from []word, to word, folder, tree bool) {
	if !folder {
		w.noteWrittenWords(c, tree, []word{to})
	}
	for _, n := range from {
		if !n.known {
			w.addPending("%s writes %s, and the command does not show which file that is", c.name(), n.text)
			continue
		}
		inner := to
		inner.text = strings.TrimSuffix(to.text, "/") + "/" + path.Base(n.text)
		w.noteWrittenWords(c, tree, []word{inner})
	}
}

func (w *walker) judgeMove(c call) {
	p := c.options("tS", "target-directory", "suffix")
	w.addDynamicPending(c, p)
	from, to, folder, ok := copyTarget(p)
	for _, n := range from {
		if !w.deniesDestroying(c, n) {
			w.noteWrittenWords(c, w.mayBeFolder(n), []word{n})
		}
	}
	if ok {
		w.noteTargetWrites(c, from, to, folder, false)
	}
}

// mayBeFolder guesses for a work tree that is not at hand: a name without an
// extension may be a folder's.
func (w *walker) mayBeFolder(n word) bool {
	return w.p.Files != nil || strings.Trim(path.Ext(n.text), ".") == ""
}

func (w *walker) judgeCopy(c call) {
	p := c.options("tSmog", "target-directory", "suffix", "mode", "owner", "group")
	w.addDynamicPending(c, p)
	if programName(c.name()) == "install" && p.has("d", "directory") {
		w.noteWrites(c, p.operands...)
		return
	}
	from, to, folder, ok := copyTarget(p)
	w.noteReads(c, from...)
	for _, n := range from {
		w.copiesOdd(c, n)
	}
	if ok {
		w.noteTargetWrites(c, from, to, folder, p.has("r", "R", "a", "recursive", "archive"))
	}
	if p.has("s", "l", "symbolic-link", "link", "parents") && programName(c.name()) == "cp" {
		w.addPending("cp makes links, or folders that are not named")
	}
}

// copiesOdd refuses a second name for odd's own program, under which no rule would know it.
// A folder of the repository may have that name.
func (w *walker) copiesOdd(c call, from word) {
	for _, a := range splitNames(from.text) {
		if denyTableName(a.text) == "odd" && (!from.known || isOutside(w.resolvePath(c.dirs.at[0], a.text))) {
			w.addHard("command_human_act", c.name()+" makes a copy of odd, whose commands no rule would know", "run odd by its name")
		}
	}
}

// judgeLink makes a file go by a second name, under which no rule knows it.
func (w *walker) judgeLink(c call) {
	p := c.options("tS", "target-directory", "suffix")
	from, to, folder, ok := copyTarget(p)
	if !ok && len(from) == 1 {
		to, ok = word{text: path.Base(from[0].text), known: from[0].known}, true
	}
	for _, n := range from {
		w.copiesOdd(c, n)
		for _, d := range c.dirs.at {
			r := w.resolvePath(d, n.text)
			if !n.known || isOutside(r) || len(CheckProtected(r, w.p.Protect)) > 0 {
				w.addHard("command_link", fmt.Sprintf("ln gives %s a name in the repository", n.text), "copy what is needed, or leave it out")
			}
		}
	}
	if ok {
		w.noteTargetWrites(c, from, to, folder, false)
	}
	w.noteUnknown("ln gives one file two names")
}

// judgeMode judges changes of rights: files that all may write, or that lend their
// owner's rights, are denied.
func (w *walker) judgeMode(c call) {
	p := c.options("", "reference", "from")
	args := p.operands
	given := p.has("reference") || programName(c.name()) == "chmod" && p.has("r", "w", "x", "X", "s", "t") // a mode like -w
	if programName(c.name()) == "chmod" && !given {
		for i, a := range args {
			if i == 0 && isLooseMode(a.text) || !a.known && i == 0 {
				w.addHard("command_permission", "chmod "+a.text+" lets everyone write or sets the setuid bit", "give rights to the owner only, like chmod 755 or u+x")
			}
		}
	}
	if len(args) > 0 && !given {
		args = args[1:]
	}
	w.addDynamicPending(c, p)
	w.noteWrittenWords(c, p.has("R", "recursive"), args)
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

func (w *walker) judgeDd(c call) {
	for _, a := range c.argv[1:] {
		key, value, _ := strings.Cut(a.text, "=")
		n := word{text: value, known: a.known, lead: value}
		switch {
		case key == "of":
			w.noteWrites(c, n)
		case key == "if":
			w.noteReads(c, n)
		case !a.known && !strings.Contains(a.lead, "="):
			w.addPending("dd gets arguments that are not known")
		}
	}
}

func (w *walker) judgeUniq(c call) {
	p := c.options("fsw", "skip-fields", "skip-chars", "check-chars")
	w.addDynamicPending(c, p)
	if len(p.operands) > 0 {
		w.noteReads(c, p.operands[0])
		w.noteWrites(c, p.operands[1:]...)
	}
}

func (w *walker) judgeXxd(c call) {
	p := c.options("cglosn")
	w.addDynamicPending(c, p)
	if len(p.operands) > 0 {
		w.noteReads(c, p.operands[0])
		w.noteWrites(c, p.operands[1:]...)
	}
}
