package policy

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// gitReads are git's verbs that change nothing, with the flags by which they do
// after all.
var gitReads = map[string]string{
	"log": "output ext-diff", "diff": "output ext-diff", "show": "output ext-diff", "diff-tree": "output ext-diff", "diff-index": "output ext-diff", "diff-files": "output ext-diff",
	"whatchanged": "output ext-diff", "range-diff": "output ext-diff", "status": "", "blame": "output", "annotate": "output", "grep": "O open-files-in-pager", "ls-files": "", "ls-tree": "",
	"rev-parse": "", "rev-list": "output", "cat-file": "textconv filters", "describe": "", "shortlog": "output", "name-rev": "", "merge-base": "", "for-each-ref": "", "show-ref": "", "show-branch": "",
	"cherry": "", "count-objects": "", "fsck": "lost-found", "check-ignore": "", "check-attr": "", "check-ref-format": "", "var": "", "version": "", "help": "w web", "hash-object": "w",
	"verify-commit": "", "verify-tag": "", "stripspace": "", "interpret-trailers": "in-place trailer-command", "patch-id": "", "merge-tree": "",
}

// gitLists are the verbs that read when they begin with one of these words, or
// with none where "" is among them.
var gitLists = map[string][]string{
	"stash": {"list", "show"}, "remote": {"", "get-url"}, "reflog": {"", "show", "exists"}, "worktree": {"list"}, "submodule": {"", "status", "summary"},
	"notes": {"", "list", "show"}, "bisect": {"log"}, "sparse-checkout": {"list"}, "lfs": {"ls-files", "status"}, "bundle": {"verify", "list-heads"}, "symbolic-ref": {"HEAD"},
}

// gitDenials are git's verbs that no machine runs, with the words or flags that
// make them so; none is always.
var gitDenials = []struct{ code, verbs, when, why string }{
	{"command_git_push", "push send-pack receive-pack http-push svn p4 send-email imap-send daemon instaweb credential", "", "contacts other machines with the user's credentials"},
	{"command_git_discard", "reset", "hard merge keep", "discards work"},
	{"command_git_discard", "checkout switch", "f force discard-changes", "discards work"},
	{"command_git_discard", "stash", "drop clear", "discards work"},
	{"command_git_history", "filter-branch filter-repo update-ref replace prune fast-import reset-ref", "", "rewrites history"},
	{"command_human_act", "am quiltimport", "", "makes commits with texts that odd does not read"},
	{"command_human_act", "commit-tree", "", "makes a commit with a text that odd does not read"},
	{"command_human_act", "notes", "add append edit copy merge", "adds a text to a commit of another"},
	{"command_git_history", "reflog", "expire delete", "removes history that could undo a mistake"},
	{"command_git_history", "gc repack maintenance", "prune aggressive register start d D", "removes history that could undo a mistake"},
	{"command_git_history", "branch tag", "d D M f delete force", "moves or removes a branch or tag"},
	{"command_git_history", "rebase", "i interactive edit-todo", "rewrites history as an editor says"},
	{"command_git_config", "remote", "add set-url remove rm rename set-head set-branches", "changes the remotes of git"},
	{"command_git_config", "submodule", "add foreach set-url sync update init", "fetches and runs other people's code"},
	{"command_git_config", "worktree", "add remove move repair prune", "changes where git works"},
	{"command_git_config", "config", "", "changes what git runs"},
	{"command_evaluated", "bisect", "run", "runs a command as text"},
	{"command_evaluated", "rebase", "x exec", "runs a command as text"},
	{"command_evaluated", "difftool mergetool for-each-repo", "", "runs another program"},
	{"command_evaluated", "fetch pull clone ls-remote fetch-pack archive", "upload-pack exec u", "runs a program that its flag names"},
}

// judgeGit judges the git command: its own flags, then its verb.
func (w *walker) judgeGit(c call) {
	c, args := w.gitFlags(c)
	if len(args) == 0 {
		return
	}
	w.gitWorks(c.dirs)
	verb := args[0]
	if !verb.known {
		w.addHard("command_dynamic", "the git command is not written out: "+verb.text, "write the git command by name")
		return
	}
	takes, long := "", []string{"pathspec-from-file"}
	switch {
	case verb.is("restore"):
		takes, long = "s", append(long, "source")
	case verb.is("commit", "merge"):
		takes, long = "mFCct", append(long, append(commitTexts(), "author", "date", "cleanup")...)
	case verb.is("notes"):
		long = []string{"ref"}
	case !verb.is("add", "stage", "rm", "mv", "checkout"):
		long = append(long, "sort", "format", "contains", "points-at")
	}
	p := c.with(args).options(takes, long...)
	if verb.text == "config" && w.gitConfigReads(p) {
		return
	}
	w.gitDenied(verb.text, p)
	w.gitVerb(c, verb.text, args, p)
}

