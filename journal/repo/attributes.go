package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/odd-cli/odd/journal/repo/gitcmd"
	"github.com/odd-cli/odd/journal/repo/object"
)

const attributesFile = ".gitattributes"

// Converted is a file that git would store with other bytes, because of its attributes. odd stores bytes as they
// are, so it does not write the file: if a filter encrypts it, odd would put the plain text into history.
type Converted struct {
	Path string
	File string // the attributes file that says so, absolute or relative to the work tree; "" if no line matches
	Line int
	Has  string // as git check-attr prints it: "filter=git-crypt", "text"
}

// Error says what git would do and how to avoid it.
func (c Converted) Error() string {
	does, out := "git would store it through that", c.Mend()
	switch attributeName(c.Has) {
	case "ident":
		does = "git would store $Id$ for the $Id: …$ in it"
	case "text", "crlf", "eol":
		does, out = "git would store LF for its CR LF line ends", out+", for what is committed already with git add --renormalize"
	default:
		out = c.overrideLine() + " if history may hold the plain bytes, or commit the file with git"
	}
	where := "git check-attr -a"
	if c.File != "" {
		where = fmt.Sprintf("%s:%d", c.File, c.Line)
	}
	return fmt.Sprintf("%s: %s has %s: %s, and odd stores bytes as they are; %s", where, c.Path, c.Has, does, out)
}

// Mend says how to write the file so that nothing is converted, "" if there is no such way.
func (c Converted) Mend() string {
	switch attributeName(c.Has) {
	case "ident":
		return "write $Id$"
	case "text", "crlf", "eol":
		return "end its lines in LF"
	}
	return ""
}

// overrideLine returns the line to append to the attributes file so that the attribute no longer applies to the
// file's folder.
func (c Converted) overrideLine() string {
	less := "-"
	if attributeName(c.Has) == "working-tree-encoding" { // git does not accept one that is unset
		less = "!"
	}
	file := c.File
	if file == "" || filepath.IsAbs(file) {
		file = ".gitattributes"
	}
	pattern := "**"
	if dir := path.Dir(c.Path); dir != path.Dir(file) {
		pattern = strings.TrimPrefix(strings.TrimPrefix(dir, dirPrefix(path.Dir(file))), "/") + "/**"
	}
	if strings.ContainsAny(pattern, " \t") {
		pattern = strconv.Quote(pattern)
	}
	return fmt.Sprintf("add the line %s %s%s at the end of %s", pattern, less, attributeName(c.Has), file)
}

func attributeName(has string) string {
	name, _, _ := strings.Cut(has, "=")
	return name
}

// checkConverted refuses changes that git would store with other bytes. tree is the commit or tree they are applied
// to.
func (r *Repo) checkConverted(ctx context.Context, tree OID, ch Changes) error {
	all, err := r.Converted(ctx, tree, ch)
	switch {
	case err != nil || len(all) == 0:
		return err
	case len(all) == 1:
		return refuse("converted", "%v", all[0])
	}
	return refuse("converted", "%v; it is one of %d such files", all[0], len(all))
}

