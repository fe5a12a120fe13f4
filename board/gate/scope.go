package gate

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// Covers reports whether the lease's scope contains a piece of work, and if not, why. paths
// are the paths or globs that it wants to write. If the scope has tags, the work needs one
// of them. No scope contains governing files or odd's own records.
func (l Lease) Covers(kind, role string, tags []string, task string, paths []string) (bool, string) {
	s := l.Scope
	switch {
	case len(s.Kinds) > 0 && !slices.Contains(s.Kinds, kind):
		return false, fmt.Sprintf("kind %s is not among the lease's: %s", kind, strings.Join(s.Kinds, ", "))
	case len(s.Roles) > 0 && !slices.Contains(s.Roles, role):
		return false, fmt.Sprintf("role %q is not among the lease's: %s", role, strings.Join(s.Roles, ", "))
	case len(s.Tags) > 0 && !slices.ContainsFunc(tags, func(t string) bool { return slices.Contains(s.Tags, t) }):
		return false, "no tag of it is among the lease's: " + strings.Join(s.Tags, ", ")
	case len(s.Tasks) > 0 && !slices.Contains(s.Tasks, task):
		return false, fmt.Sprintf("task %s is not among the lease's: %s", task, strings.Join(s.Tasks, ", "))
	}
	for _, p := range paths {
		switch {
		case Guarded(p):
			return false, fmt.Sprintf("path %s is governed and in no lease's scope", p)
		case !slices.ContainsFunc(s.Paths, func(pattern string) bool { return patternCovers(pattern, p) }):
			return false, fmt.Sprintf("path %s is outside the lease's: %s", p, strings.Join(s.Paths, ", "))
		}
	}
	return true, ""
}

// Locked reports whether the task's file has the hash that the lease locked, and returns
// both hashes. A task that no lock names is free.
func (l Lease) Locked(task string, file []byte) (ok bool, want, got string) {
	want, named := l.Scope.WorkOrders[task]
	got = WorkOrder(file)
	return !named || want == got, want, got
}

// Guarded reports whether a path, or a glob that may match one, is a governing file or a
// record of odd. No work order may write those, whatever its scope says.
func Guarded(p string) bool {
	parts := strings.Split(strings.ToLower(p), "/")
	for i, part := range parts {
		first, last := i == 0, i == len(parts)-1
		switch {
		case part == "governance", part == ".git", part == ".github", first && last && part == "odd.toml", last && part == "pause.toml":
			return true
		}
		for _, record := range []string{"journal/2026-01-02-x.tsv", "ledger/2026-01/x.jsonl", "proposals/x.jsonl"} {
			dir, _, _ := strings.Cut(record, "/")
			if part == dir && !last && matchesRecord(parts[i:], strings.Split(record, "/")) {
				return true
			}
		}
	}
	return false
}

// matchesRecord reports whether a path or glob in a record's folder may be a record, by its
// depth and extension.
func matchesRecord(p, record []string) bool {
	last := p[len(p)-1]
	ext := path.Ext(record[len(record)-1])
	if slices.Contains(p, "**") {
		return last == "**" || last == "*" || path.Ext(last) == ext
	}
	return len(p) == len(record) && (path.Ext(last) == ext || strings.HasSuffix(last, "*"))
}

func checkPattern(p string) error {
	switch {
	case p != path.Clean(p) || strings.HasPrefix(p, "/") || p == ".." || strings.HasPrefix(p, "../") || strings.Contains(p, `\`):
		return errors.New("want a path inside the repository, like \"knowledge/**\"")
	case Guarded(p):
		return errors.New("is governed or odd's own record; no lease may hold it")
	}
	for _, part := range strings.Split(p, "/") {
		if _, err := path.Match(part, ""); err != nil {
			return errors.New("is not a glob")
		}
		if part != "**" && strings.Contains(part, "**") {
			return errors.New("** stands alone between slashes")
		}
	}
	return nil
}

// patternCovers reports whether pattern matches every path that p, a path or a glob,
// matches. It may wrongly say no, but never wrongly yes.
func patternCovers(pattern, p string) bool {
	if p == "" || p != path.Clean(strings.TrimSuffix(p, "/")) && p != path.Clean(p)+"/" || strings.HasPrefix(p, "/") || strings.HasPrefix(p, "..") {
		return false
	}
	if folder, ok := strings.CutSuffix(p, "/"); ok {
		p = folder + "/**"
	}
	return partsCover(strings.Split(pattern, "/"), strings.Split(p, "/"))
}

func partsCover(pattern, p []string) bool {
	switch {
	case len(pattern) == 0:
		return len(p) == 0
	case pattern[0] == "**":
		if len(pattern) == 1 {
			return true
		}
		return partsCover(pattern[1:], p) || len(p) > 0 && partsCover(pattern, p[1:])
	case len(p) == 0 || p[0] == "**":
		return false
	case !partCovers(pattern[0], p[0]):
		return false
	}
	return partsCover(pattern[1:], p[1:])
}

// partCovers is patternCovers for one path element. A glob is covered only by a pattern with
// stars alone, because a star matches whatever the other's stars and question marks match.
func partCovers(pattern, p string) bool {
	if pattern == p || pattern == "*" {
		return true
	}
	if strings.ContainsAny(p, "[{\\") || strings.ContainsAny(p, "*?") && strings.ContainsAny(pattern, "?[\\") {
		return false
	}
	ok, err := path.Match(pattern, p)
	return ok && err == nil
}

// workKeys are the keys of a task that odd writes while it works on the task.
var workKeys = []string{
	"state", "claimed_by", "lease_expires", "attempts", "result", "rejected", "declined", "endorsed", "blocked_reason", "tags", "verified", "excepted", "confidence",
}

// WorkOrder returns the hash that locks a task, "sha256:" and hex: the SHA-256 of its file
// without the lines of workKeys. The lines of a key are its own and those below it, up to
// the next key of the frontmatter's first level.
func WorkOrder(task []byte) string {
	h := sha256.New()
	front, skip := false, false
	for i, line := range strings.SplitAfter(string(task), "\n") {
		text := strings.TrimRight(line, " \t\r\n")
		switch {
		case i == 0:
			front = text == "---"
		case front && (text == "---" || text == "..."):
			front, skip = false, false
		case front && text != "" && !strings.ContainsAny(text[:1], " \t-#]})\"'"):
			key, _, _ := strings.Cut(text, ":")
			skip = slices.Contains(workKeys, strings.TrimSpace(key))
		case front && text != "" && strings.ContainsAny(text[:1], "\"'"):
			skip = false // a quoted key is not how odd writes
		}
		if !skip {
			h.Write([]byte(line))
		}
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
