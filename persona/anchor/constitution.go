package anchor

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/odd-cli/odd/okf"
)

// A constitution is written in one of two forms and read to the same value. What
// both may say, and nothing else is read:
//
//	role           required; compared in lower case, "_" as "-"
//	cognition      LOGOS, ETHOS or PATHOS
//	archetypes     NAME or NAME<qualifier>
//	must_always    sentences
//	must_never     sentences
//	gates          what may never pass; of ALWAYS<…> what always must
//	blocking       what the role may stop
//	escalation     who is asked
//	paths          globs the role may write; none is everything
//	blocked_paths  globs it may not
//	gate_commands  commands a COMMIT may name
//
// What is written and cannot be understood is a problem, never a smaller
// constitution: a rule that was lost without a word would be a permission.
const (
	sayRole        = "role"
	sayCognition   = "cognition"
	sayArchetypes  = "archetypes"
	sayAlways      = "must_always"
	sayNever       = "must_never"
	sayGates       = "gates"
	sayBlocking    = "blocking"
	sayEscalation  = "escalation"
	sayPaths       = "paths"
	sayBlocked     = "blocked_paths"
	sayGateCommand = "gate_commands"
)

// excerptBytes is how much of its constitution an agent is shown.
const excerptBytes = 8 << 10

// constitutionDraft collects what a file says before it is a constitution.
type constitutionDraft struct {
	path     string
	said     map[string][]Rule
	problems []Problem
}

func newConstitutionDraft(path string) *constitutionDraft {
	return &constitutionDraft{path: path, said: map[string][]Rule{}}
}

// addProblem notes a problem of a line, 0 for the file.
func (c *constitutionDraft) addProblem(line int, format string, args ...any) {
	at := c.path
	if line > 0 {
		at = fmt.Sprintf("%s:%d", c.path, line)
	}
	c.problems = append(c.problems, Problem{Code: ConstBroken, At: at, Text: fmt.Sprintf(format, args...)})
}

// addRules adds rules under a name. The same sentence twice is one rule, where it stands first.
func (c *constitutionDraft) addRules(name string, rules ...Rule) {
	for _, r := range rules {
		r.Text = okf.OneLine(r.Text)
		same := func(o Rule) bool { return strings.EqualFold(o.Text, r.Text) }
		if r.Text != "" && !slices.ContainsFunc(c.said[name], same) {
			c.said[name] = append(c.said[name], r)
		}
	}
}

// nearestKey returns the key that a name misses by one letter, "" for none. Only keys
// that forbid or oblige are asked: one that was misspelled would be a permission.
func nearestKey(name string) string {
	for _, key := range []string{sayAlways, sayNever, sayBlocked, sayGateCommand} {
		if okf.Distance(name, key) == 1 {
			return key
		}
	}
	return ""
}

// singleRule returns the single value under a name. Two that differ are a problem.
func (c *constitutionDraft) singleRule(name string) Rule {
	all := c.said[name]
	if len(all) > 1 {
		c.addProblem(all[1].Line, "a second %s %q, after %q on line %d; keep one", name, all[1].Text, all[0].Text, all[0].Line)
	}
	if len(all) == 0 {
		return Rule{}
	}
	return all[0]
}

// listTexts returns the values under a name without their lines.
func (c *constitutionDraft) listTexts(name string) (out []string) {
	for _, r := range c.said[name] {
		out = append(out, strings.Trim(r.Text, "`"))
	}
	return out
}

