// Package lint judges the bytes of a change, file by file and as a whole. It is
// pure: the same change gives the same verdict, and no text a model wrote can talk
// to it.
//
// # Promises
//
//  1. A verdict comes from bytes, paths and syntax trees, never from what prose
//     says about them.
//  2. A change is compared with the bytes at its base, never with nothing: what
//     was already there is not its doing.
//  3. What cannot be read is refused, not passed: a file of a known language that
//     does not parse.
//  4. Every finding says where, what and the way out, by a code that never
//     changes its meaning, and how it was found: by a syntax tree or by text.
package lint

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/odd-cli/odd/reconcile/policy"
)

// File is one file of a change, by its repository path with slashes. A nil
// Before is a new file, a nil After a deleted one; empty is not nil. A rename is
// one of each.
type File struct {
	Path   string
	Before []byte // at the change's base
	After  []byte // as the change would leave it
}

// Options are what a person may set about the judgement of a change. It can ask
// for more than the rules do, and never for less; only the size of a change a
// person may set either way. Its zero value asks for no more than the rules.
type Options struct {
	// Paths are globs of the files that the change was asked for; a file that
	// none means is refused. None: any file that is not protected.
	Paths []string `json:"paths,omitempty"`
	// Targets are paths that the change must hold, each with its content.
	Targets []string `json:"targets,omitempty"`
	// Protect are globs of files that no machine may write, see [policy.CheckProtected].
	Protect []string `json:"protect,omitempty"`
	// Limits bound the size of the change, zero is the default, see [Limits].
	Limits Limits `json:"limits"`

	// What follows is no policy but what lies around the change; it is no part
	// of [Verdict.RulesHash].

	// Beside are files of the base that the change leaves as they are, in which
	// what it removes may still be used. Only Path and Before count.
	Beside []File `json:"-"`
	// Then and Now are blob ids by path, of every file that was read or is
	// written: at the base, and where the change would land now. See checkStale.
	Then, Now map[string]string `json:"-"`
}

// Verdict is what all rules say about one change.
type Verdict struct {
	Findings  []policy.Finding `json:"findings,omitempty"` // in the order of the rules, then of the paths
	Hard      int              `json:"hard"`
	Soft      int              `json:"soft"`
	RulesHash string           `json:"rules_hash"` // SHA-256 in hex of every rule, threshold and the policy
}

// Refused reports whether a finding sends the change back or to a person.
func (v Verdict) Refused() bool { return v.Hard > 0 }

// Judge applies every rule to a change, in a fixed order, and lists every
// finding once. The order of files does not matter. A rule that fails is a hard
// finding itself: what nobody has looked at does not pass.
func Judge(files []File, p Options) Verdict { return judgeFiles(files, p, listSteps()) }

// step is one rule, or a family of rules, of [Judge]: for the whole change, or
// for each file of it.
type step struct {
	name  string
	whole func(*change) []policy.Finding
	file  func(*change, *delta) []policy.Finding
}

func listSteps() []step {
	return []step{
		{name: "entries", file: checkEntries},
		{name: "paths", whole: writtenPaths},
		{name: "protected", file: func(c *change, d *delta) []policy.Finding { return policy.CheckProtected(d.Path, c.policy.Protect) }},
		{name: "coverage", whole: func(c *change) []policy.Finding { return checkCoverage(c.files, c.policy) }},
		{name: "stale", whole: func(c *change) []policy.Finding { return checkStale(c.files, c.policy.Then, c.policy.Now) }},
		{name: "size", whole: func(c *change) []policy.Finding { return checkSize(c.files, c.policy.Limits) }},
		{name: "names", whole: func(c *change) []policy.Finding { return checkNames(c.files) }},
		{name: "dependencies", whole: func(c *change) []policy.Finding { return checkDependencies(c.files) }},
		{name: "secrets", whole: func(c *change) []policy.Finding { return FindSecrets(c.files) }},
		{name: "joined secrets", file: joinedSecrets},
		{name: "parse", file: checkParses},
		{name: "placeholders", file: checkPlaceholders},
		{name: "truncation", file: checkTruncated},
		{name: "functions", file: checkFunctions},
		{name: "links", whole: checkLinks},
		{name: "tests", whole: checkTests},
		{name: "effects", whole: moreHits},
		{name: "deletion", file: checkDeletion},
	}
}

