package anchor

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/okf"
)

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
		found, problems := checkDirectory(c.Files, dir)
		if len(problems) > 0 {
			return Constitution{}, Refusal(problems)
		}
		if !found {
			continue
		}
		out, found, problems := c.findInDirectory(dir, want)
		if len(problems) > 0 {
			return Constitution{}, Refusal(problems)
		}
		if found {
			return out, nil
		}
	}
	return c.findInBundle(want)
}

// findInDirectory reads the file of a role in a directory that may be read.
func (c Charters) findInDirectory(dir, role string) (out Constitution, found bool, problems []Problem) {
	names, err := c.listAgentFiles(dir, role)
	switch {
	case err != nil:
		return out, false, brokenConstitution(dir, "it cannot be read: %v", err)
	case len(names) == 0:
		return out, false, nil
	case len(names) > 1:
		return out, false, brokenConstitution(path.Join(dir, names[1]), "a second file for the role %s, after %s; keep one", role, names[0])
	}
	file := path.Join(dir, names[0])
	st, err := fs.Lstat(c.Files, file)
	if err == nil && !st.Mode().IsRegular() {
		return out, false, brokenConstitution(file, "it is no regular file; agent files are read from the work tree itself, not through links")
	}
	b, err := readSmall(c.Files, file)
	if err != nil {
		return out, false, brokenConstitution(file, "it cannot be read: %v", err)
	}
	out, problems = readAgentFile(file, b)
	if len(problems) == 0 && out.Role != role {
		problems = brokenConstitution(file, "it says ROLE::%s; the file of a role is named after it", strings.ToUpper(out.Role))
	}
	return out, len(problems) == 0, problems
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

// findInBundle reads the role atom of a role.
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
	return Constitution{}, Refusal(brokenConstitution(path.Join(c.Bundle, found[1].Path), "a second atom for the role %s, after %s; give one another id", role, found[0].Path))
}

// missingRole says which roles there are.
func (c Charters) missingRole(role string) Problem {
	p := Problem{Code: ConstMissing, At: "role", Found: role}
	roles := c.Roles()
	if r := okf.Nearest(role, roles); r != "" {
		p.Text = fmt.Sprintf("there is no role %s; did you mean %s?", role, r)
		return p
	}
	p.Text = fmt.Sprintf("there is no role %s; ", role)
	if len(roles) == 0 {
		p.Text += fmt.Sprintf("there is none at all: add %s.oct.md to one of %s, or an atom of type role to the bundle", role, strings.Join(c.Places, ", "))
	} else {
		p.Text += "there is " + strings.Join(roles[:min(len(roles), 12)], ", ")
	}
	return p
}

// Roles returns the roles that have a file or an atom, fit or not, sorted.
func (c Charters) Roles() (out []string) {
	for _, dir := range c.Places {
		names, err := c.listAgentFiles(dir, "")
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			continue
		}
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
