package repo

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

const attributesFile = ".gitattributes"

// Converted is a file whose bytes git would store as others, because attributes say
// so. odd stores bytes as they are and so does not write it: of a secret that a
// filter encrypts history would keep the plain text.
type Converted struct {
	Path string
	File string // what says so, as a path below the top or an absolute one; "" where only git could tell
	Line int
	Has  string // "filter=git-crypt"

	ways []string // patterns that take the attribute from all that odd writes and the line is about, as File has them
}

// Error says what git would do, and the way out.
func (c Converted) Error() string {
	does, out := "git would store it through that", c.Mend()
	switch attributeName(c.Has) {
	case "ident":
		does = "git would store $Id$ for the $Id: …$ in it"
	case "text", "crlf", "eol":
		does, out = "git would store LF for its CR LF line ends", out+", for what is committed already with git add --renormalize"
	default:
		out = c.wayOut() + " if history may hold the plain bytes, or commit the file with git"
	}
	where := "git check-attr -a"
	if c.File != "" {
		where = fmt.Sprintf("%s:%d", c.File, c.Line)
	}
	return fmt.Sprintf("%s: %s has %s: %s, and odd stores bytes as they are; %s", where, c.Path, c.Has, does, out)
}

// Mend says what the file can hold instead, "" where nothing helps.
func (c Converted) Mend() string {
	switch attributeName(c.Has) {
	case "ident":
		return "write $Id$"
	case "text", "crlf", "eol":
		return "end its lines in LF"
	}
	return ""
}

func attributeName(has string) string {
	name, _, _ := strings.Cut(has, "=")
	return name
}

// unconverted is nil, or the refusal of changes that git would store as other bytes.
// tree is the one that they are put into.
func (r *Repo) unconverted(ctx context.Context, tree OID, ch Changes) error {
	all, err := r.Converted(ctx, tree, ch)
	switch {
	case err != nil || len(all) == 0:
		return err
	case len(all) == 1:
		return &Refusal{"converted", all[0].Error()}
	}
	return &Refusal{"converted", fmt.Sprintf("%v; it is one of %d such files", all[0], len(all))}
}

// Converted lists, by path, the changes that git would store as other bytes, by the
// attributes of the work tree as well as by those of the commit or tree that the
// changes are put into; "" is the empty one. No git is asked of a path that no line
// could be about, nor again of one whose lines have not changed.
func (r *Repo) Converted(ctx context.Context, tree OID, ch Changes) ([]Converted, error) {
	s, err := r.settings(ctx)
	if err != nil {
		s = &settings{}
	}
	everywhere, known := r.commonAttributes(s)
	views := []attributes{{r: r, files: r.committedAttributes(tree, ch)}}
	if r.root != "" {
		views = append(views, attributes{r: r, files: attributesIn(r.root, ch)})
	}
	found := map[string]Converted{}
	for _, v := range views {
		v.everywhere, v.known, v.fold = everywhere, known, s.values["core.ignorecase"]
		if err := v.convert(ctx, ch, found); err != nil {
			return nil, err
		}
	}
	out := make([]Converted, 0, len(found))
	for _, p := range slices.Sorted(maps.Keys(found)) {
		out = append(out, found[p])
	}
	return out, nil
}

// attributeWords are the attributes that change bytes.
var attributeWords = []string{"filter", "working-tree-encoding", "ident", "text", "crlf", "eol"}

// keyword is what git shortens to $Id$.
var keyword = regexp.MustCompile(`\$Id:[^$\n]*\$`)

// words are the attributes that could change the bytes of a file: a filter and a
// recoding those of any, the others only those that they are about.
func words(b []byte) []string {
	out := attributeWords[:2:2]
	if keyword.Match(b) {
		out = append(out, "ident")
	}
	if bytes.Contains(b, []byte("\r\n")) {
		out = append(out, "text", "crlf", "eol")
	}
	return out
}

// attributes are those that git goes by, in one view of the repository.
type attributes struct {
	r          *Repo
	files      map[string][]byte // .gitattributes, by their folders; "" is the top
	everywhere []attributeFile   // the weakest first, the clone's own last
	known      bool              // they are all there are
	fold       []string          // values of core.ignorecase
}

// attributeFile is one outside of the tree.
type attributeFile struct {
	name  string
	bytes []byte
}

