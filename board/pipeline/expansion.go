package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/reconcile/policy"
)

// expansionFiles is how many files a session gets in a round.
const expansionFiles = 5

// Expansion is expansion.1: what a session wants to read before it begins.
type Expansion struct {
	Version string   `json:"schema_version"`
	Files   []string `json:"additional_files_needed"` // paths, or ends of paths
}

// ParseExpansion reads expansion.1. The error is an Unusable.
func ParseExpansion(b []byte) (Expansion, error) {
	var e Expansion
	err := readJSON(b, &e)
	if err == nil && e.Version != "expansion.1" {
		err = Unusable{{"unknown_version", "schema_version", fmt.Sprintf("%q is not a known schema", e.Version), "write expansion.1"}}
	}
	return e, err
}

// Resolve finds what e asks for among the files of the base, without those the session
// has. denied says of the rest why it is not given. A file that may hold credentials never is.
func (e Expansion) Resolve(files, has []string) (given, denied []string) {
	for _, asked := range e.Files {
		hits := filesEndingIn(files, asked)
		why := ""
		switch {
		case len(hits) == 0:
			why = "there is no such file"
		case len(hits) > 1:
			why = "could be " + strings.Join(hits[:min(3, len(hits))], ", ")
		case slices.Contains(has, hits[0]) || slices.Contains(given, hits[0]):
			why = "it was given already"
		case mayKeepSecrets(hits[0]):
			why = "it may contain credentials"
		case len(given) == expansionFiles:
			why = fmt.Sprintf("at most %d files are given per round", expansionFiles)
		default:
			given = append(given, hits[0])
			continue
		}
		denied = append(denied, asked+": "+why)
	}
	return given, denied
}

func mayKeepSecrets(path string) bool {
	return slices.ContainsFunc(policy.CheckProtected(path, nil), func(f policy.Finding) bool { return f.Code == "protected_credential" })
}

// filesEndingIn lists the file of that path, or else those whose path ends in it.
func filesEndingIn(files []string, asked string) []string {
	asked = strings.TrimPrefix(asked, "./")
	if slices.Contains(files, asked) {
		return []string{asked}
	}
	var out []string
	for _, f := range files {
		if strings.HasSuffix(f, "/"+asked) {
			out = append(out, f)
		}
	}
	return out
}
