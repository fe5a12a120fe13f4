package repo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/odd-cli/odd/journal/repo/gitcmd"
)

// Initial is Facts.Head on a branch without a commit, as git spells it.
const Initial = "(initial)"

// Facts is the state of a work tree, from one git status.
type Facts struct {
	OK       bool   // false where there is no work tree: outside a repository, or in a bare one
	Head     string // commit id, or Initial
	Branch   string // short name; "detached[12345678]" (of Head) when no branch is checked out
	Upstream string // "" for none
	Ahead    int    // commits that Upstream lacks; 0 also where Upstream is named but not there
	Behind   int
	Files    []Altered // sorted by path
}

// Altered is one path that differs from HEAD: staged, unstaged, unmerged or untracked. Ignored files are not
// listed, and a submodule only if it is at another commit.
type Altered struct {
	XY   string // as in porcelain v2: index, then work tree, "." for unchanged; "??" for untracked
	Path string // of a rename the new one
	From string // of a rename the old one
}

// Facts runs git status once. It leaves out the files and directories named in leave (relative to the repository).
// The person's settings for renames, untracked files and monitors do not change the answer. It takes no lock and
// runs no file system monitor, not even one that the repository or a submodule configures.
func (r *Repo) Facts(ctx context.Context, leave ...string) (Facts, error) {
	if r.root == "" {
		return Facts{}, nil
	}
	out, err := r.git.Read(ctx, "-c", "core.fsmonitor=false", "-c", "status.renames=true", "status", "--porcelain=v2", "--branch",
		"-z", "--untracked-files=all", "--ignored=no", "--ahead-behind", "--find-renames", "--ignore-submodules=dirty")
	if err != nil {
		return Facts{}, err
	}
	return parseFacts(out, leave)
}

// Descends reports whether head is from or a descendant of it; both are as in Facts.Head. Every history descends
// from Initial. A missing commit is an error.
func (r *Repo) Descends(ctx context.Context, head, from string) (bool, error) {
	switch {
	case from == Initial:
		return true, nil
	case head == Initial:
		return false, nil
	}
	return r.Ancestor(ctx, OID(from), OID(head))
}

// parseFacts parses porcelain v2 with --branch and -z. A line of an unknown kind is an error, an unknown header is
// not.
func parseFacts(out []byte, leave []string) (Facts, error) {
	f := Facts{OK: true}
	rest := gitcmd.SplitNUL(out)
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

// parseHeader reads a line about the branch.
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

// parseAltered reads a line about a path. If renamed is true, the next field is the old path.
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

// appendUnlessLeft appends a to files unless its path is left out. A rename to a path that is left out becomes a
// deletion.
func (a Altered) appendUnlessLeft(leave []string, files []Altered) []Altered {
	if !isWithin(a.Path, leave) {
		return append(files, a)
	}
	if a.From != "" && !isWithin(a.From, leave) && strings.HasPrefix(a.XY, "R") {
		return append(files, Altered{XY: "D.", Path: a.From})
	}
	return files
}

func isWithin(p string, of []string) bool {
	return slices.ContainsFunc(of, func(dir string) bool {
		dir = strings.TrimSuffix(dir, "/")
		return dir != "" && (p == dir || strings.HasPrefix(p, dir+"/"))
	})
}