// committedAttributes are the files of a commit with changes applied that have a say
// on the changed paths. One that cannot be read shows elsewhere.
func (r *Repo) committedAttributes(tree OID, ch Changes) map[string][]byte {
	at := r.Reader()
	return attributesAbove(ch, func(name string) ([]byte, error) {
		if b, ok := ch[name]; ok {
			return b, nil
		}
		oid, mode, err := at.Find(tree, name)
		if err != nil || !fileMode(mode).IsRegular() || oid == "" {
			return nil, err
		}
		return r.Blob(oid)
	})
}

// attributesIn are those of a work tree, in git's index or not.
func attributesIn(root string, ch Changes) map[string][]byte {
	return attributesAbove(ch, func(name string) ([]byte, error) {
		file := filepath.Join(root, filepath.FromSlash(name))
		if st, err := os.Lstat(file); err != nil || !st.Mode().IsRegular() {
			return nil, err // git follows no link there
		}
		return os.ReadFile(file)
	})
}

// attributesAbove reads the .gitattributes of all folders that written paths lie in.
func attributesAbove(ch Changes, read func(name string) ([]byte, error)) map[string][]byte {
	files, seen := map[string][]byte{}, map[string]bool{}
	for p, b := range ch {
		for dir := path.Dir(p); b != nil && !seen[dir]; dir = path.Dir(dir) {
			seen[dir] = true
			if text, err := read(path.Join(dir, attributesFile)); err == nil && text != nil {
				files[prefixOf(dir)] = text
			}
		}
	}
	return files
}

// prefixOf is a directory as prefixes of paths have it: the top is "".
func prefixOf(dir string) string {
	if dir == "." || dir == "/" {
		return ""
	}
	return dir
}

// commonAttributes are the files that have a say on every tree; not known where it
// takes git to find them.
func (r *Repo) commonAttributes(s *settings) (files []attributeFile, known bool) {
	if !s.told() || s.bare["core.attributesfile"] || s.set("attr.tree") {
		return nil, false
	}
	names := r.attributeFiles(s)
	for _, name := range s.values["core.attributesfile"] {
		if rest, home := strings.CutPrefix(name, "~/"); home {
			dir, _ := r.git.baseVar("HOME")
			name = filepath.Join(dir, rest)
		}
		if !filepath.IsAbs(name) {
			return nil, false
		}
		names = append(names, name)
	}
	for _, name := range names {
		switch b, err := os.ReadFile(name); {
		case err == nil:
			files = append(files, attributeFile{name, b})
		case !missing(err):
			return nil, false
		}
	}
	own := filepath.Join(r.common, "info", "attributes")
	slices.SortStableFunc(files, func(a, b attributeFile) int { // the clone's own beats all others
		return map[bool]int{true: 1}[a.name == own] - map[bool]int{true: 1}[b.name == own]
	})
	return files, true
}

// attributeFiles are the files outside the commit that may say how git writes
// files. Gits before 2.41 do not tell where the system's is: it lies beside their
// system configuration.
func (r *Repo) attributeFiles(s *settings) []string {
	files := append(slices.Clone(s.values["GIT_ATTR_SYSTEM"]), s.values["GIT_ATTR_GLOBAL"]...)
	files = append(files, filepath.Join(r.common, "info", "attributes"), filepath.Join(r.git.configHome(), "git", "attributes"), "/etc/gitattributes")
	if git, err := exec.LookPath("git"); err == nil {
		files = append(files, filepath.Join(filepath.Dir(git), "..", "etc", "gitattributes"))
		if git, err = filepath.EvalSymlinks(git); err == nil {
			files = append(files, filepath.Join(filepath.Dir(git), "..", "etc", "gitattributes"))
		}
	}
	return files
}

// convert finds the changes that git would store as others.
func (a attributes) convert(ctx context.Context, ch Changes, found map[string]Converted) error {
	lines := map[string][]attributeLine{} // of each file, once
	var ask []string
	values := map[string]attributeValues{}
	for p, b := range ch {
		if b == nil || a.known && !a.mention(lines, p, words(b)) {
			continue
		}
		if of, ok := a.r.attrs.get(a.sign(p)); ok && a.known {
			values[p] = of
		} else {
			ask = append(ask, p)
		}
	}
	if err := a.ask(ctx, ask, values); err != nil {
		return err
	}
	for p, of := range values {
		if name := converter(of, ch[p]); name != "" {
			found[p] = a.located(p, name, of[name])
		}
	}
	return nil
}