// gitWorks looks at the folders git is to work in. Below the top, one that looks
// like a repository is one, and git runs what its config says.
func (w *walker) gitWorks(in dirs) {
	if in.lost {
		w.addPending("git works in an unknown folder")
	}
	for _, d := range in.at {
		switch {
		case isOutside(d):
			w.addPending("git works in another repository, %s", d)
			continue
		case w.p.Files == nil && d != ".":
			w.addPending("git works in %s, which may be another repository", d)
		}
		if d != "." {
			w.gitIn = append(w.gitIn, d)
		}
		for ; d != "." && w.p.Files != nil; d = path.Dir(d) {
			_, head := fs.Lstat(w.p.Files, path.Join(d, "HEAD"))
			if _, own := fs.Lstat(w.p.Files, path.Join(d, ".git")); head == nil || own == nil {
				w.addPending("git works in %s, which may be a repository with settings of its own", d)
				break
			}
		}
	}
}

// gitMade says that the line may itself make a repository of a folder that git
// works in.
func (w *walker) gitMade() {
	for _, d := range w.gitIn {
		for _, r := range w.v.Writes {
			at := strings.TrimSuffix(r, "/**")
			if strings.HasPrefix(d+"/", at+"/") || path.Base(FoldPath(at)) == "head" {
				w.noteUnknown("git works in %s, and the command may turn that into a repository", d)
			}
		}
	}
}

// gitElsewhere are the flags by which git works on another repository, and whether
// a word of their own follows.
var gitElsewhere = map[string]bool{"--git-dir": true, "--work-tree": true, "--config-env": true, "--namespace": true, "--super-prefix": true, "--attr-source": true,
	"--bare": false, "--exec-path": false}

// gitFlags judges the flags before git's verb, and returns what follows them.
func (w *walker) gitFlags(c call) (call, []word) {
	args := c.argv[1:]
	for len(args) > 0 && strings.HasPrefix(args[0].lead, "-") {
		flag, _, has := strings.Cut(args[0].text, "=")
		value := word{}
		if len(args) > 1 {
			value = args[1]
		}
		valued, elsewhere := gitElsewhere[flag]
		switch {
		case flag == "-C":
			c.dirs, valued = w.enterFolder(c.dirs, value), true
		case flag == "-c":
			w.gitSetting(value)
			valued = true
		case elsewhere && (flag != "--exec-path" || has): // alone, it tells where git keeps its programs
			w.addHard("command_git_config", "git "+flag+" makes git work on another repository", "run git as it is in this repository")
		}
		args = args[1:]
		if valued && !has && len(args) > 0 {
			args = args[1:]
		}
	}
	return c, args
}

// tameGit are the settings that only change what git looks like.
var tameGit = strings.Fields("color.ui core.quotepath core.pager log.showsignature advice.detachedhead diff.renames")

// gitSetting judges what git -c sets.
func (w *walker) gitSetting(value word) {
	key, _, _ := strings.Cut(strings.ToLower(value.text), "=")
	if !value.known || !slices.Contains(tameGit, key) || key == "core.pager" && !value.is("core.pager=cat", "core.pager=") {
		w.addHard("command_git_config", "git -c "+value.text+" changes what git runs", "run git with the repository's own settings")
	}
}

// gitConfigReads reports whether git config only tells.
func (w *walker) gitConfigReads(p parsed) bool {
	verb := p.first().text
	reads := p.has("get", "get-all", "get-regexp", "get-urlmatch", "list", "l") || verb == "get" || verb == "list"
	return reads && !p.has("unset", "unset-all", "add", "replace-all", "edit", "e", "rename-section", "remove-section")
}

// gitDenied adds the rows of git's deny table that a verb trips.
func (w *walker) gitDenied(verb string, p parsed) {
	if verb == "clean" && !p.has("n", "dry-run") {
		w.addHard("command_git_discard", "git clean deletes files that are not in history", "delete the files by name")
	}
	if verb == "gc" && !p.has("prune") || verb == "branch" && p.has("l", "list") {
		return
	}
	for _, d := range gitDenials {
		if !slices.Contains(strings.Fields(d.verbs), verb) {
			continue
		}
		hit := d.when == ""
		for _, word := range strings.Fields(d.when) {
			hit = hit || p.first().is(word) || p.hasExact(word)
		}
		if hit {
			w.addHard(d.code, fmt.Sprintf("git %s %s", verb, d.why), "leave it to a person")
		}
	}
}

