package policy

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/odd-cli/odd/reconcile/secrets"
)

// The longest path and the longest name in one that every file system takes.
const (
	maxPath = 1024
	maxName = 255
)

// letterRule is a rule that a repository path keeps or breaks by its letters
// alone: no disk is asked, so what a symbolic link does is not seen here.
type letterRule struct {
	code, text, fix string
	breaks          func(p string, names []string) bool
}

// letterRules holds for what a path of a change may look like on every machine
// that may check it out, not only on this one.
var letterRules = []letterRule{
	{"path_empty", "is empty or not a path", "name a file, from the top of the repository",
		func(p string, _ []string) bool { return p == "" }},
	{"path_absolute", "is not relative to the top of the repository", "write it from the top of the repository, without a leading / or a drive",
		func(p string, _ []string) bool { return strings.HasPrefix(p, "/") || drive().MatchString(p) }},
	{"path_expands", "begins with a character that has a meaning for shells or programs", "begin the path with a letter, a digit, a dot or a bracket",
		func(p string, _ []string) bool { return p != "" && strings.ContainsRune("~-", rune(p[0])) }},
	{"path_escapes", "holds a .. and could leave the repository", "write where it leads, without ..",
		func(_ string, names []string) bool { return anyName(names, func(n string) bool { return n == ".." }) }},
	{"path_backslash", `holds a \, which some systems take for a slash`, "use slashes",
		func(p string, _ []string) bool { return strings.Contains(p, `\`) }},
	{"path_not_clean", "is not written in its shortest form", "leave out . parts and double or closing slashes",
		func(p string, names []string) bool {
			return p != "" && anyName(strings.Split(strings.TrimPrefix(p, "/"), "/"), func(n string) bool { return n == "" || n == "." })
		}},
	{"path_not_utf8", "is not UTF-8", "write the name in UTF-8",
		func(p string, _ []string) bool { return !utf8.ValidString(p) }},
	{"path_control", "holds a control character", "leave it out",
		func(p string, _ []string) bool { return strings.ContainsFunc(p, unicode.IsControl) }},
	{"path_invisible", "holds a character that is invisible or changes the direction of text", "leave it out",
		func(p string, _ []string) bool { return strings.ContainsFunc(p, secrets.IsUnseen) }},
	{"path_not_nfc", "is not in Unicode's NFC form, so one name could be two files", "write it in Unicode's NFC form",
		func(p string, _ []string) bool { return utf8.ValidString(p) && !norm.NFC.IsNormalString(p) }},
	{"path_trailing", "holds a name that ends in a dot or a space, which some systems drop", "end every name in a letter or a digit",
		func(_ string, names []string) bool {
			return anyName(names, func(n string) bool { return n != "." && n != ".." && strings.TrimRight(n, ". ") != n })
		}},
	{"path_reserved", "holds one of < > : \" | ? *, which no file name can have on some systems", "use letters, digits, dots and dashes",
		func(p string, _ []string) bool { return strings.ContainsAny(p, `<>:"|?*`) && !drive().MatchString(p) }},
	{"path_device", "holds a name that is a device on some systems, such as con or nul", "choose another name",
		func(_ string, names []string) bool { return anyName(names, device().MatchString) }},
	{"path_short_name", "holds a short name (six letters, ~, a number), which can mean another file on Windows", "write the whole name",
		func(_ string, names []string) bool { return anyName(names, short().MatchString) }},
	{"path_secret", "looks like it holds a password, a key or a token", "choose another name, and revoke it if it is real",
		func(p string, _ []string) bool { return secrets.RedactText(p) != p }},
	{"path_long", fmt.Sprintf("is longer than %d bytes, or a name in it than %d", maxPath, maxName), "shorten it",
		func(p string, names []string) bool {
			return len(p) > maxPath || anyName(names, func(n string) bool { return len(n) > maxName })
		}},
}

var (
	drive  = lazyRegexp(`^[A-Za-z]:`)
	short  = lazyRegexp(`^[^.~]{1,6}~[0-9]{1,6}(\.[^.]{0,3})?$`)
	device = lazyRegexp(`(?i)^(con|prn|aux|nul|(com|lpt)[0-9¹²³]|conin\$|conout\$) *(\.|$)`)
)

func anyName(names []string, is func(string) bool) bool {
	return slices.ContainsFunc(names, is)
}

// CheckPath lists every reason why p is no path of a file in a repository, judged
// by its letters alone. None means: relative, inside, and the same file on every
// file system. It does not say that p may be written: see [CheckProtected].
func CheckPath(p string) []Finding {
	names := strings.Split(p, "/")
	var out []Finding
	for _, r := range letterRules {
		if r.breaks(p, names) {
			out = append(out, Finding{Code: r.code, Severity: Hard, How: ByBytes, Path: secrets.RedactText(p), Text: fmt.Sprintf("the path %q %s", secrets.RedactText(p), r.text), Fix: r.fix})
		}
	}
	return out
}

// CheckPaths judges each path of a change and then all together: two that are one
// file where letter case does not count, one that is a folder of another, and
// paths that make a git repository of a folder, whose settings git would run.
func CheckPaths(ps []string) []Finding {
	var out []Finding
	seen := map[string]string{}
	for _, p := range ps {
		out = append(out, CheckPath(p)...)
		if other, ok := seen[FoldPath(p)]; ok {
			text := fmt.Sprintf("the path %q differs from %q only in upper and lower case", p, other)
			out = append(out, Finding{Code: "path_clash", Severity: Hard, How: ByBytes, Path: p, Text: text, Fix: "name each file once, with names that differ by more than case"})
			continue
		}
		seen[FoldPath(p)] = p
	}
	for _, p := range ps {
		for dir := path.Dir(FoldPath(p)); dir != "." && dir != "/"; dir = path.Dir(dir) {
			if other, ok := seen[dir]; ok {
				text := fmt.Sprintf("the path %q is below %q, which the change writes as a file", p, other)
				out = append(out, Finding{Code: "path_below_file", Severity: Hard, How: ByBytes, Path: p, Text: text, Fix: "choose one of the two"})
			}
		}
		if dir := path.Dir(p); path.Base(FoldPath(p)) == "head" && looksLikeBareRepo(dir, ps) {
			text := fmt.Sprintf("the folder %q would become a git repository with its own config", dir)
			out = append(out, Finding{Code: "path_repository", Severity: Hard, How: ByBytes, Path: p, Text: text, Fix: "keep test repositories in an archive and unpack them in the test"})
		}
	}
	return out
}

// looksLikeBareRepo reports whether paths give a folder what git asks of a repository
// besides its HEAD.
func looksLikeBareRepo(dir string, ps []string) bool {
	below := func(name string) bool {
		prefix := FoldPath(path.Join(dir, name))
		return anyName(ps, func(p string) bool { f := FoldPath(p); return f == prefix || strings.HasPrefix(f, prefix+"/") })
	}
	return below("objects") || below("refs") || below("config")
}

// FoldPath is the name under which the most forgiving file system keeps a path:
// case folded, compatibility forms unified, unseen characters, closing dots and
// spaces and NTFS streams dropped, backslashes as slashes, in its shortest form.
// Two paths with the same FoldPath may be one file. A path that leads out keeps its "..".
func FoldPath(p string) string {
	names := strings.Split(strings.ReplaceAll(p, `\`, "/"), "/")
	for i, n := range names {
		n = norm.NFKC.String(strings.Map(foldRune, norm.NFKC.String(n)))
		n = strings.ReplaceAll(n, "ß", "ss")
		if at := strings.IndexByte(n, ':'); at > 0 {
			n = n[:at]
		}
		if n != "." && n != ".." {
			n = strings.TrimRightFunc(n, func(r rune) bool { return r == '.' || unicode.IsSpace(r) })
		}
		names[i] = strings.ReplaceAll(n, `\`, "/") // a compatibility form of a backslash
	}
	return path.Clean(strings.Join(names, "/"))
}

// foldRune returns the lower case of the first of the characters that differ
// from r by case only, and nothing for a character that cannot be seen.
func foldRune(r rune) rune {
	if secrets.IsUnseen(r) && !unicode.IsSpace(r) || unicode.IsControl(r) {
		return -1
	}
	first := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		first = min(first, next)
	}
	return unicode.ToLower(first)
}

// MatchGlob reports whether a path is one that a glob means: path.Match name by
// name, where a name of ** stands for any number of names, none included. A
// glob that cannot be read matches nothing; see [CheckGlob].
func MatchGlob(glob, p string) bool {
	g, n := strings.Split(glob, "/"), strings.Split(p, "/")
	gi, ni, star, from := 0, 0, -1, 0
	for ni < len(n) {
		switch {
		case gi < len(g) && g[gi] == "**":
			star, from = gi, ni
			gi++
		case gi < len(g) && matchName(g[gi], n[ni]):
			gi++
			ni++
		case star >= 0: // let the last ** take one name more
			from++
			gi, ni = star+1, from
		default:
			return false
		}
	}
	for gi < len(g) && g[gi] == "**" {
		gi++
	}
	return gi == len(g)
}

func matchName(glob, name string) bool {
	ok, err := path.Match(glob, name)
	return ok && err == nil
}

// MatchAnyGlob reports whether one of the globs means the path.
func MatchAnyGlob(globs []string, p string) bool {
	return anyName(globs, func(g string) bool { return MatchGlob(g, p) })
}

// CheckGlob says why a glob is not one, nil if it is: it stays inside the
// repository, ** stands alone between slashes, and brackets close.
func CheckGlob(glob string) error {
	for _, name := range strings.Split(glob, "/") {
		switch {
		case name == "" || name == "." || name == "..":
			return fmt.Errorf("glob %q: it leads out of the repository or has needless parts; write it from the top, like docs/**", glob)
		case name != "**" && strings.Contains(name, "**"):
			return fmt.Errorf("glob %q: ** must stand alone between slashes, like docs/**", glob)
		}
		if _, err := path.Match(name, ""); err != nil {
			return fmt.Errorf("glob %q: %w; close every bracket, or escape it with a backslash", glob, err)
		}
	}
	return nil
}

// lazyRegexp compiles a pattern when it is first needed: most calls need few.
func lazyRegexp(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
