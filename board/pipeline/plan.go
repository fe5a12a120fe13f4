package pipeline

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/reconcile/policy"
)

// ShortAsk is the longest description, in bytes, of work on at most one file that
// needs no plan.
const ShortAsk = 200

// ChangePlan is plan.1, as far as more than its session reads it: what a session means
// to change, in which order.
type ChangePlan struct {
	Version    string          `json:"schema_version"`
	Complexity string          `json:"complexity"`
	Changes    []PlannedChange `json:"ordered_changes"`
}

// PlannedChange is one file of a plan.
type PlannedChange struct {
	Path  string   `json:"file_path"`
	After []string `json:"dependencies"` // paths of the plan that come before
}

// NeedsPlan reports a change of more than one file, or one that takes more than a few
// words to describe. A glob is not one file.
func NeedsPlan(targets []string, description string) bool {
	one := len(targets) == 1 && !strings.ContainsAny(targets[0], "*?[") && !strings.HasSuffix(targets[0], "/")
	return len(targets) > 0 && (!one || len(description) > ShortAsk)
}

// ParsePlan reads plan.1 and holds it against the globs of what its task may
// change. A plan that nobody can follow is refused: a dependency that is not in it, an
// order that is not that of its dependencies, or no file in common with the task. The
// error is an Unusable.
func ParsePlan(b []byte, targets []string) (ChangePlan, error) {
	var p ChangePlan
	if err := readSchema(b, &p, &p.Version, "plan.1"); err != nil {
		return p, err
	}
	return p, p.check(targets).errorOrNil()
}

// readSchema reads an object of one version of its schema.
func readSchema(b []byte, into any, version *string, want string) error {
	err := readJSON(b, into)
	if err == nil && *version != want {
		err = Unusable{{"unknown_version", "schema_version", fmt.Sprintf("%q is not a known schema", *version), "write " + want}}
	}
	return err
}

func (p ChangePlan) check(targets []string) Unusable {
	var u Unusable
	var before []string
	for _, c := range p.Changes {
		for _, f := range policy.CheckPath(c.Path) {
			u = append(u, Fault{f.Code, c.Path, f.Text, f.Fix})
		}
		if slices.Contains(before, c.Path) {
			u = append(u, Fault{"plan_path_twice", c.Path, "is in the plan twice", "merge the two entries"})
		}
		for _, d := range c.After {
			if !slices.Contains(before, d) {
				u = append(u, Fault{"plan_order", c.Path, fmt.Sprintf("depends on %q, which does not come before it", d), "move it behind that, or leave the dependency out"})
			}
		}
		before = append(before, c.Path)
	}
	if !slices.ContainsFunc(before, func(path string) bool { return policy.MatchAnyGlob(expandFolders(targets), path) }) {
		u = append(u, Fault{"plan_no_overlap", "", "changes none of the task's files: " + strings.Join(targets, ", "), "plan the change that the task asks for"})
	}
	return u
}

// expandFolders are globs with those of a folder, "docs/", meaning all below it.
func expandFolders(globs []string) []string {
	out := make([]string, len(globs))
	for i, g := range globs {
		if dir, ok := strings.CutSuffix(g, "/"); ok {
			g = dir + "/**"
		}
		out[i] = g
	}
	return out
}

// expansionFiles is how many files a session gets in a round.
const expansionFiles = 5

// Expansion is expansion.1: what a session wants to read before it begins.
type Expansion struct {
	Version string   `json:"schema_version"`
	Files   []string `json:"additional_files_needed"`
}

// ParseExpansion reads expansion.1. The error is an Unusable.
func ParseExpansion(b []byte) (Expansion, error) {
	var e Expansion
	err := readSchema(b, &e, &e.Version, "expansion.1")
	return e, err
}

// Resolve finds what e asks for among the files of the base, without those the session
// has. denied says of the rest why it is not given. A file that may hold credentials never is.
func (e Expansion) Resolve(files, has []string) (given, denied []string) {
	for _, asked := range e.Files {
		name, why := path.Clean(asked), ""
		switch {
		case !slices.Contains(files, name):
			why = "there is no such file; name its whole path"
		case slices.Contains(has, name) || slices.Contains(given, name):
			why = "it was given already"
		case mayKeepSecrets(name):
			why = "it may contain credentials"
		case len(given) == expansionFiles:
			why = fmt.Sprintf("at most %d files are given per round", expansionFiles)
		default:
			given = append(given, name)
			continue
		}
		denied = append(denied, asked+": "+why)
	}
	return given, denied
}

func mayKeepSecrets(path string) bool {
	return slices.ContainsFunc(policy.CheckProtected(path, nil), func(f policy.Finding) bool { return f.Code == "protected_credential" })
}
