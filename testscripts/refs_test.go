package testscripts

import (
	"go/ast"
	"maps"
	"slices"
	"testing"
)

// outsideLand are the functions, besides journal/repo's own, that move a ref other than by
// [repo.Line.Land], which checks the rules first, and why each may.
var outsideLand = map[string]string{
	"board/drain/claim.go: releaseBase":                "a private ref that keeps the base of one session from git's pruning",
	"board/drain/artifacts.go: storeTree":              "the run's own artifacts, kept here before a push that may fail",
	"board/drain/sweep.go: sweepClaims":                "the private refs of runs that were killed",
	"cmd/internal/workspace/clone.go: makeLocalBranch": "a branch that this clone lacks, at the commit that its remote has",
	"cmd/internal/start/demo.go: writeDemo":            "the first commit of a repository that the command has just made",
	"cmd/internal/approval/pull.go: openPR":            "the review branch on a forge, at the commit that landed here",
	"journal/repo/line.go: Land":                       "the one way to move a board branch",
	"journal/repo/line.go: Follow":                     "the local branch, to what the remote already has",
	"journal/repo/line.go: followPush":                 "the local copies of what was just pushed",
	"journal/repo/maintain.go: PruneRuns":              "artifacts of runs that are older than they must be kept",
	"journal/repo/remotelock.go: LockRemote":           "the same, that a killed drain left",
	"journal/repo/remotelock.go: Release":              "the lock of a drain over a remote",
	"journal/repo/remotelock.go: pushNext":             "the same",
}

// A shared ref moves only where the rules were asked: whoever adds another place says here
// what it moves.
func TestNoRefMovesOutsideLand(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	for _, s := range goFiles(t, product) {
		for _, d := range s.file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || !movesRef(call) {
					return true
				}
				place := s.path + ": " + fn.Name.Name
				if found[place] = true; outsideLand[place] == "" {
					t.Errorf("%s: moves a ref, and is not among the places that may (%s)", s.at(call), place)
				}
				return true
			})
		}
	}
	for _, place := range slices.Sorted(maps.Keys(outsideLand)) {
		if !found[place] {
			t.Errorf("%s moves no ref any more", place)
		}
	}
}

// movesRef reports a call of a method Move, Update or Push with a context and what to move: no
// other type of odd's has one.
func movesRef(call *ast.CallExpr) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !slices.Contains([]string{"Move", "Update", "Push"}, sel.Sel.Name) || len(call.Args) < 2 {
		return false
	}
	var first string
	ast.Inspect(call.Args[0], func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && first == "" {
			first = id.Name
		}
		return true
	})
	return slices.Contains([]string{"ctx", "context", "c", "t"}, first)
}
