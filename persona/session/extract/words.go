package extract

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// in reports whether w is one of the space-separated words of list.
func in(list, w string) bool {
	if w == "" || strings.IndexByte(w, ' ') >= 0 {
		return false
	}
	for at := 0; ; {
		i := strings.Index(list[at:], w)
		if i < 0 {
			return false
		}
		i, at = at+i, at+i+len(w)
		if (i == 0 || list[i-1] == ' ') && (at == len(list) || list[at] == ' ') {
			return true
		}
	}
}

// isBoilerplate names the headings whose own text is about the document and not
// about the world.
func isBoilerplate(title string) bool {
	switch t := strings.ToLower(strings.Trim(title, " ?!.:")); t {
	case "table of contents", "contents", "toc", "see also", "next steps", "what's next", "what next", "further reading", "related",
		"related work", "read more", "learn more", "more information", "quick links", "useful links", "getting help", "release notes",
		"version history", "what's new", "breaking changes", "known issues", "special thanks", "in this article", "on this page",
		"before you begin", "how to contribute", "best practices", "use cases", "common issues", "code of conduct", "table of content", "code example", "code examples":
		return true
	default:
		return in("introduction intro overview summary contents license licence licensing copyright contributing contributors contribution "+
			"contributions changelog changes history references reference bibliography links resources prerequisites requirements examples "+
			"example notes note faq faqs acknowledgements acknowledgments credits authors author maintainers sponsors backers support "+
			"help badges status todo roadmap motivation background abstract conclusion appendix about description synopsis usage api "+
			"options parameters arguments returns methods properties events errors features configuration config syntax output input "+
			"caveats tips warning warnings disclaimer feedback questions security backlinks footnotes index preface foreword donate funding", t)
	}
}

// isLabel names what bold words in a list say about the text and not of the world.
func isLabel(title string) bool {
	t := strings.ToLower(title)
	if first, _, _ := strings.Cut(t, " "); in("step phase part section chapter figure table note option example case day week rule tip stage level", first) {
		return true
	}
	switch t {
	case "see also", "read more", "default value", "good for", "bad for", "best for", "use when", "when to use", "how to use", "for example",
		"known issues", "breaking change", "breaking changes", "what it does", "why it matters", "last updated", "out of scope", "in scope":
		return true
	}
	return in("warning important caution hint info default type required optional returns return parameters params arguments args usage "+
		"description deprecated added removed changed fixed input inputs output outputs date author authors version status why what when "+
		"how who where problem solution context decision consequences rationale pros cons yes no true false todo done name purpose "+
		"summary goal goals question answer q a result results before after update edit bug feature breaking since until values value "+
		"remarks remark details detail reason reasons benefit benefits impact owner priority severity tags scope reference references "+
		"source sources url link links license email contact total new old other misc general "+
		"i you he she it we they this that these those there here its their", t)
}

// isImperative reports whether w is a verb that instructions begin with.
func isImperative(w string) bool {
	return in("accept activate add adjust allow announce append apply approve archive ask assign attach attempt audit authenticate "+
		"authorize avoid back backup begin boot branch browse build bump calculate call cancel capture carry change check choose "+
		"clean clear click clone close collect commit compare compile complete configure confirm connect consider contact convert "+
		"copy correct count create cut debug declare decide define delete deploy describe detect determine develop disable discard "+
		"disconnect document double-check download draft drag draw drop dry dump edit email enable ensure enter establish evaluate "+
		"examine execute expand export extract fetch file fill find finish fix follow force fork format gather generate get give go "+
		"grant handle identify implement import include increase initialise initialize input insert inspect install integrate "+
		"investigate invite invoke join keep label land launch leave link list load locate log login look maintain make manage "+
		"mark measure merge migrate modify monitor mount move name navigate note notify obtain open optimise optimize order "+
		"organise organize override package paste perform pick pin ping place plan point post prepare press preview prevent print "+
		"proceed process promote propose protect provide provision publish pull push put query raise read rebase reboot rebuild "+
		"receive recheck record recover redeploy refer refresh register release remove rename renew reopen repeat replace reply report "+
		"reproduce request reset resolve restart restore retrieve return reuse revert review revoke rinse roll rollback rotate run save "+
		"scan schedule search secure select send serve set setup share ship shut sign simulate skip specify stage start stop store "+
		"submit subscribe switch sync synchronise synchronize tag take talk telephone tell test track transfer translate trigger "+
		"troubleshoot try turn type uninstall unlink unpack unpublish unregister update upgrade upload use validate verify view visit "+
		"wait wash watch wipe work wrap write you end prefer limit favor favour strive respect treat poke triage onboard assume page rewind purge "+
		"drain cordon silence scale reduce retire decommission deprecate redirect block unblock ban resync reindex requeue respond escalate "+
		"invalidate truncate bootstrap patch rerun delegate nominate elect vote empty sell withdraw", w)
}

// nounToo reports whether a verb that begins a heading is as often a noun:
// "File permissions" is no instruction, "File a report" is.
func nounToo(w string) bool {
	return in("file release list log map name note point process record report table type package label plan order test stage design "+
		"document request search email review track trigger trace work place mark measure query page end limit block patch vote empty", w)
}