// mention reports that some line may give a path one of the words, by name or by a
// macro.
func (a attributes) mention(lines map[string][]attributeLine, p string, words []string) bool {
	var said []attributeLine
	for _, f := range a.strongest(p) {
		if _, ok := lines[f.name]; !ok {
			lines[f.name] = attributeLines(f.bytes)
		}
		for _, l := range lines[f.name] {
			if l.macro != "" || couldMatch(l.pattern, f.in, p) {
				said = append(said, l)
			}
		}
	}
	names := slices.Clone(words)
	for n := 0; n < len(names); n++ { // names grows by the macros that give it
		for _, l := range said {
			switch {
			case !l.gives(names[n]):
			case l.macro == "":
				return true
			case !slices.Contains(names, l.macro):
				names = append(names, l.macro)
			}
		}
	}
	return false
}

// attributeValues are what git told of a path, by attribute.
type attributeValues map[string]string

// attributesTold are git's answers, by all that they follow from.
type attributesTold struct {
	mu   sync.Mutex
	told map[[sha256.Size]byte]attributeValues
}

func (t *attributesTold) get(key [sha256.Size]byte) (attributeValues, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	of, ok := t.told[key]
	return of, ok
}

// put keeps an answer; of more than a command needs none is.
func (t *attributesTold) put(key [sha256.Size]byte, of attributeValues) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.told == nil || len(t.told) > 4096 {
		t.told = map[[sha256.Size]byte]attributeValues{}
	}
	t.told[key] = of
}

// sign changes when anything does that git's answer on a path follows from.
func (a attributes) sign(p string) (key [sha256.Size]byte) {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q", p, a.fold)
	for _, f := range a.strongest(p) {
		fmt.Fprintf(h, " %q %q", f.name, f.bytes)
	}
	h.Sum(key[:0])
	return key
}

// ask lets git say what the paths have.
func (a attributes) ask(ctx context.Context, paths []string, values map[string]attributeValues) error {
	if len(paths) == 0 {
		return nil
	}
	dir, err := a.layOut()
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	out, err := a.r.git.run(ctx, call{
		args: append([]string{"check-attr", "-z", "--stdin"}, attributeWords...), dir: dir, read: true,
		env:   []string{"GIT_DIR=" + a.r.gitDir, "GIT_WORK_TREE=" + dir, "GIT_INDEX_FILE=" + filepath.Join(dir, "no-index")},
		stdin: strings.NewReader(strings.Join(paths, "\x00") + "\x00"),
	})
	if err != nil {
		return err
	}
	told := fields(out) // of each path and word: path, word, value
	if len(told)%3 != 0 {
		return fmt.Errorf("git check-attr: %d words", len(told))
	}
	for ; len(told) > 0; told = told[3:] {
		if values[told[0]] == nil {
			values[told[0]] = attributeValues{}
		}
		values[told[0]][told[1]] = told[2]
	}
	for _, p := range paths {
		if len(values[p]) != len(attributeWords) {
			return fmt.Errorf("git check-attr: no answer on %s", p)
		}
		if a.known {
			a.r.attrs.put(a.sign(p), values[p])
		}
	}
	return nil
}

// layOut writes the .gitattributes into a directory of its own, for git to read as
// those of a work tree.
func (a attributes) layOut() (dir string, err error) {
	in, err := filepath.Abs(os.TempDir())
	if err != nil {
		return "", err
	}
	if dir, err = os.MkdirTemp(in, "odd-attributes-"); err != nil {
		return "", err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", err
	}
	for at, text := range a.files {
		folder := filepath.Join(dir, filepath.FromSlash(at))
		if err := errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(filepath.Join(folder, attributesFile), text, 0o600)); err != nil {
			return "", errors.Join(err, os.RemoveAll(dir))
		}
	}
	return dir, nil
}

// converter is the attribute, of those that git told of a file, by which it would
// store other bytes; "" for none. Line ends that text=auto is about stay where the
// file is committed with them, so that nothing differs.
func converter(of attributeValues, b []byte) string {
	is := func(name string) bool { return of[name] != "" && of[name] != "unspecified" && of[name] != "unset" }
	switch {
	case is("filter") && of["filter"] != "set": // the word alone names no filter
		return "filter"
	case is("working-tree-encoding") && !isUTF8(of["working-tree-encoding"]):
		return "working-tree-encoding"
	case of["ident"] == "set" && keyword.Match(b):
		return "ident"
	case !bytes.Contains(b, []byte("\r\n")):
		return ""
	}
	for _, name := range []string{"text", "crlf"} { // crlf is its older name
		switch of[name] {
		case "set", "input":
			return name
		case "unset", "auto":
			return ""
		}
	}
	if of["eol"] == "lf" || of["eol"] == "crlf" {
		return "eol"
	}
	return ""
}