// build judges what was said. file are the bytes that the hash covers.
func (c *constitutionDraft) build(file []byte) (Constitution, []Problem) {
	out := Constitution{
		Role: roleName(c.singleRule(sayRole).Text), Path: c.path, SHA256: hexSum(file),
		Cognition:  strings.ToUpper(c.singleRule(sayCognition).Text),
		MustAlways: c.said[sayAlways], MustNever: c.said[sayNever], Gates: c.said[sayGates], Blocking: c.said[sayBlocking],
		Escalation: strings.Join(c.listTexts(sayEscalation), ", "),
		Paths:      c.readGlobs(sayPaths), BlockedPath: c.readGlobs(sayBlocked), GateCommand: c.listTexts(sayGateCommand),
		Excerpt: excerptOf(c.path, file), Lines: lineCount(file),
	}
	for _, r := range c.said[sayArchetypes] {
		name := archetypeName(r.Text)
		switch {
		case !isWord(name, "_"):
			c.addProblem(r.Line, "%q is no archetype's name; write NAME or NAME<qualifier>", r.Text)
		case !slices.Contains(out.Archetypes, name):
			out.Archetypes = append(out.Archetypes, name)
		}
	}
	if out.Cognition != "" && !slices.Contains(cognitionNames(), out.Cognition) {
		c.addProblem(c.said[sayCognition][0].Line, "%q is no cognition; it is LOGOS, ETHOS or PATHOS", out.Cognition)
	}
	switch {
	case out.Role == "":
		c.addProblem(0, "the file says no role; write ROLE::NAME")
	case !roleForm().MatchString(out.Role):
		c.addProblem(c.said[sayRole][0].Line, "%q is no role's name; it is letters, digits, - and _, and begins with a letter", c.said[sayRole][0].Text)
	}
	if len(c.problems) > 0 {
		return Constitution{}, c.problems
	}
	return out, nil
}

// readGlobs returns the patterns under a name. One that can match nothing, or leads out
// of the work tree, is a problem: a rule that never holds is none.
func (c *constitutionDraft) readGlobs(name string) (out []string) {
	for _, r := range c.said[name] {
		g := strings.Trim(r.Text, "`")
		_, err := path.Match(strings.ReplaceAll(g, "**", "*"), "x")
		switch {
		case g == "" || strings.ContainsAny(g, " \\\t") || strings.HasPrefix(g, "/") || slices.Contains(strings.Split(g, "/"), ".."):
			c.addProblem(r.Line, "%s: %q is no glob of the work tree; write it as src/** or docs/*.md", name, r.Text)
		case err != nil:
			c.addProblem(r.Line, "%s: %q is no glob: a [ without its ]", name, r.Text)
		default:
			out = append(out, strings.TrimPrefix(g, "./"))
		}
	}
	return out
}

// isWord reports ASCII letters, digits and the characters of more, at least one.
func isWord(s, more string) bool {
	for _, r := range s {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune(more, r) {
			return false
		}
	}
	return s != ""
}

func hexSum(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }

// lineCount counts lines, the last one with or without its line feed.
func lineCount(b []byte) (n int) {
	for range bytes.Lines(b) {
		n++
	}
	return n
}

// excerptOf returns the file as an agent is shown it: whole where it is short, else to
// the end of a line, with a word on what is left.
func excerptOf(path string, b []byte) string {
	if len(b) <= excerptBytes {
		return okf.Visible(string(b))
	}
	cut := bytes.LastIndexByte(b[:excerptBytes], '\n') + 1
	if cut == 0 {
		for cut = excerptBytes; cut > 0 && !utf8.RuneStart(b[cut]); cut-- {
		}
	}
	rest := lineCount(b[cut:])
	return okf.Visible(string(b[:cut])) + fmt.Sprintf("\n(%d more lines in %s)\n", rest, path)
}

// Charters is where constitutions are looked for.
type Charters struct {
	Files  fs.FS       // the work tree
	Places []string    // directories that hold ROLE.oct.md, in order
	Atoms  []*okf.Atom // the bundle's; those of type role count
	Bundle string      // the bundle's root in the work tree
}