// stemGerund returns the stem of a verb's -ing form: "opening" → "open",
// "running" → "run". Nouns that only look like one are not.
func stemGerund(w string) (stem string, ok bool) {
	if len(w) < 5 || !strings.HasSuffix(w, "ing") || in("string thing things setting settings warning during nothing something everything "+
		"anything king ring spring pricing logging routing caching styling theming naming typing formatting heading bring sing wing "+
		"ceiling morning evening meeting engineering marketing beijing missing existing following remaining working outstanding "+
		"programming upcoming incoming ongoing padding spacing casing binding encoding timing interesting pending escaping hashing parsing understanding introducing thinking speeding", w) {
		return "", false
	}
	stem = strings.TrimSuffix(w, "ing")
	n := len(stem)
	if n > 2 && stem[n-1] == stem[n-2] && !strings.ContainsRune("lsz", rune(stem[n-1])) {
		stem = stem[:n-1]
	}
	return stem, true
}

// isProcedural reports whether a heading's word names something done in steps.
func isProcedural(w string) bool {
	return in("process procedure workflow runbook playbook checklist release deployment installation setup upgrade migration rollback "+
		"recovery onboarding offboarding rollout handover backup restore provisioning bootstrap", w)
}

// roleNoun reports whether w ends the name of a person's or a group's place in
// the work. "user" and "client" are readers of documents, not roles in them.
func roleNoun(w string) bool {
	return in("lead leader manager owner maintainer maintainers engineer developer editor author reviewer approver administrator admin "+
		"operator director officer coordinator architect designer analyst tester moderator secretary treasurer chair chairman "+
		"chairperson committer champion captain steward triager releaser publisher team committee board council squad crew desk "+
		"guide clerk auditor trustee shepherd mentor supervisor technician scientist writer translator buyer seller "+
		"releasers collaborators collaborator contributor master head ciso cto ceo cfo sre dba", strings.TrimSuffix(w, "."))
}

// systemNoun reports whether w, as what something is said to be, makes it a system.
func systemNoun(w string) bool {
	return in("tool toolkit toolchain service platform system application app software program library framework server client registry "+
		"database daemon engine api cli utility package module plugin runtime compiler bundler linter manager repository website "+
		"ui dashboard broker queue cache proxy gateway sdk interpreter parser generator implementation wrapper extension shell editor "+
		"component middleware driver store scheduler autoscaler offering orchestrator backend frontend environment compiler script toolset framework", w)
}

// articleFirst reports whether a definition begins as a definition does: with an
// article or a pronoun that takes a noun.
func articleFirst(s string) bool {
	first, _, _ := strings.Cut(strings.ToLower(s), " ")
	return in("a an the any one each every some what who whoever whether someone somebody something all two three several", first)
}

// shellWord reports whether a command says nothing about the team's systems.
func shellWord(w string) bool {
	return in("cd ls ll echo export cat mkdir rmdir rm cp mv ln touch chmod chown source set unset if then else fi for do done while case "+
		"esac exit return function alias which whereis man less more head tail grep egrep sed awk find xargs sort uniq wc tr cut tee "+
		"true false test printf read env pwd kill ps top date sleep sudo time nohup exec eval trap wait bash sh zsh fish vi vim nano "+
		"emacs open clear history type command tar gzip gunzip zip unzip diff patch whoami id su usage error warning output note "+
		"local declare end in and or not import from const let var function print begin at foo bar baz qux example my-app your-app myapp "+
		"if you the this to for see note", w)
}

// canName reports whether a title can name a thing: short, with a letter, not a
// sentence, not an option, not code.
func canName(title string, code bool) bool {
	ws := strings.Fields(title)
	switch {
	case len(ws) == 0, len(ws) > 6, len(title) > 60, !strings.ContainsFunc(title, unicode.IsLetter):
		return false
	case strings.HasPrefix(title, "-"), strings.HasPrefix(title, "$"), strings.ContainsAny(title, "?!;{}<>=[]|*\"\\…→"):
		return false
	case strings.HasSuffix(title, ".") && len(ws) > 1, strings.Contains(title, "://"), strings.Contains(title, ". "):
		return false
	case code && !isFilename(title):
		return false
	}
	last := strings.ToLower(ws[len(ws)-1])
	if len(ws) > 1 && in("see for if when while where why how", strings.ToLower(ws[0])) {
		return false
	}
	return !isLabel(title) && hasBalancedBrackets(title) && !strings.HasPrefix(title, "..") && !(len(ws) > 1 && in("to for with of by from", last))
}

func hasBalancedBrackets(s string) bool {
	return strings.Count(s, "(") == strings.Count(s, ")") && !strings.HasSuffix(s, "()")
}

// isFilename reports whether s is a file by its looks: one word with a known
// extension or a well-known name.
func isFilename(s string) bool {
	if strings.ContainsAny(s, " ()<>*:,;=$") || strings.HasPrefix(s, "http") || len(s) > 60 {
		return false
	}
	base := s[strings.LastIndexByte(s, '/')+1:]
	dot := strings.LastIndexByte(base, '.')
	if dot < 0 {
		return in("Makefile Dockerfile Jenkinsfile CODEOWNERS Vagrantfile Gemfile Procfile LICENSE README CHANGELOG", base)
	}
	return in("md txt json jsonl yaml yml toml csv tsv xml html pdf lock ini cfg conf env log sql sh py go js ts proto tf zip tgz gz "+
		"svg png xlsx docx mjs cjs npmrc gitignore npmignore editorconfig dockerignore mod sum", base[dot+1:]) && len(base) > 2
}

// isDefinition reports whether s reads as a definition: at least four words, and
// not an instruction.
func isDefinition(s string) bool {
	ws := words(s)
	return len(ws) >= 4 && !isImperative(ws[0]) && ws[0] != "please" && !strings.HasSuffix(s, "?") && !strings.HasPrefix(s, "|")
}

// isCapitalized reports whether s begins with a capital letter.
func isCapitalized(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsUpper(r)
}

// lazy compiles a pattern when it is first asked for: most commands never read a document.
func lazy(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