// hasExact is has for one name: a letter is a letter, a longer name a long flag,
// which may be shortened to no less than three letters.
func (p parsed) hasExact(name string) bool {
	return slices.ContainsFunc(p.options, func(o option) bool {
		return o.name == name || len(o.name) > 2 && len(name) > 2 && strings.HasPrefix(name, o.name)
	})
}

// gitVerb judges what a verb reads and writes.
func (w *walker) gitVerb(c call, verb string, args []word, p parsed) {
	if flags, tells := gitTells(verb, p); tells {
		w.gitShows(c, verb, flags, p)
		return
	}
	for _, a := range args[1:] {
		if strings.Contains(a.text, "odd/review/") && verb != "branch" && verb != "tag" {
			w.addHard("command_human_act", "git "+verb+" takes in a proposal, which only a person approves", "look at it with git show or git diff")
		}
	}
	switch {
	case verb == "apply" && p.has("stat", "numstat", "summary", "check") && !p.has("apply", "index", "3way", "reject", "build-fake-ancestor"):
	case verb == "add" || verb == "stage":
		w.gitTakes(c, verb, p)
	case verb == "commit":
		w.gitSays(c, verb, p)
		w.gitTakes(c, verb, p)
	case verb == "merge":
		w.gitSays(c, verb, p)
		w.addPending("it is not known which files git %s writes", verb)
	case verb == "branch" || verb == "tag":
		w.gitNames(verb, p)
	case slices.Contains([]string{"rm", "restore", "checkout", "mv"}, verb):
		w.gitPuts(c, verb, args, p)
	case slices.Contains([]string{"fetch", "pull", "clone", "ls-remote", "fetch-pack"}, verb), verb == "remote" && slices.Contains([]string{"show", "update"}, p.first().text):
		w.noteNetwork(c)
	default:
		w.addPending("it is not known which files git %s writes", verb)
	}
}

// gitTells reports a verb that, with these operands, only tells, and the flags by
// which it does more after all.
func gitTells(verb string, p parsed) (flags string, tells bool) {
	if flags, tells = gitReads[verb]; tells {
		return flags, true
	}
	first := p.first().text
	return "output ext-diff", slices.Contains(gitLists[verb], first) && (first != "HEAD" || len(p.operands) == 1)
}

// gitShows judges a verb that reads, and what it shows of files that hold
// credentials.
func (w *walker) gitShows(c call, verb, flags string, p parsed) {
	for _, flag := range strings.Fields(flags) {
		if p.has(flag) {
			w.addPending("git %s with %s writes a file or runs a program", verb, flag)
		}
	}
	if flags != "" && p.dynamic {
		w.addPending("a flag of git %s is not told by the line", verb)
	}
	for _, o := range p.operands {
		o.text = o.text[strings.LastIndexByte(o.text, ':')+1:]
		if o.known && MatchAnyGlob(secretPlaces(), FoldPath(o.text)) {
			w.noteReads(c, o)
		}
	}
}

// commitTexts are the long flags of git commit that give, or name, a text of the message.
func commitTexts() []string {
	return strings.Fields("message trailer file reuse-message reedit-message template fixup squash")
}

// trailer matches a line by which odd knows who approved what, as git commit or its --trailer takes it.
var trailer = lazyRegexp(`(?im)^\s*odd-[\pL\pN_-]*\s*[:=]`)

// gitSays judges the message of a commit: a line such as Odd-Approved-By is how a person's act is
// recorded, so the command has to show every word of the message.
func (w *walker) gitSays(c call, verb string, p parsed) {
	untold := p.dynamic || p.has("amend") && !p.has("m", "message", "F", "file")
	var said []string
	for _, o := range p.options {
		switch {
		case o.name == "m" || o.long && hasLongFlag(o.name, []string{"message", "trailer"}):
			said, untold = append(said, o.value.text), untold || !o.value.known
		case o.name == "F" || o.long && hasLongFlag(o.name, []string{"file"}):
			text, known := w.messageFile(c, o.value)
			said, untold = append(said, text), untold || !known
		case slices.Contains([]string{"C", "c", "t"}, o.name) || o.long && hasLongFlag(o.name, commitTexts()):
			untold = true
		}
	}
	text := strings.Join(said, "\n")
	switch {
	case trailer().MatchString(text) || trailer().MatchString(strings.ReplaceAll(text, "\\\n", "")):
		w.addHard("command_human_act", "git "+verb+" writes a line that begins with Odd-, by which odd records an act", "leave that line out of the message")
	case untold:
		w.addHard("command_human_act", "git "+verb+" takes a message that the command does not show", "write the whole message behind -m")
	}
}