// Find reads the constitution of a role: from the first place that has a file for
// it, else from the bundle's role atom. It refuses a file that does not read, a
// directory that differs from its record, and two files for one role, and does not
// look further. The error is a Refusal; ConstMissing names the roles there are.
func (c Charters) Find(role string) (Constitution, error) {
	want := roleName(role)
	if !roleForm().MatchString(want) {
		return Constitution{}, Refusal{{Code: ConstMissing, At: "role", Text: "that is no role's name", Found: okf.Visible(role),
			Want: "letters, digits, - and _, beginning with a letter"}}
	}
	for _, dir := range c.Places {
		found, err := checkDirectory(c.Files, dir)
		var out Constitution
		if found {
			out, err = c.findInDirectory(dir, want)
		}
		if err != nil || out.Role != "" {
			return out, err
		}
	}
	return c.findInBundle(want)
}

// findInDirectory reads the file of a role in a directory that may be read; without
// one, it returns the zero value.
func (c Charters) findInDirectory(dir, role string) (out Constitution, err error) {
	names, err := c.listAgentFiles(dir, role)
	switch {
	case err != nil:
		return out, brokenConstitution(dir, "it cannot be read: %v", err)
	case len(names) == 0:
		return out, nil
	case len(names) > 1:
		return out, brokenConstitution(path.Join(dir, names[1]), "a second file for the role %s, after %s; keep one", role, names[0])
	}
	file := path.Join(dir, names[0])
	b, err := readSmall(c.Files, file)
	if err != nil {
		return out, brokenConstitution(file, "%v", err)
	}
	out, problems := readAgentFile(file, b)
	switch {
	case len(problems) > 0:
		return out, Refusal(problems)
	case out.Role != role:
		return Constitution{}, brokenConstitution(file, "it says ROLE::%s; the file of a role is named after it", strings.ToUpper(out.Role))
	}
	return out, nil
}

// listAgentFiles returns the names in dir of the agent files of a role, of every role for "".
func (c Charters) listAgentFiles(dir, role string) (out []string, err error) {
	entries, err := fs.ReadDir(c.Files, dir)
	for _, e := range entries {
		stem, ok := strings.CutSuffix(e.Name(), ".oct.md")
		if ok && (role == "" || roleName(stem) == role) {
			out = append(out, e.Name())
		}
	}
	return out, err
}

func (c Charters) findInBundle(role string) (Constitution, error) {
	var found []*okf.Atom
	for _, a := range c.Atoms {
		if a.Type == "role" && roleName(path.Base(string(a.ID))) == role {
			found = append(found, a)
		}
	}
	switch len(found) {
	case 0:
		return Constitution{}, Refusal{c.missingRole(role)}
	case 1:
		out, problems := readRoleAtom(found[0], c.Bundle)
		if len(problems) > 0 {
			return Constitution{}, Refusal(problems)
		}
		return out, nil
	}
	return Constitution{}, brokenConstitution(path.Join(c.Bundle, found[1].Path), "a second atom for the role %s, after %s; give one another id", role, found[0].Path)
}

func (c Charters) missingRole(role string) Problem {
	roles := c.Roles()
	way := "there is " + strings.Join(roles[:min(len(roles), 12)], ", ")
	if len(roles) == 0 {
		way = fmt.Sprintf("there is none at all: add %s.oct.md to one of %s, or an atom of type role to the bundle", role, strings.Join(c.Places, ", "))
	} else if r := okf.Nearest(role, roles); r != "" {
		way = "did you mean " + r + "?"
	}
	return Problem{Code: ConstMissing, At: "role", Found: role, Text: fmt.Sprintf("there is no role %s; %s", role, way)}
}

// Roles returns the roles that have a file or an atom, fit or not, sorted.
func (c Charters) Roles() (out []string) {
	for _, dir := range c.Places {
		names, _ := c.listAgentFiles(dir, "")
		for _, n := range names {
			out = append(out, roleName(strings.TrimSuffix(n, ".oct.md")))
		}
	}
	for _, a := range c.Atoms {
		if a.Type == "role" {
			out = append(out, roleName(path.Base(string(a.ID))))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
