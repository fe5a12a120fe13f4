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
		all := c.Path
		if dir := path.Dir(all); dir != "." {
			all = dir + "/**"
		}
		out = fmt.Sprintf("add the line %q below it if history may hold the plain bytes, or commit the file with git", all+" -"+attributeName(c.Has))
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
// changes are put into; "" is the empty one. No git is asked where no attribute
// that could matter is in sight.
func (r *Repo) Converted(ctx context.Context, tree OID, ch Changes) ([]Converted, error) {
	w := words(ch)
	if len(w) == 0 {
		return nil, nil
	}
	everywhere, known := r.commonAttributes(ctx)
	views := []attributes{{r: r, files: r.committedAttributes(tree, ch)}}
	if r.root != "" {
		views = append(views, attributes{r: r, dir: r.root, files: attributesIn(r.root, ch)})
	}
	found := map[string]Converted{}
	for _, v := range views {
		v.everywhere = everywhere
		if known && !v.mention(w) {
			continue
		}
		if err := v.ask(ctx, w, ch, found); err != nil {
			return nil, err
		}
	}
	out := make([]Converted, 0, len(found))
	for _, p := range slices.Sorted(maps.Keys(found)) {
		out = append(out, found[p])
	}
	return out, nil
}

// words are the attributes that could change the bytes of some file: a filter and a
// recoding those of any, the others only those that they are about.
func words(ch Changes) []string {
	var written, ident, ends bool
	for _, b := range ch {
		written = written || b != nil
		ident = ident || bytes.Contains(b, []byte("$Id:"))
		ends = ends || bytes.Contains(b, []byte("\r\n"))
	}
	var out []string
	if written {
		out = append(out, "filter", "working-tree-encoding")
	}
	if ident {
		out = append(out, "ident")
	}
	if ends {
		out = append(out, "text", "crlf", "eol")
	}
	return out
}

// attributes are those that git goes by, in one view of the repository.
type attributes struct {
	r          *Repo
	dir        string            // the work tree, "" for a commit
	files      map[string][]byte // .gitattributes, by their folders; "" is the top
	everywhere []attributeFile   // the weakest first, the clone's own last
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
				files[strings.TrimPrefix(dir, ".")] = text
			}
		}
	}
	return files
}

