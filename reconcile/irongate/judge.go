package irongate

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Policy is what a person may set about the judgement of a change. It can ask
// for more than the rules do, and never for less; only the size of a change a
// person may set either way. Its zero value asks for no more than the rules.
type Policy struct {
	// Paths are globs of the files that the change was asked for; a file that
	// none means is refused. None: any file that is not protected.
	Paths []string `json:"paths,omitempty"`
	// Targets are paths that the change must hold, each with its content.
	Targets []string `json:"targets,omitempty"`
	// Protect are globs of files that no machine may write, see [Protected].
	Protect []string `json:"protect,omitempty"`
	// Limits bound the size of the change, zero is the default, see [Size].
	Limits Limits `json:"limits"`

	// What follows is no policy but what lies around the change; it is no part
	// of [Verdict.RulesHash].

	// Beside are files of the base that the change leaves as they are, in which
	// what it removes may still be used. Only Path and Before count.
	Beside []File `json:"-"`
	// Then and Now are blob ids by path, of every file that was read or is
	// written: at the base, and where the change would land now. See [Stale].
	Then, Now map[string]string `json:"-"`
}

// Verdict is what all rules say about one change.
type Verdict struct {
	Findings  []Finding      `json:"findings,omitempty"` // in the order of the rules, then of the paths
	Hard      int            `json:"hard"`
	Soft      int            `json:"soft"`
	Ways      map[string]How `json:"ways"`       // of each path: judged by its syntax tree, or by its text
	RulesHash string         `json:"rules_hash"` // SHA-256 in hex of every rule, threshold and the policy
}

// Refused reports whether a finding sends the change back or to a person.
func (v Verdict) Refused() bool { return v.Hard > 0 }

// Judge applies every rule to a change, in a fixed order, and lists every
// finding once. The order of files does not matter. A rule that fails is a hard
// finding itself: what nobody has looked at does not pass.
func Judge(files []File, p Policy) Verdict { return judge(files, p, steps()) }

// step is one rule, or a family of rules, of [Judge]: for the whole change, or
// for each file of it.
type step struct {
	name  string
	whole func(*change) []Finding
	file  func(*change, *delta) []Finding
}

func steps() []step {
	return []step{
		{name: "entries", file: entries},
		{name: "paths", whole: writtenPaths},
		{name: "protected", file: func(c *change, d *delta) []Finding { return Protected(d.Path, c.policy.Protect) }},
		{name: "coverage", whole: func(c *change) []Finding { return Coverage(c.files, c.policy) }},
		{name: "stale", whole: func(c *change) []Finding { return Stale(c.files, c.policy.Then, c.policy.Now) }},
		{name: "size", whole: func(c *change) []Finding { return Size(c.files, c.policy.Limits) }},
		{name: "names", whole: func(c *change) []Finding { return Names(c.files) }},
		{name: "dependencies", whole: func(c *change) []Finding { return Depend(c.files) }},
		{name: "secrets", whole: func(c *change) []Finding { return Secrets(c.files) }},
		{name: "joined secrets", file: joinedSecrets},
		{name: "parse", file: checkParses},
		{name: "placeholders", file: placeholders},
		{name: "odd's own marks", file: func(_ *change, d *delta) []Finding { return OddMarks(d.Path, d.Before, d.After) }},
		{name: "truncation", file: checkTruncated},
		{name: "bodies", file: bodies},
		{name: "conditions", file: conditions},
		{name: "errors", file: checkDroppedErrors},
		{name: "links", whole: links},
		{name: "tests", whole: tests},
		{name: "effects", file: effects},
		{name: "patterns", file: patterns},
		{name: "claims", file: claims},
		{name: "deletion", file: deletion},
	}
}

// change is a change being judged.
type change struct {
	files  []File // sorted by path
	policy Policy
	deltas []*delta
	beside []*delta
	before map[string]map[string]function // of a folder, by name
}

// writtenPaths judges each path, and together those that the change leaves there.
func writtenPaths(c *change) []Finding {
	var out []Finding
	var written []string
	for _, f := range c.files {
		if f.Before != nil && f.After == nil {
			out = append(out, Path(f.Path)...)
		} else {
			written = append(written, f.Path)
		}
	}
	return append(out, Paths(written)...)
}

func judge(files []File, p Policy, rules []step) Verdict {
	c := &change{policy: p}
	c.files = slices.SortedStableFunc(slices.Values(files), func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	v := Verdict{Ways: map[string]How{}, RulesHash: RulesHash(p)}
	v.add(runGuardedRule("read", "", func() []Finding { c.read(); return nil }))
	for _, d := range c.deltas {
		v.Ways[d.Path] = d.how()
	}
	for _, s := range rules {
		if s.whole != nil {
			v.add(runGuardedRule(s.name, "", func() []Finding { return s.whole(c) }))
			continue
		}
		for _, d := range c.deltas {
			v.add(runGuardedRule(s.name, d.Path, func() []Finding { return s.file(c, d) }))
		}
	}
	v.count()
	return v
}

// runGuardedRule runs a rule and turns its failure into a finding.
func runGuardedRule(name, path string, run func() []Finding) (out []Finding) {
	defer func() {
		if r := recover(); r != nil {
			out = []Finding{newFinding("guard_fault", ByBytes, path, 0, fmt.Sprintf("the rule %s failed: %v", name, r))}
		}
	}()
	return run()
}

func (v *Verdict) add(fs []Finding) { v.Findings = append(v.Findings, fs...) }

// maxAlike is how many findings of one rule in one file are listed. More would
// tell a person nothing more.
const maxAlike = 50

// count drops what is listed twice, cuts short what is listed endlessly, and
// counts the rest.
func (v *Verdict) count() {
	seen := map[Finding]bool{}
	alike := map[[2]string]int{}
	v.Findings = slices.DeleteFunc(v.Findings, func(f Finding) bool {
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
		if f.Severity == Soft {
			v.Soft++
		} else {
			v.Hard++
		}
	}
}

// RulesHash names the rules a verdict was made by: SHA-256, in hex, of the list
// of rules, their patterns and thresholds, and the policy. Two verdicts of one
// hash and one change are the same.
func RulesHash(p Policy) string {
	p.Limits = p.Limits.Filled()
	b, err := json.Marshal(map[string]any{"edition": edition, "rules": Rules(), "measures": measures(), "patterns": describeRules(), "policy": p})
	if err != nil {
		panic("unreachable: " + err.Error()) // strings, numbers and lists always encode
	}
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}
