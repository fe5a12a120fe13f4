//go:build bench

package bench

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"github.com/odd-cli/odd/okf"
)

// tree is a file of reader/: documents at a commit, with their labels.
type tree struct {
	name                           string
	Repository, Commit, Kind, Half string
	Files                          []string
	Labels                         [][4]string // path, lines, type, grade
	Traps                          [][3]string // path, lines, the type it must not become
}

var (
	types = []string{"policy", "process", "decision", "role", "system", "artifact", "term"}
	// recalled are the types that recall over all types counts.
	recalled = types[:3]
)

// score counts what a reader did with the documents of one kind, or of one type.
// Its text is what the figures store.
type score struct{ trees, docs, atoms, useful, wrong, noise, altered, core, found, uncapped int }

const scoreFormat = "%d trees, %d documents: %d atoms, %d useful, %d wrong, %d noise, %d altered; %d core labels, %d found, %d without a cap"

func (s *score) fields() []any {
	return []any{&s.trees, &s.docs, &s.atoms, &s.useful, &s.wrong, &s.noise, &s.altered, &s.core, &s.found, &s.uncapped}
}

func (s score) String() string {
	return fmt.Sprintf(scoreFormat, s.trees, s.docs, s.atoms, s.useful, s.wrong, s.noise, s.altered, s.core, s.found, s.uncapped)
}

func (s *score) add(o score) {
	mine, others := s.fields(), o.fields()
	for i := range mine {
		*mine[i].(*int) += *others[i].(*int)
	}
}

// scores are the scores of this run by their names among the figures, with a report
// of what is to be improved.
type scores struct {
	of     map[string]*score
	misses strings.Builder
}

func (ss *scores) get(half, by, name string) *score {
	key := half + ", " + by + " " + name
	if ss.of[key] == nil {
		ss.of[key] = &score{}
	}
	return ss.of[key]
}

// TestBenchReader has odd drain the documents of every tree, and judges the atoms it
// proposes by the labels. No document is stored in the project.
func TestBenchReader(t *testing.T) {
	s, ss := begin(), &scores{of: map[string]*score{}}
	files, err := filepath.Glob("reader/*.toml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		tr := readTree(t, file)
		git, err := tr.repository()
		if err != nil {
			s.Words["skipped: "+tr.name] = oneLine(err.Error())
			t.Logf("%s is skipped: %v", tr.name, err)
			continue
		}
		a := tr.answers(t, git)
		capped, all := tr.drain(t, a, false), tr.drain(t, a, true)
		kind := ss.get(tr.Half, "kind", tr.Kind)
		kind.trees, kind.docs = kind.trees+1, kind.docs+len(tr.Files)
		fmt.Fprintf(&ss.misses, "# %s (%s, %s): %s\n", tr.name, tr.Kind, tr.Half, plural(len(capped), "atom"))
		ss.judge(tr, a, capped)
		ss.recall(tr, a, capped, all)
	}
	if *missesFile != "" {
		write(t, fromRoot(*missesFile), ss.misses.String())
	}
	if len(ss.of) == 0 {
		t.Skip("no document could be had; the stored figures stay")
	}
	docs := 0
	for key, one := range ss.of {
		s.Words[key] = one.String()
		docs += one.docs
	}
	s.note("documents read", 0, float64(docs))
	p := &page{t: t, reader: s}
	p.read()
	t.Log("\n" + p.String())
	if !t.Failed() {
		s.end(t, "reader")
	}
}

// judge counts the atoms proposed under the default limit.
func (ss *scores) judge(tr tree, a answers, atoms []cited) {
	for _, c := range atoms {
		verdict, altered := a.judge(c), a.altered(c)
		for _, sc := range []*score{ss.get(tr.Half, "kind", tr.Kind), ss.get(tr.Half, "type", c.typ)} {
			sc.atoms, sc.altered = sc.atoms+1, sc.altered+len(altered)
			*map[string]*int{useful: &sc.useful, wrong: &sc.wrong, noise: &sc.noise}[verdict]++
		}
		if verdict != useful {
			fmt.Fprintf(&ss.misses, "%s\t%s\t%s\n", verdict, c, first(c.quotes))
		}
		for _, q := range altered {
			fmt.Fprintf(&ss.misses, "altered\t%s\t%s\n", c, q)
		}
	}
}

// recall counts the core labels that atoms found, under the default limit and without one.
func (ss *scores) recall(tr tree, a answers, capped, all []cited) {
	for _, b := range a.labels {
		if !b.core {
			continue
		}
		found, uncapped := a.finds(b, capped), a.finds(b, all)
		into := []*score{ss.get(tr.Half, "type", b.typ)}
		if slices.Contains(recalled, b.typ) {
			into = append(into, ss.get(tr.Half, "kind", tr.Kind))
		}
		for _, sc := range into {
			sc.core++
			if found {
				sc.found++
			}
			if uncapped {
				sc.uncapped++
			}
		}
		if !found {
			what := map[bool]string{true: "over the limit", false: "missed"}[uncapped]
			fmt.Fprintf(&ss.misses, "%s\t%s\t%s\n", what, b.typ, b.span)
		}
	}
}

