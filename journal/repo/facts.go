package repo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Initial is Head's place of a branch without a commit, in git's own spelling.
const Initial = "(initial)"

// Facts are what git says of a work tree, all from one call of status.
type Facts struct {
	OK       bool   // false where there is no work tree: outside a repository, or in a bare one
	Head     string // commit id, or Initial
	Branch   string // short name; "detached[12345678]" (of Head) when no branch is checked out
	Upstream string // "" for none
	Ahead    int    // commits that Upstream lacks; 0 also where Upstream is named but not there
	Behind   int
	Files    []Altered // sorted by path
}

// Altered is one path that is not as in Head: staged, unstaged, unmerged or untracked; ignored files are not listed,
// and a submodule only where it is at another commit.
type Altered struct {
	XY   string // as in porcelain v2: index, then work tree, "." for unchanged; "??" for untracked
	Path string // of a rename the new one
	From string // of a rename the old one
}

// Facts asks git once. Directories and files named in leave (repository-relative) are left out. What the person's
// configuration says of renames, untracked files and monitors does not change the answer, no lock is taken, and no
// program that a repository or one of its submodules names as its monitor runs.
func (r *Repo) Facts(ctx context.Context, leave ...string) (Facts, error) {
	if r.root == "" {
		return Facts{}, nil
	}
	out, err := r.readGit(ctx, "-c", "core.fsmonitor=false", "-c", "status.renames=true", "status", "--porcelain=v2", "--branch",
		"-z", "--untracked-files=all", "--ignored=no", "--ahead-behind", "--find-renames", "--ignore-submodules=dirty")
	if err != nil {
		return Facts{}, err
	}
	return parseFacts(out, leave)
}

// Descends reports whether head is from or has it among its ancestors; both as in Facts.Head. Every history descends
// from Initial. A commit that is not there is an error.
func (r *Repo) Descends(ctx context.Context, head, from string) (bool, error) {
	switch {
	case from == Initial:
		return true, nil
	case head == Initial:
		return false, nil
	}
	return r.Ancestor(ctx, OID(from), OID(head))
}

// parseFacts reads porcelain v2 with --branch and -z. Lines of a kind that it does not know are an error, headers
// that it does not know are not.
func parseFacts(out []byte, leave []string) (Facts, error) {
	f := Facts{OK: true}
	rest := splitNUL(out)
	for len(rest) > 0 {
		line := rest[0]
		rest = rest[1:]
		if header, ok := strings.CutPrefix(line, "# "); ok {
			if err := f.parseHeader(header); err != nil {
				return Facts{}, err
			}
			continue
		}
		a, renamed, ok := parseAltered(line)
		if renamed && len(rest) > 0 {
			a.From, rest = rest[0], rest[1:]
		} else if renamed {
			ok = false
		}
		if !ok || a.Path == "" {
			return Facts{}, fmt.Errorf("git status: unexpected line %q", line)
		}
		f.Files = a.appendUnlessLeft(leave, f.Files)
	}
	if f.Head == "" || f.Branch == "" {
		return Facts{}, errors.New("git status: it does not say where HEAD is; odd needs git 2.38 or newer")
	}
	if f.Branch == "(detached)" {
		f.Branch = "detached[" + f.Head[:min(8, len(f.Head))] + "]"
	}
	slices.SortFunc(f.Files, func(a, b Altered) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.XY, b.XY)) })
	return f, nil
}

// parseHeader takes a line about the branch.
func (f *Facts) parseHeader(line string) (err error) {
	name, value, _ := strings.Cut(line, " ")
	switch name {
	case "branch.oid":
		f.Head = value
	case "branch.head":
		f.Branch = value
	case "branch.upstream":
		f.Upstream = value
	case "branch.ab":
		ahead, behind, _ := strings.Cut(value, " ")
		f.Ahead, err = strconv.Atoi(strings.TrimPrefix(ahead, "+"))
		if err == nil {
			f.Behind, err = strconv.Atoi(strings.TrimPrefix(behind, "-"))
		}
		if err != nil {
			return fmt.Errorf("git status: unexpected line %q", "# "+line)
		}
	}
	return nil
}

// parseAltered reads a line about a path; of a rename the old path is the next field.
func parseAltered(line string) (a Altered, renamed, ok bool) {
	kind, rest, _ := strings.Cut(line, " ")
	before := map[string]int{"1": 7, "2": 8, "u": 9}[kind] // fields in front of the path
	switch {
	case kind == "?":
		return Altered{XY: "??", Path: strings.TrimSuffix(rest, "/")}, false, true // a repository inside ends in a slash
	case before == 0:
		return Altered{}, false, false
	}
	parts := strings.SplitN(rest, " ", before+1)
	if len(parts) <= before || len(parts[0]) != 2 {
		return Altered{}, false, false
	}
	return Altered{XY: parts[0], Path: parts[before]}, kind == "2", true
}

// appendUnlessLeft appends a to files unless its path is left out. A rename to what is left out is a deletion to the others.
func (a Altered) appendUnlessLeft(leave []string, files []Altered) []Altered {
	if !isWithin(a.Path, leave) {
		return append(files, a)
	}
	if a.From != "" && !isWithin(a.From, leave) && strings.HasPrefix(a.XY, "R") {
		return append(files, Altered{XY: "D.", Path: a.From})
	}
	return files
}

// isWithin reports whether p is one of the paths or below one.
func isWithin(p string, of []string) bool {
	return slices.ContainsFunc(of, func(dir string) bool {
		dir = strings.TrimSuffix(dir, "/")
		return dir != "" && (p == dir || strings.HasPrefix(p, dir+"/"))
	})
}