// change is a change being judged.
type change struct {
	files  []File // sorted by path
	policy Options
	deltas []*delta
	beside []*delta
	before map[string]map[string]function // of a folder, by name
	come   map[string]arrived             // by folder
}

// writtenPaths judges each path, and together those that the change leaves there.
func writtenPaths(c *change) []policy.Finding {
	var out []policy.Finding
	var written []string
	for _, f := range c.files {
		if f.Before != nil && f.After == nil {
			out = append(out, policy.CheckPath(f.Path)...)
		} else {
			written = append(written, f.Path)
		}
	}
	return append(out, policy.CheckPaths(written)...)
}

func judgeFiles(files []File, p Options, rules []step) Verdict {
	c := &change{policy: p}
	c.files = slices.SortedStableFunc(slices.Values(files), func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	v := Verdict{RulesHash: RulesHash(p)}
	v.addFindings(runGuardedRule("read", "", func() []policy.Finding { c.readFiles(); return nil }))
	for _, s := range rules {
		if s.whole != nil {
			v.addFindings(runGuardedRule(s.name, "", func() []policy.Finding { return s.whole(c) }))
			continue
		}
		for _, d := range c.deltas {
			v.addFindings(runGuardedRule(s.name, d.Path, func() []policy.Finding { return s.file(c, d) }))
		}
	}
	v.countFindings()
	return v
}

// runGuardedRule runs a rule and turns its failure into a finding.
func runGuardedRule(name, path string, run func() []policy.Finding) (out []policy.Finding) {
	defer func() {
		if r := recover(); r != nil {
			out = []policy.Finding{newFinding("guard_fault", policy.ByBytes, path, 0, fmt.Sprintf("the rule %s failed: %v", name, r))}
		}
	}()
	return run()
}

func (v *Verdict) addFindings(fs []policy.Finding) { v.Findings = append(v.Findings, fs...) }

// maxAlike is how many findings of one rule in one file are listed. More would
// tell a person nothing more.
const maxAlike = 50

// countFindings drops what is listed twice, cuts short what is listed endlessly, and
// counts the rest.
func (v *Verdict) countFindings() {
	seen := map[policy.Finding]bool{}
	alike := map[[2]string]int{}
	v.Findings = slices.DeleteFunc(v.Findings, func(f policy.Finding) bool {
		if seen[f] {
			return true
		}
		seen[f] = true
		alike[[2]string{f.Code, f.Path}]++
		return alike[[2]string{f.Code, f.Path}] > maxAlike
	})
	told := map[[2]string]int{}
	for i, f := range v.Findings {
		key := [2]string{f.Code, f.Path}
		if told[key]++; told[key] == maxAlike && alike[key] > maxAlike {
			v.Findings[i].Text += fmt.Sprintf(" (and %d more of its kind in this file)", alike[key]-maxAlike)
		}
		if f.Severity == policy.Soft {
			v.Soft++
		} else {
			v.Hard++
		}
	}
}

// RulesHash names the rules a verdict was made by: SHA-256, in hex, of the list
// of rules, their patterns and thresholds, and the policy. Two verdicts of one
// hash and one change are the same.
func RulesHash(p Options) string {
	p.Limits = p.Limits.Filled()
	h := sha256.Sum256(append(hashedRules(), encodeJSON(p)...))
	return hex.EncodeToString(h[:])
}

// hashedRules is the hash of all but the policy.
var hashedRules = sync.OnceValue(func() []byte {
	h := sha256.Sum256(encodeJSON(map[string]any{"edition": edition, "measures": listMeasures(), "patterns": describeRules(), "rules": Rules()}))
	return slices.Clip(h[:])
})

// encodeJSON encodes strings, numbers and lists of them.
func encodeJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("unreachable: " + err.Error())
	}
	return b
}