// fromRoot is a file of the command line, which make reads at the root of the project.
func fromRoot(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(root, name)
}

func first(quotes []string) string {
	for _, q := range quotes {
		if letters(q) != "" {
			return q
		}
	}
	return ""
}

// readTree reads a file of labels, and fails where it says something the judge does not know.
func readTree(t *testing.T, file string) tree {
	t.Helper()
	tr := tree{name: strings.TrimSuffix(filepath.Base(file), ".toml")}
	md, err := toml.DecodeFile(file, &tr)
	if err == nil && len(md.Undecoded()) > 0 {
		err = fmt.Errorf("unknown key %s", md.Undecoded()[0])
	}
	if err == nil && (!strings.HasPrefix(tr.Repository, "https://github.com/") || len(tr.Commit) != 40 || tr.Kind == "" || tr.Half != "seen" && tr.Half != "unseen") {
		err = fmt.Errorf("it needs a repository on GitHub, a whole commit, a kind and a half, seen or unseen")
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return tr
}

// repository is a git directory that holds the tree's commit: below -docs, else in
// the user's cache folder, where it is fetched when it is not there yet.
func (tr tree) repository() (string, error) {
	name := strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(tr.Repository, "https://github.com/"), ".git"), "/", "+")
	if *docsDir != "" {
		entries, err := os.ReadDir(fromRoot(*docsDir))
		if err != nil {
			return "", err
		}
		for _, e := range entries {
			if strings.EqualFold(strings.TrimSuffix(e.Name(), ".git"), name) {
				if dir := tr.below(filepath.Join(fromRoot(*docsDir), e.Name())); dir != "" {
					return dir, nil
				}
			}
		}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "odd-bench", "reader", name+".git")
	if tr.in(dir) {
		return dir, nil
	}
	if err := quiet("", nil, "git", "init", "-q", "--bare", dir); err != nil {
		return "", err
	}
	err = quiet(dir, []string{"GIT_TERMINAL_PROMPT=0"}, "git", "-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=20",
		"fetch", "-q", "--depth", "1", tr.Repository, tr.Commit)
	if err != nil {
		_, why, _ := strings.Cut(err.Error(), tr.Commit+": ")
		return "", fmt.Errorf("git fetch: %s", why)
	}
	return dir, nil
}

// below is the first git directory in dir, or a few levels under it, that holds the commit.
func (tr tree) below(dir string) (found string) {
	if to, err := filepath.EvalSymlinks(dir); err == nil {
		dir = to
	}
	_ = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil
		}
		if rel, _ := filepath.Rel(dir, p); strings.Count(rel, string(filepath.Separator)) > 2 {
			return fs.SkipDir
		}
		if _, err := os.Stat(filepath.Join(p, "objects")); err != nil {
			return nil
		}
		if tr.in(p) {
			found = p
			return fs.SkipAll
		}
		return fs.SkipDir
	})
	return found
}

func (tr tree) in(git string) bool {
	_, ok := tr.object(git, "")
	return ok
}

// object is a file at the commit; links within the commit are followed. "" is its root.
func (tr tree) object(git, path string) (text string, ok bool) {
	c := exec.Command("git", "--git-dir", git, "cat-file", "--batch", "--follow-symlinks")
	c.Env, c.Stdin = append(environ(), "GIT_NO_LAZY_FETCH=1"), strings.NewReader(tr.Commit+":"+path+"\n")
	b, err := c.Output()
	head, text, _ := strings.Cut(string(b), "\n")
	fields := strings.Fields(head)
	ok = err == nil && len(fields) == 3 && (fields[1] == "blob" || path == "" && fields[1] == "tree")
	return strings.TrimSuffix(text, "\n"), ok
}

// answers reads the documents at the commit, and the labels, which must lie in them.
func (tr tree) answers(t *testing.T, git string) answers {
	t.Helper()
	a := answers{docs: map[string][]string{}}
	for _, f := range tr.Files {
		text, ok := tr.object(git, f)
		if !ok {
			t.Errorf("%s: %s is not in commit %s", tr.name, f, tr.Commit)
			continue
		}
		a.docs[f] = strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	}
	add := func(to *[]label, path, lines, typ, grade string) {
		at, ok := spans(path, lines)
		if !ok || len(at) != 1 || at[0].from < 1 || at[0].to < at[0].from || at[0].to > len(a.docs[path]) || !slices.Contains(types, typ) || grade != "core" && grade != "fair" {
			t.Errorf("%s: %s, %s, %s, %s is no label: the lines must be in a document of the tree, the type one of %s, the grade core or fair", tr.name, path, lines, typ, grade, strings.Join(types, ", "))
			return
		}
		*to = append(*to, label{at[0], typ, grade == "core"})
	}
	for _, l := range tr.Labels {
		add(&a.labels, l[0], l[1], l[2], l[3])
	}
	for _, l := range tr.Traps {
		add(&a.traps, l[0], l[1], l[2], "fair")
	}
	return a
}