// commonAttributes are the files that have a say on every tree; not known where it
// takes git to find them.
func (r *Repo) commonAttributes(ctx context.Context) (files []attributeFile, known bool) {
	s, err := r.settings(ctx)
	if err != nil || !s.told() || s.bare["core.attributesfile"] || s.set("attr.tree") {
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

// mention reports that some line names one of the words, or may mean one.
func (a attributes) mention(words []string) bool {
	named := func(text []byte) bool {
		return slices.ContainsFunc(strings.Fields(string(text)), func(f string) bool {
			return slices.Contains(words, attributeName(f))
		})
	}
	for _, b := range a.files {
		if named(b) {
			return true
		}
	}
	return slices.ContainsFunc(a.everywhere, func(f attributeFile) bool { return named(f.bytes) })
}

// ask lets git say which of the paths it would convert.
func (a attributes) ask(ctx context.Context, words []string, ch Changes, found map[string]Converted) error {
	c := call{args: append([]string{"check-attr", "-z", "--stdin"}, words...), dir: a.dir, read: true}
	if a.dir == "" {
		dir, err := a.layOut()
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		c.dir, c.env = dir, []string{"GIT_DIR=" + a.r.gitDir, "GIT_WORK_TREE=" + dir, "GIT_INDEX_FILE=" + filepath.Join(dir, "no-index")}
	}
	var ask strings.Builder
	for p, b := range ch {
		if b != nil {
			ask.WriteString(p + "\x00")
		}
	}
	c.stdin = strings.NewReader(ask.String())
	out, err := a.r.git.run(ctx, c)
	if err != nil {
		return err
	}
	told := fields(out) // of each path and word: path, word, value
	if len(told)%3 != 0 {
		return fmt.Errorf("git check-attr: %d words", len(told))
	}
	values := map[string]map[string]string{}
	for ; len(told) > 0; told = told[3:] {
		if values[told[0]] == nil {
			values[told[0]] = map[string]string{}
		}
		values[told[0]][told[1]] = told[2]
	}
	for p, of := range values {
		if name := converter(of, ch[p]); name != "" {
			found[p] = a.located(p, name, of[name])
		}
	}
	return nil
}

// layOut writes a commit's .gitattributes into a directory of its own, for git to
// read as those of a work tree.
func (a attributes) layOut() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "odd-attributes-"); err != nil {
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
func converter(of map[string]string, b []byte) string {
	is := func(name string) bool { return of[name] != "" && of[name] != "unspecified" && of[name] != "unset" }
	switch {
	case is("filter"):
		return "filter"
	case is("working-tree-encoding") && !isUTF8(of["working-tree-encoding"]):
		return "working-tree-encoding"
	case is("ident") && bytes.Contains(b, []byte("$Id:")):
		return "ident"
	case !bytes.Contains(b, []byte("\r\n")):
		return ""
	}
	text := "text"
	if of[text] == "unspecified" {
		text = "crlf" // its older name
	}
	switch {
	case of[text] == "set", of[text] == "input":
		return text
	case of[text] == "unspecified" && (of["eol"] == "lf" || of["eol"] == "crlf"):
		return "eol"
	}
	return ""
}

// located says where a path gets an attribute from: git does not tell.
func (a attributes) located(p, name, value string) Converted {
	c := Converted{Path: p, Has: name}
	if value != "set" {
		c.Has += "=" + value
	}
	meant := a.macros(name, c.Has)
	for _, f := range a.strongest(p) {
		lines := strings.Split(string(f.bytes), "\n")
		for i, line := range slices.Backward(lines) {
			pattern, given := attributeLine(line)
			if slices.ContainsFunc(given, func(g string) bool { return slices.Contains(meant, g) }) && attributeMatches(pattern, f.in, p) {
				c.File, c.Line = f.name, i+1
				return c
			}
		}
	}
	return c
}

// placedFile is one that has a say on what lies in a folder.
type placedFile struct {
	attributeFile
	in string // the folder, "" for all
}

// strongest are the files with a say on a path, the one that beats the others first.
func (a attributes) strongest(p string) (out []placedFile) {
	own := slices.Clone(a.everywhere)
	if n := len(own) - 1; n >= 0 && own[n].name == filepath.Join(a.r.common, "info", "attributes") {
		out, own = append(out, placedFile{own[n], ""}), own[:n]
	}
	for dir := path.Dir(p); ; dir = path.Dir(dir) {
		in := strings.TrimPrefix(dir, ".")
		if b, ok := a.files[in]; ok {
			out = append(out, placedFile{attributeFile{path.Join(in, attributesFile), b}, in})
		}
		if in == "" {
			break
		}
	}
	for _, f := range slices.Backward(own) {
		out = append(out, placedFile{f, ""})
	}
	return out
}

// macros are the spellings of an attribute: itself, and the names that stand for it.
func (a attributes) macros(name, has string) []string {
	out := []string{has}
	for _, f := range a.strongest(name) { // of the top and of everywhere, where alone git knows macros
		for line := range strings.Lines(string(f.bytes)) {
			if macro, ok := strings.CutPrefix(strings.TrimSpace(line), "[attr]"); ok && slices.Contains(strings.Fields(macro), has) {
				out = append(out, strings.Fields(macro)[0])
			}
		}
	}
	return out
}

// attributeLine parts a line into its pattern and what it gives; a comment and a
// macro give nothing.
func attributeLine(line string) (pattern string, given []string) {
	line = strings.TrimSpace(line)
	if line == "" || line[0] == '#' || strings.HasPrefix(line, "[attr]") {
		return "", nil
	}
	if quoted, err := strconv.QuotedPrefix(line); err == nil && line[0] == '"' {
		pattern, _ = strconv.Unquote(quoted)
		return pattern, strings.Fields(line[len(quoted):])
	}
	f := strings.Fields(line)
	return f[0], f[1:]
}

// attributeMatches reports that a pattern of a file in a folder is about a path.
func attributeMatches(pattern, in, p string) bool {
	p = strings.TrimPrefix(strings.TrimPrefix(p, in), "/")
	if !strings.Contains(pattern, "/") {
		p = path.Base(p)
	}
	re, err := regexp.Compile("^" + globs.Replace(regexp.QuoteMeta(strings.TrimPrefix(pattern, "/"))) + "$")
	return err == nil && re.MatchString(p)
}

// globs turns what regexp.QuoteMeta made of a pattern into what the pattern means.
var globs = strings.NewReplacer(`\*\*/`, `(?:.*/)?`, `/\*\*`, `/.*`, `\*`, `[^/]*`, `\?`, `[^/]`, `\[!`, `[^`, `\[`, `[`, `\]`, `]`, `\\`, ``)
