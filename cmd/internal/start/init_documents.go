package start

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/reconcile/policy"
)

// Which folders at the top of a repository hold documents: those with a usual name, and
// others with at least fewestDocuments files of markdown or reStructuredText. At most mostPlaces are named, so
// that a person can read the task's inputs.
const (
	usualPlaces     = " docs doc documentation handbook content guides wiki policy policies governance charter playbooks runbooks adr "
	fewestDocuments = 3
	mostPlaces      = 8
)

// noDocuments are folders whose text is not the repository's own, or is old.
const noDocuments = " knowledge node_modules vendor third_party testdata test tests fixtures example examples benchmark benchmarks dist build target venv archive archived template templates _template _templates "

// Where a forge looks for the rules of a project when they are not at the top.
const forgeTexts = ".github/*.md"

// findDocuments returns where a repository has its documents, as inputs of a task: the text
// at the top and where a forge looks for it, and the folders that hold some. paths are the repository's files.
func findDocuments(paths []string) []string {
	count := map[string]int{}
	for _, p := range paths {
		if place := documentPlace(p); place != "" {
			count[place]++
		}
	}
	places := slices.Sorted(maps.Keys(count)) // "*.md" comes first
	rank := func(p string) int {
		if strings.HasPrefix(path.Base(p), "*.") || strings.Contains(usualPlaces, " "+strings.TrimSuffix(p, "/")+" ") {
			return math.MaxInt
		}
		return count[p]
	}
	places = slices.DeleteFunc(places, func(p string) bool { return rank(p) < fewestDocuments })
	if len(places) > mostPlaces {
		slices.SortStableFunc(places, func(a, b string) int { return cmp.Compare(rank(b), rank(a)) })
		places = places[:mostPlaces]
		slices.Sort(places)
	}
	return places
}

// documentPlace returns the input that would have a task read the file p, "" for a file that is no document.
func documentPlace(p string) string {
	dirs := strings.Split(path.Dir(p), "/")
	switch ofForge, _ := path.Match(forgeTexts, p); {
	case ofForge && !strings.Contains(strings.ToLower(p), "template"):
		return forgeTexts
	case !isReadable(p), slices.ContainsFunc(dirs, holdsNoDocuments):
		return ""
	case dirs[0] != ".":
		return dirs[0] + "/"
	case path.Ext(p) == ".md" || path.Ext(p) == ".rst":
		return "*" + path.Ext(p)
	}
	return ""
}

// describeOthers counts the documents that no input names, by folder, "" for fewer than fewestDocuments.
func describeOthers(paths, inputs []string) string {
	count, n := map[string]int{}, 0
	for _, p := range paths {
		place := documentPlace(p)
		named := slices.ContainsFunc(inputs, func(in string) bool {
			return p == in || strings.HasSuffix(in, "/") && strings.HasPrefix(p, in) || policy.MatchAnyGlob([]string{in}, p)
		})
		if place != "" && !named {
			count[place]++
			n++
		}
	}
	if n < fewestDocuments {
		return ""
	}
	places := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), strings.Compare(a, b))
	})
	names := strings.Join(places[:min(len(places), mostUnread)], ", ")
	if more := len(places) - mostUnread; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("%d documents in %s: %s", n, console.CountNoun(len(places), "other place"), names)
}

func isReadable(p string) bool {
	return slices.Contains([]string{".md", ".mdx", ".markdown", ".rst"}, path.Ext(strings.TrimSuffix(p, ".erb")))
}

func holdsNoDocuments(dir string) bool {
	return dir != "." && strings.HasPrefix(dir, ".") || strings.Contains(noDocuments, " "+dir+" ")
}

// What the built-in reader cannot read: files that are documents wherever they are, and files that are
// documents in a folder for them and elsewhere may be templates, data or drawings.
const (
	foreignDocuments = " .adoc .asciidoc .doc .docx .mediawiki .odt .org .rtf .textile "
	maybeDocuments   = " .erb .haml .htm .html .pdf .slim .tex .txt "
)

// mostUnread is how many places with unread documents odd init names.
const mostUnread = 3

// findUnread names the folders with documents that the built-in reader cannot read, the fullest first: at least
// fewestDocuments of one ending, and a tenth of those that it can read there. "" for none.
func findUnread(paths []string) string {
	type kind struct{ place, ending string }
	count, readable := map[kind]int{}, map[string]int{}
	for _, p := range paths {
		dirs := strings.Split(path.Dir(p), "/")
		place, ending := dirs[0]+"/", strings.ToLower(path.Ext(p))
		if place == "./" {
			place = "the top folder"
		}
		usual := slices.ContainsFunc(dirs, func(dir string) bool { return strings.Contains(usualPlaces+"source ", " "+dir+" ") })
		switch {
		case slices.ContainsFunc(dirs, holdsNoDocuments):
		case isReadable(p):
			readable[place]++
		case ending != "" && (strings.Contains(foreignDocuments, " "+ending+" ") || usual && strings.Contains(maybeDocuments, " "+ending+" ")):
			count[kind{place, ending}]++
		}
	}
	maps.DeleteFunc(count, func(k kind, n int) bool { return n < fewestDocuments || n*10 < readable[k.place] })
	kinds := slices.SortedFunc(maps.Keys(count), func(a, b kind) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a.place, b.place), cmp.Compare(a.ending, b.ending))
	})
	var out []string
	for _, k := range kinds[:min(len(kinds), mostUnread)] {
		out = append(out, fmt.Sprintf("%s (%d %s)", k.place, count[k], k.ending))
	}
	if n := len(kinds) - len(out); n > 0 {
		out = append(out, fmt.Sprintf("%d more", n))
	}
	return strings.Join(out, ", ")
}