// spans reads "lines 3-5, 9", "line 3" and "3-5".
func spans(path, lines string) (all []span, ok bool) {
	lines = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(lines, "lines"), "line"))
	for part := range strings.SplitSeq(lines, ", ") {
		s := span{path: path}
		if n, _ := fmt.Sscanf(part, "%d-%d", &s.from, &s.to); n == 0 {
			return nil, false
		} else if n == 1 {
			s.to = s.from
		}
		all = append(all, s)
	}
	return all, true
}

const (
	readerRoot = "odd-bench" // of the bundle: a folder that no tree has
	readerTask = "---\ntype: task\nid: read\ntitle: Read the documents\nstate: ready\nkind: extract\nrole: odd-bench-role\ninputs: [%s]\n---\n"
	readerRole = "---\ntype: role\nid: odd-bench-role\ntitle: Odd bench role\n---\n"
	readerToml = "[bundle]\nroot = \"" + readerRoot + "\"\n[governance]\nlease = \"off\"\n[persona.floor]\natoms = 0\nprocesses = 0\nguides = 0\nunresolved_pct = 100\n"
)

var footnote = regexp.MustCompile(`\[\^[^\]]*\]\s*$`)

// drain is what a person does who wants these documents read: a repository with the
// documents, a task that names them, and odd drain. The atoms are those of the
// branch to review; all asks for as many as odd allows, in place of its default.
func (tr tree) drain(t *testing.T, a answers, all bool) (atoms []cited) {
	t.Helper()
	dir, config := filepath.Join(work, "reader", tr.name), readerToml
	if all {
		dir, config = dir+"-all", config+"[session]\nmax_atoms = 10000\n"
	}
	var inputs []string
	for _, f := range tr.Files {
		if a.docs[f] == nil {
			continue
		}
		inputs = append(inputs, fmt.Sprintf("%q", f))
		write(t, filepath.Join(dir, filepath.FromSlash(f)), strings.Join(a.docs[f], "\n")+"\n")
	}
	bundle := filepath.Join(dir, readerRoot)
	write(t, filepath.Join(dir, "odd.toml"), config)
	write(t, filepath.Join(bundle, "tasks", "read.md"), fmt.Sprintf(readerTask, strings.Join(inputs, ", ")))
	write(t, filepath.Join(bundle, "roles", "odd-bench-role.md"), readerRole)
	sh(t, dir, "", "git", "init", "-q", "-b", "main")
	sh(t, dir, "", "git", "add", "-Af")
	sh(t, dir, "", "git", "commit", "-qm", "documents")
	said := sh(t, dir, "", odd, "drain")
	branch := strings.TrimSpace(sh(t, dir, "", "git", "branch", "--list", "--format=%(refname:short)", "odd/review/*"))
	if branch == "" && strings.Contains(said, "nothing to review") {
		return nil
	}
	if branch == "" {
		t.Errorf("%s: odd drain left no branch to review: %s", tr.name, said)
		return nil
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(sh(t, dir, "", "git", "diff", "--name-only", "--no-renames", "--diff-filter=A", "-z", "main", branch, "--", readerRoot), "\x00"), "\x00") {
		if !strings.HasSuffix(name, ".md") || path.Base(name) == "index.md" || strings.HasPrefix(name, readerRoot+"/tasks/") {
			continue
		}
		text := sh(t, dir, "", "git", "show", branch+":"+name)
		atom, err := okf.Parse(strings.TrimPrefix(name, readerRoot+"/"), []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		c := cited{typ: atom.Type, title: atom.Title}
		for _, s := range atom.Sources {
			at, ok := spans(s.Resource, s.Title)
			if !ok {
				t.Fatalf("%s: %s cites %q of %s, want lines", tr.name, name, s.Title, s.Resource)
			}
			c.at = append(c.at, at...)
		}
		for l := range strings.Lines(string(atom.Body())) {
			if q, ok := strings.CutPrefix(l, ">"); ok {
				c.quotes = append(c.quotes, strings.TrimSpace(footnote.ReplaceAllString(q, "")))
			}
		}
		atoms = append(atoms, c)
	}
	return atoms
}