// Converted lists, by path, the changes that git would store with other bytes. It looks at the attributes of the
// work tree and at those of the commit or tree that the changes are applied to; "" is the empty tree. It asks git
// only about paths whose bytes an attribute in some attributes file could change.
func (r *Repo) Converted(ctx context.Context, tree OID, ch Changes) ([]Converted, error) {
	s, err := r.loadSettings(ctx)
	if err != nil {
		s = &settings{}
	}
	everywhere, known := r.readCommonAttributes(s)
	views := []attributes{{r: r, files: r.readCommittedAttributes(tree, ch)}}
	if r.root != "" {
		views = append(views, attributes{r: r, files: readAttributesIn(r.root, ch)})
	}
	found := map[string]Converted{}
	for _, v := range views {
		v.everywhere, v.known = everywhere, known
		if err := v.findConverted(ctx, ch, found); err != nil {
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

// keyword is the text that git shortens to $Id$.
var keyword = regexp.MustCompile(`\$Id:[^$\n]*\$`)

// attributesToAsk returns the attributes that could change the bytes of a file: filter and working-tree-encoding
// for any file, the others only if the file has what they act on.
func attributesToAsk(b []byte) []string {
	out := attributeWords[:2:2]
	if keyword.Match(b) {
		out = append(out, "ident")
	}
	if bytes.Contains(b, []byte("\r\n")) {
		out = append(out, "text", "crlf", "eol")
	}
	return out
}

// attributes are the attributes files that apply in one view of the repository.
type attributes struct {
	r          *Repo
	files      map[string][]byte // .gitattributes, by their folders; "" is the top
	everywhere []attributeFile   // outside the tree; the weakest first, the clone's own last
	known      bool              // everywhere is complete
}

// attributeFile is an attributes file outside the tree.
type attributeFile struct {
	name  string
	bytes []byte
}

// readCommittedAttributes returns the attributes files, after the changes, that apply to the changed paths in a
// commit or tree. It skips files that it cannot read; reading the tree elsewhere reports them.
func (r *Repo) readCommittedAttributes(tree OID, ch Changes) map[string][]byte {
	return readAttributesAbove(ch, func(name string) ([]byte, error) {
		if b, ok := ch[name]; ok {
			return b, nil
		}
		oid, mode, err := r.Find(tree, name)
		if err != nil || !object.FileMode(mode).IsRegular() || oid == "" {
			return nil, err
		}
		return r.Blob(oid)
	})
}

// readAttributesIn returns the attributes files of a work tree that apply to the changed paths, tracked or not.
func readAttributesIn(root string, ch Changes) map[string][]byte {
	return readAttributesAbove(ch, func(name string) ([]byte, error) {
		file := filepath.Join(root, filepath.FromSlash(name))
		if st, err := os.Lstat(file); err != nil || !st.Mode().IsRegular() {
			return nil, err // git follows no link there
		}
		return os.ReadFile(file)
	})
}

// readAttributesAbove reads the .gitattributes of every folder above a written path.
func readAttributesAbove(ch Changes, read func(name string) ([]byte, error)) map[string][]byte {
	files, seen := map[string][]byte{}, map[string]bool{}
	for p, b := range ch {
		for dir := path.Dir(p); b != nil && !seen[dir]; dir = path.Dir(dir) {
			seen[dir] = true
			if text, err := read(path.Join(dir, attributesFile)); err == nil && text != nil {
				files[dirPrefix(dir)] = text
			}
		}
	}
	return files
}

// dirPrefix returns a directory as the prefix of a path: "" for the top.
func dirPrefix(dir string) string {
	if dir == "." || dir == "/" {
		return ""
	}
	return dir
}

// readCommonAttributes returns the attributes files that apply to every tree. known is false if only git can find
// them.
func (r *Repo) readCommonAttributes(s *settings) (files []attributeFile, known bool) {
	if !s.hasConfiguration() || s.bare["core.attributesfile"] || s.isSet("attr.tree") {
		return nil, false
	}
	names := r.listAttributeFiles(s)
	for _, name := range s.values["core.attributesfile"] {
		if rest, home := strings.CutPrefix(name, "~/"); home {
			name = filepath.Join(gitcmd.Env(r.git.Base, "HOME"), rest)
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
		case !isMissing(err):
			return nil, false
		}
	}
	own := filepath.Join(r.common, "info", "attributes")
	slices.SortStableFunc(files, func(a, b attributeFile) int { // the clone's own beats all others
		return map[bool]int{true: 1}[a.name == own] - map[bool]int{true: 1}[b.name == own]
	})
	return files, true
}

// listAttributeFiles returns the paths of files outside the commit that may hold attributes. Git before 2.41 does
// not say where the system's file is; it is beside the system configuration.
func (r *Repo) listAttributeFiles(s *settings) []string {
	files := append(slices.Clone(s.values["GIT_ATTR_SYSTEM"]), s.values["GIT_ATTR_GLOBAL"]...)
	files = append(files, filepath.Join(r.common, "info", "attributes"), filepath.Join(r.git.ConfigHome(), "git", "attributes"), "/etc/gitattributes")
	if git, err := exec.LookPath("git"); err == nil {
		files = append(files, filepath.Join(filepath.Dir(git), "..", "etc", "gitattributes"))
		if git, err = filepath.EvalSymlinks(git); err == nil {
			files = append(files, filepath.Join(filepath.Dir(git), "..", "etc", "gitattributes"))
		}
	}
	return files
}

// findConverted adds to found the changes that git would store with other bytes.
func (a attributes) findConverted(ctx context.Context, ch Changes, found map[string]Converted) error {
	var ask []string
	for p, b := range ch {
		if b != nil && (!a.known || slices.ContainsFunc(attributesToAsk(b), a.isMentioned)) {
			ask = append(ask, p)
		}
	}
	values, err := a.checkAttr(ctx, ask)
	if err != nil {
		return err
	}
	for p, of := range values {
		if name := convertingAttribute(of, ch[p]); name != "" {
			found[p] = a.findLine(p, name, of[name])
		}
	}
	return nil
}

func (a attributes) isMentioned(word string) bool {
	has := func(text []byte) bool { return bytes.Contains(text, []byte(word)) }
	return slices.ContainsFunc(a.everywhere, func(f attributeFile) bool { return has(f.bytes) }) ||
		slices.ContainsFunc(slices.Collect(maps.Values(a.files)), has)
}

// findLine finds the line that gives a path an attribute, by its text, because git does not say which line it used.
// It searches the files in git's order of precedence, each from its end.
func (a attributes) findLine(p, name, value string) Converted {
	c := Converted{Path: p, Has: name}
	if value != "set" {
		c.Has += "=" + value
	}
	var files []attributeFile
	for _, f := range slices.Backward(a.everywhere) { // the clone's own is the strongest, the others the weakest
		files = append(files, f)
	}
	own := 0
	if len(files) > 0 && files[0].name == filepath.Join(a.r.common, "info", "attributes") {
		own = 1
	}
	for dir := path.Dir(p); ; dir = path.Dir(dir) {
		if b, ok := a.files[dirPrefix(dir)]; ok {
			files = slices.Insert(files, own, attributeFile{path.Join(dirPrefix(dir), attributesFile), b})
			own++
		}
		if dirPrefix(dir) == "" {
			break
		}
	}
	for _, f := range files {
		lines := strings.Split(string(f.bytes), "\n")
		for i, line := range slices.Backward(lines) {
			if said := strings.Fields(line); len(said) > 1 && said[0][0] != '#' && slices.Contains(said[1:], c.Has) {
				c.File, c.Line = f.name, i+1
				return c
			}
		}
	}
	return c
}

// attributeValues holds the value of each attribute of one path, as git printed it.
type attributeValues map[string]string

func (a attributes) checkAttr(ctx context.Context, paths []string) (map[string]attributeValues, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	dir, err := a.writeTemp()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out, err := a.r.git.Run(ctx, gitcmd.Call{
		Args: append([]string{"check-attr", "-z", "--stdin"}, attributeWords...), Dir: dir, Read: true,
		Env:   []string{"GIT_DIR=" + a.r.gitDir, "GIT_WORK_TREE=" + dir, "GIT_INDEX_FILE=" + filepath.Join(dir, "no-index")},
		Stdin: strings.NewReader(strings.Join(paths, "\x00") + "\x00"),
	})
	if err != nil {
		return nil, err
	}
	values := map[string]attributeValues{}
	told := gitcmd.SplitNUL(out) // of each path and word: path, word, value
	if len(told) != 3*len(paths)*len(attributeWords) {
		return nil, fmt.Errorf("git check-attr: %d words of %d paths", len(told), len(paths))
	}
	for ; len(told) > 0; told = told[3:] {
		if values[told[0]] == nil {
			values[told[0]] = attributeValues{}
		}
		values[told[0]][told[1]] = told[2]
	}
	return values, nil
}

// writeTemp writes the .gitattributes into a new temporary directory, which git then reads as a work tree.
func (a attributes) writeTemp() (dir string, err error) {
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

// convertingAttribute returns the attribute by which git would store other bytes, "" for none. It ignores
// text=auto: git keeps CR LF in a file that was committed with it, so nothing differs.
func convertingAttribute(of attributeValues, b []byte) string {
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
