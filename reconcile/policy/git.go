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
func judgeGit(p *program) {
	args := gitFlags(p)
	if len(args) == 0 {
		return
	}
	gitWorks(p)
	verb := args[0]
	if !verb.known {
		p.addHard("command_dynamic", "the git command is not written out: "+verb.text, "write the git command by name")
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
	o := p.with(args).options(takes, long...)
	if verb.text == "config" && gitConfigReads(o) {
		return
	}
	gitDenied(p, verb.text, o)
	gitVerb(p, verb.text, args, o)
}

// gitWorks looks at the folders git is to work in. Below the top, one that looks
// like a repository is one, and git runs what its config says.
func gitWorks(p *program) {
	if p.dirs.lost {
		p.unsure("git works in an unknown folder")
	}
	files := p.policy.Files
	for _, d := range p.dirs.at {
		switch {
		case d == ".":
			continue
		case isOutside(d):
			p.unsure("git works in another repository, %s", d)
			continue
		case files == nil:
			p.unsure("git works in %s, which may be another repository", d)
		}
		p.gitIn = append(p.gitIn, d)
		for ; d != "." && files != nil; d = path.Dir(d) {
			_, head := fs.Lstat(files, path.Join(d, "HEAD"))
			if _, own := fs.Lstat(files, path.Join(d, ".git")); head == nil || own == nil {
				p.unsure("git works in %s, which may be a repository with settings of its own", d)
				break
			}
		}
	}
}

// gitMade says that the line may itself make a repository of a folder that git
// works in.
func (s *shell) gitMade() {
	for _, d := range s.gitIn {
		for _, r := range s.v.Writes {
			at := strings.TrimSuffix(r, "/**")
			if strings.HasPrefix(d+"/", at+"/") || path.Base(FoldPath(at)) == "head" {
				s.noteUnknown("git works in %s, and the command may turn that into a repository", d)
			}
		}
	}
}

// gitElsewhere are the flags by which git works on another repository, and whether
// a word of their own follows.
var gitElsewhere = map[string]bool{"--git-dir": true, "--work-tree": true, "--config-env": true, "--namespace": true, "--super-prefix": true, "--attr-source": true,
	"--bare": false, "--exec-path": false}

// gitFlags judges the flags before git's verb, and returns what follows them.
func gitFlags(p *program) []word {
	args := p.argv[1:]
	for len(args) > 0 && strings.HasPrefix(args[0].lead, "-") {
		flag, _, has := strings.Cut(args[0].text, "=")
		value := word{}
		if len(args) > 1 {
			value = args[1]
		}
		valued, elsewhere := gitElsewhere[flag]
		switch {
		case flag == "-C":
			p.dirs, valued = p.policy.enterFolder(p.dirs, value), true
		case flag == "-c":
			gitSetting(p, value)
			valued = true
		case elsewhere && (flag != "--exec-path" || has): // alone, it tells where git keeps its programs
			p.addHard("command_git_config", "git "+flag+" makes git work on another repository", "run git as it is in this repository")
		}
		args = args[1:]
		if valued && !has && len(args) > 0 {
			args = args[1:]
		}
	}
	return args
}

// tameGit are the settings that only change what git looks like.
var tameGit = strings.Fields("color.ui core.quotepath core.pager log.showsignature advice.detachedhead diff.renames")

// gitSetting judges what git -c sets.
func gitSetting(p *program, value word) {
	key, _, _ := strings.Cut(strings.ToLower(value.text), "=")
	if !value.known || !slices.Contains(tameGit, key) || key == "core.pager" && !value.is("core.pager=cat", "core.pager=") {
		p.addHard("command_git_config", "git -c "+value.text+" changes what git runs", "run git with the repository's own settings")
	}
}

// gitConfigReads reports whether git config only tells.
func gitConfigReads(o parsed) bool {
	reads := o.has("get", "get-all", "get-regexp", "get-urlmatch", "list", "l") || o.first().is("get", "list")
	return reads && !o.has("unset", "unset-all", "add", "replace-all", "edit", "e", "rename-section", "remove-section")
}

// gitDenied adds the rows of git's deny table that a verb trips.
func gitDenied(p *program, verb string, o parsed) {
	if verb == "clean" && !o.has("n", "dry-run") {
		p.addHard("command_git_discard", "git clean deletes files that are not in history", "delete the files by name")
	}
	if verb == "gc" && !o.has("prune") || verb == "branch" && o.has("l", "list") {
		return
	}
	for _, d := range gitDenials {
		when := strings.Fields(d.when)
		if slices.Contains(strings.Fields(d.verbs), verb) && (d.when == "" || o.first().is(when...) || o.has(when...)) {
			p.addHard(d.code, fmt.Sprintf("git %s %s", verb, d.why), "leave it to a person")
		}
	}
}

// gitVerb judges what a verb reads and writes.
func gitVerb(p *program, verb string, args []word, o parsed) {
	if flags, tells := gitTells(verb, o); tells {
		gitShows(p, verb, flags, o)
		return
	}
	for _, a := range args[1:] {
		if strings.Contains(a.text, "odd/review/") && verb != "branch" && verb != "tag" {
			p.addHard("command_human_act", "git "+verb+" takes in a proposal, which only a person approves", "look at it with git show or git diff")
		}
	}
	switch {
	case verb == "apply" && o.has("stat", "numstat", "summary", "check") && !o.has("apply", "index", "3way", "reject", "build-fake-ancestor"):
	case verb == "add" || verb == "stage":
		gitTakes(p, verb, o)
	case verb == "commit":
		gitSays(p, verb, o)
		gitTakes(p, verb, o)
	case verb == "merge":
		gitSays(p, verb, o)
		p.unsure("it is not known which files git %s writes", verb)
	case verb == "branch" || verb == "tag":
		gitNames(p, verb, o)
	case verb == "mv":
		p.argv = args
		judgeMove(p)
	case slices.Contains([]string{"rm", "restore", "checkout"}, verb):
		gitPuts(p, verb, args, o)
	case slices.Contains([]string{"fetch", "pull", "clone", "ls-remote", "fetch-pack"}, verb), verb == "remote" && o.first().is("show", "update"):
		p.usesNetwork()
	default:
		p.unsure("it is not known which files git %s writes", verb)
	}
}

// gitTells reports a verb that, with these operands, only tells, and the flags by
// which it does more after all.
func gitTells(verb string, o parsed) (flags string, tells bool) {
	if flags, tells = gitReads[verb]; tells {
		return flags, true
	}
	first := o.first().text
	return "output ext-diff", slices.Contains(gitLists[verb], first) && (first != "HEAD" || len(o.operands) == 1)
}

// gitShows judges a verb that reads, and what it shows of files that hold
// credentials.
func gitShows(p *program, verb, flags string, o parsed) {
	for _, flag := range strings.Fields(flags) {
		if o.has(flag) {
			p.unsure("git %s with %s writes a file or runs a program", verb, flag)
		}
	}
	if flags != "" && o.dynamic {
		p.unsure("a flag of git %s is not told by the line", verb)
	}
	for _, n := range o.operands {
		n.text = n.text[strings.LastIndexByte(n.text, ':')+1:]
		if n.known && MatchAnyGlob(secretPlaces(), FoldPath(n.text)) {
			p.reads(n)
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
func gitSays(p *program, verb string, flags parsed) {
	untold := flags.dynamic || flags.has("amend") && !flags.has("m", "message", "F", "file")
	var said []string
	for _, o := range flags.options {
		switch {
		case o.means("m", "message", "trailer"):
			said, untold = append(said, o.value.text), untold || !o.value.known
		case o.means("F", "file"):
			text := messageFile(p, o.value)
			said, untold = append(said, text.text), untold || !text.known
		case o.means(append(commitTexts(), "C", "c", "t")...):
			untold = true
		}
	}
	text := strings.Join(said, "\n")
	switch {
	case trailer().MatchString(text) || trailer().MatchString(strings.ReplaceAll(text, "\\\n", "")):
		p.addHard("command_human_act", "git "+verb+" writes a line that begins with Odd-, by which odd records an act", "leave that line out of the message")
	case untold:
		p.addHard("command_human_act", "git "+verb+" takes a message that the command does not show", "write the whole message behind -m")
	}
}

// messageFile returns the text of a file, or of the here-document on standard input, that git
// takes as a message. A file is known if no part of the line before could have written it.
func messageFile(p *program, name word) (text word) {
	if name.is(standardInput...) {
		return p.from.doc
	}
	if !name.known || p.policy.Files == nil || len(p.dirs.at) != 1 || p.dirs.lost || len(p.v.Writes)+len(p.v.Reasons) > 0 {
		return text
	}
	at := p.policy.resolvePath(p.dirs.at[0], name.text)
	if isOutside(at) {
		return text
	}
	info, err := fs.Stat(p.policy.Files, at)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxCommand {
		return text
	}
	b, err := fs.ReadFile(p.policy.Files, at)
	return word{text: string(b), known: err == nil && utf8.Valid(b) && !bytes.ContainsAny(b, "\x00\r")}
}

// gitTakes judges git add and git commit of files that the line names, and a commit of what was
// added before. Any other takes in files that nobody named.
func gitTakes(p *program, verb string, flags parsed) {
	plain := strings.Fields("v verbose n dry-run N intent-to-add")
	if verb == "commit" {
		plain = strings.Fields("m message q quiet s signoff v verbose dry-run")
	}
	named := len(flags.operands) > 0 || verb == "commit"
	for _, o := range flags.options {
		named = named && slices.Contains(plain, o.name)
	}
	var stages []string
	for _, n := range flags.operands {
		named = named && n.known && !n.glob && !strings.ContainsAny(n.text, ":*?[\\") && p.policy.Files != nil
		for _, r := range p.places(n.text) {
			if named = named && r != "." && !isOutside(r); !named {
				break
			}
			if info, err := fs.Lstat(p.policy.Files, r); err == nil && info.IsDir() {
				r = path.Join(r, "**")
			}
			stages = append(stages, r)
		}
	}
	if !named || flags.dynamic {
		p.noteUnknown("git %s takes in files that it does not name", verb) // whoever lists git still wants to know
		return
	}
	p.v.Commits = p.v.Commits || verb == "commit"
	p.v.Stages = append(p.v.Stages, stages...)
}

// gitNames judges git branch and git tag, which list or make names.
func gitNames(p *program, verb string, flags parsed) {
	lists := strings.Fields("list l contains no-contains merged no-merged points-at")
	shows := append(strings.Fields("a r v all remotes verbose show-current sort format color no-color column no-column abbrev i ignore-case n"), lists...)
	other := slices.ContainsFunc(flags.options, func(o option) bool { return !slices.Contains(shows, o.name) })
	if other || flags.dynamic || len(flags.operands) > 0 && !flags.has(lists...) {
		p.unsure("git %s makes or changes a name for a commit", verb)
	}
}

// gitPuts judges the verbs that write the files they name. Behind -- of a checkout are paths, before
// it is a commit.
func gitPuts(p *program, verb string, args []word, o parsed) {
	at := slices.IndexFunc(args, func(a word) bool { return a.is("--") })
	switch checkout := verb == "checkout"; {
	case o.has("pathspec-from-file") || len(o.operands) == 0 && !checkout:
		p.unsure("git %s takes its paths from elsewhere", verb)
	case verb == "rm":
		p.writes(o.has("r"), o.operands...)
	case verb == "restore":
		gitRestores(p, o.operands)
	case at >= 0:
		gitRestores(p, args[at+1:])
	case args[len(args)-1].is("."):
		gitRestores(p, args[len(args)-1:])
	default:
		p.unsure("git checkout may write any file of another commit")
	}
}

// gitRestores judges paths that git overwrites with what history holds.
func gitRestores(p *program, names []word) {
	for _, n := range names {
		if n.known && strings.HasPrefix(n.text, ":") {
			p.unsure("git writes to %s, a pattern of its own", n.text)
			continue
		}
		if n.known && slices.Contains(p.places(n.text), ".") {
			p.addHard("command_git_discard", "git puts back every file, whatever was changed", "name the files to put back")
		}
		p.writes(p.policy.mayBeFolder(n), n)
	}
}