// messageFile returns the text of a file, or of the here-document on standard input, that git
// takes as a message. A file is known if no part of the line before could have written it.
func (w *walker) messageFile(c call, name word) (text string, known bool) {
	if name.is(standardInput...) {
		return c.from.text, c.from.kind == here && c.from.known
	}
	if !name.known || w.p.Files == nil || len(c.dirs.at) != 1 || c.dirs.lost || len(w.v.Writes)+len(w.v.Reasons) > 0 {
		return "", false
	}
	at := w.resolvePath(c.dirs.at[0], name.text)
	if isOutside(at) {
		return "", false
	}
	info, err := fs.Stat(w.p.Files, at)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxCommand {
		return "", false
	}
	b, err := fs.ReadFile(w.p.Files, at)
	return string(b), err == nil && utf8.Valid(b) && !bytes.ContainsAny(b, "\x00\r")
}

// gitTakes judges git add and git commit of files that the line names, and a commit of what was
// added before. Any other takes in files that nobody named.
func (w *walker) gitTakes(c call, verb string, p parsed) {
	plain := strings.Fields("v verbose n dry-run N intent-to-add")
	if verb == "commit" {
		plain = strings.Fields("m message q quiet s signoff v verbose dry-run")
	}
	named := len(p.operands) > 0 || verb == "commit"
	for _, o := range p.options {
		named = named && slices.Contains(plain, o.name)
	}
	for _, n := range p.operands {
		named = named && n.known && !n.glob && !strings.ContainsAny(n.text, ":*?[\\")
		for _, d := range c.dirs.at {
			r := w.resolvePath(d, n.text)
			named = named && r != "." && !isOutside(r) && w.p.Files != nil
		}
	}
	if !named || p.dynamic {
		w.noteUnknown("git %s takes in files that it does not name", verb) // whoever lists git still wants to know
		return
	}
	w.v.Commits = w.v.Commits || verb == "commit"
	for _, n := range p.operands {
		for _, d := range c.dirs.at {
			r := w.resolvePath(d, n.text)
			if info, err := fs.Lstat(w.p.Files, r); err == nil && info.IsDir() {
				r = path.Join(r, "**")
			}
			w.v.Stages = append(w.v.Stages, r)
		}
	}
}

// gitNames judges git branch and git tag, which list or make names.
func (w *walker) gitNames(verb string, p parsed) {
	lists := strings.Fields("list l contains no-contains merged no-merged points-at")
	shows := append(strings.Fields("a r v all remotes verbose show-current sort format color no-color column no-column abbrev i ignore-case n"), lists...)
	other := slices.ContainsFunc(p.options, func(o option) bool { return !slices.Contains(shows, o.name) })
	if other || p.dynamic || len(p.operands) > 0 && !p.has(lists...) {
		w.addPending("git %s makes or changes a name for a commit", verb)
	}
}

// gitPuts judges the verbs that write the files they name.
func (w *walker) gitPuts(c call, verb string, args []word, p parsed) {
	switch {
	case verb == "mv":
		w.judgeMove(c.with(args))
	case p.has("pathspec-from-file") || len(p.operands) == 0 && verb != "checkout":
		w.addPending("git %s takes its paths from elsewhere", verb)
	case verb == "rm":
		w.noteWrittenWords(c, p.has("r"), p.operands)
	case verb == "restore":
		w.gitRestores(c, p.operands)
	default:
		w.gitCheckout(c, args)
	}
}

// gitCheckout judges git checkout: behind -- are paths, before it a commit.
func (w *walker) gitCheckout(c call, args []word) {
	at := slices.IndexFunc(args, func(a word) bool { return a.is("--") })
	switch {
	case at >= 0:
		w.gitRestores(c, args[at+1:])
	case len(args) > 1 && args[len(args)-1].is("."):
		w.gitRestores(c, args[len(args)-1:])
	default:
		w.addPending("git checkout may write any file of another commit")
	}
}

// gitRestores judges paths that git overwrites with what history holds.
func (w *walker) gitRestores(c call, names []word) {
	for _, n := range names {
		if n.known && strings.HasPrefix(n.text, ":") {
			w.addPending("git writes to %s, a pattern of its own", n.text)
			continue
		}
		for _, d := range c.dirs.at {
			if n.known && w.resolvePath(d, n.text) == "." {
				w.addHard("command_git_discard", "git puts back every file, whatever was changed", "name the files to put back")
			}
		}
		w.noteWrittenWords(c, w.mayBeFolder(n), []word{n})
	}
}
