package start

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/knowledge"
)

func bundleRoot(r *repo.Repo) string { return configIn(os.DirFS(r.Root())).Root }

// configIn returns the configuration of a work tree, where there is none that can be read the default.
func configIn(files fs.FS) config.Config {
	if b, err := fs.ReadFile(files, "odd.toml"); err == nil {
		if cfg, err := config.Parse("odd.toml", b); err == nil {
			return cfg
		}
	}
	return config.Default()
}

const firstTask = "read-our-documents.md"

// starterFiles returns what init lays out. Where odd.toml is there already its
// bundle root is taken; a bundle of somebody's is left alone.
func starterFiles(ctx context.Context, r *repo.Repo, o initOptions) (repo.Changes, error) {
	if url, err := r.Config(ctx, "remote.origin.url"); err != nil {
		return nil, err
	} else if o.ci && url != "" {
		o.remote = "origin" // what a job commits is lost unless it is pushed
	}
	settings, err := o.newConfig()
	if err != nil {
		return nil, err
	}
	ch := repo.Changes{"odd.toml": settings}
	root := bundleRoot(r)
	files := starterAtoms(r, o)
	own := ownBundle(ctx, r, root, files)
	for _, f := range files {
		name, ok := strings.CutPrefix(f.Path, "knowledge/")
		switch {
		case path.Base(f.Path) == prTemplate:
			if o.template && !hasTemplate(r) {
				ch[f.Path] = f.Data
			}
		case !ok:
			if o.ci {
				ch[f.Path] = f.Data
			}
		case !own || name == workspace.AttributesFile || o.ci && isAuditFile(name):
			ch[path.Join(root, name)] = f.Data
		}
	}
	if own {
		maps.Copy(ch, addedRoles(r, root, o.roles))
	}
	kept, err := keepIgnored(ctx, r, root, slices.Collect(maps.Keys(ch)))
	if kept != nil {
		ch[path.Join(root, ".gitignore")] = kept
	}
	return ch, err
}

// keepIgnored returns the .gitignore with which git keeps every file of odd's in a bundle, or nil
// where git keeps them anyway. Patterns such as artifacts/ and *.tsv are common in projects, and
// what git ignores is in no commit. It refuses where a line in the bundle could not help.
func keepIgnored(ctx context.Context, r *repo.Repo, root string, files []string) ([]byte, error) {
	at := filepath.Join(r.Root(), filepath.FromSlash(root))
	if os.MkdirAll(filepath.Dir(at), 0o755) == nil && os.Mkdir(at, 0o755) == nil {
		defer os.Remove(at) // git tells a folder from a file only where it is there
	}
	by, err := r.Ignored(ctx, append(bundleSamples(root), withParents(append(files, root))...)...)
	if err != nil || len(by) == 0 {
		return nil, err
	}
	if err := refuseIgnored(by, root, files); err != nil {
		return nil, err
	}
	return []byte("# Patterns above this folder ignore files of odd's. These lines have git keep them.\n" +
		"!*/\n!.gitattributes\n!.gitignore\n!*.md\n!*.jsonl\n!*.toml\n!*.tsv\n"), nil
}

// withParents adds the folders above each path, as far as the top of the repository.
func withParents(paths []string) []string {
	for _, p := range paths {
		for p = path.Dir(p); p != "."; p = path.Dir(p) {
			paths = append(paths, p)
		}
	}
	return paths
}

// refuseIgnored names the folder of the bundle, and the files outside of it, that git ignores, or the first folder above
// each that it ignores; and the lines with which git keeps them.
func refuseIgnored(by map[string]string, root string, files []string) error {
	var names, lines, sources []string
	for _, f := range append([]string{root}, slices.Sorted(slices.Values(files))...) {
		if strings.HasPrefix(f, root+"/") {
			continue
		}
		at := ""
		for p := f; p != "."; p = path.Dir(p) {
			if _, is := by[p]; is {
				at = p
			}
		}
		if at == "" {
			continue
		}
		name := at
		if at == root || at != f {
			name += "/"
		}
		if !slices.Contains(names, name) {
			names, lines = append(names, name), append(lines, "!/"+name)
		}
		if !slices.Contains(sources, by[at]) {
			sources = append(sources, by[at])
		}
	}
	if len(names) == 0 {
		return nil
	}
	line, them := "line", "it"
	if len(names) > 1 {
		line, them = "lines", "them"
	}
	return verb.Refuse("ignored", "%s: git ignores %s by %s; at the end of .gitignore, add the %s %s", strings.Join(names, " and "), them, strings.Join(sources, " and "), line, strings.Join(lines, " and "))
}

// bundleSamples returns a path for each folder and kind of file that odd writes in a bundle.
func bundleSamples(root string) []string {
	var paths []string
	for _, name := range []string{workspace.AttributesFile, "artifacts/a.md", "capabilities/a.md", "decisions/a.md", "policies/a.md", "processes/a.md", "roles/a.md",
		"systems/a.md", "tasks/a.md", "terms/a.md", "governance/a.jsonl", "governance/a.toml", "journal/a.tsv", "ledger/2006-01/a.jsonl"} {
		paths = append(paths, path.Join(root, name))
	}
	return paths
}

func (o initOptions) newConfig() ([]byte, error) {
	b := config.Template()
	for _, set := range []struct {
		path  []string
		value string
	}{{[]string{"session", "substrate"}, o.agent}, {[]string{"budget", "monthly_usd"}, o.monthly}, {[]string{"board", "remote"}, o.remote}} {
		if set.value == "" {
			continue
		}
		var err error
		if b, err = config.Set("odd.toml", b, set.path, config.Literal(set.path, []string{set.value})); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// isAuditFile reports a file of the bundle that the audit workflow needs, and nothing else does.
func isAuditFile(name string) bool {
	return strings.HasPrefix(name, "canon/") || strings.HasPrefix(name, "personas/")
}

// starterAtoms returns the files that init knows, for the roles that work here, with the first task
// ready to read what documents there are. Where odd.toml is there already, its agent may
// cost money: then a person makes the task ready.
func starterAtoms(r *repo.Repo, o initOptions) []knowledge.File {
	first, others := "Keeper", []string{}
	if len(o.roles) > 0 {
		first, others = o.roles[0], o.roles[1:]
	}
	_, err := os.Stat(filepath.Join(r.Root(), "odd.toml"))
	in := inputList(o.docs)
	pairs := []string{"Keeper", first, "keeper", roleID(first)}
	if first != "Keeper" {
		pairs = append(pairs, "Keeps the atoms of this repository correct and complete.", newRole)
	}
	named := strings.NewReplacer(pairs...)
	var files []knowledge.File
	for _, f := range knowledge.Starter() {
		name, ours := strings.CutPrefix(f.Path, "knowledge/")
		if !ours {
			files = append(files, f)
			continue
		}
		if isAuditFile(name) && !o.ci {
			continue
		}
		text := named.Replace(string(f.Data))
		switch name {
		case "index.md":
			if !o.ci {
				text = regexp.MustCompile(`(?m)^\* \[(canon|personas)\].*\n`).ReplaceAllString(text, "")
			}
		case "roles/index.md":
			for _, role := range others {
				text += fmt.Sprintf("* [%s](%s.md) - %s\n", role, roleID(role), newRole)
			}
		case "tasks/" + firstTask:
			if in == "" {
				break
			}
			text = strings.Replace(text, "inputs: [docs/]", "inputs: ["+in+"]", 1)
			if errors.Is(err, fs.ErrNotExist) {
				text = strings.Replace(text, "state: backlog", "state: ready", 1)
			}
		}
		files = append(files, knowledge.File{Path: "knowledge/" + named.Replace(name), Data: []byte(text)})
	}
	for _, role := range others {
		files = append(files, knowledge.File{Path: "knowledge/roles/" + roleID(role) + ".md", Data: fmt.Appendf(nil, roleFile, roleID(role), role, newRole)})
	}
	return files
}

// newRole describes a role of which odd knows the name alone; roleFile is its atom.
const (
	newRole  = "Does the tasks here that name this role."
	roleFile = `---
type: role
id: %[1]s
title: %[2]s
description: %[3]s
status: draft
confidence: asserted
uses: [git]
governed_by: [say-where-it-comes-from]
relates_to: [atom, proposal]
---

# %[2]s

Say here what this role decides, and name it as owner of the processes that it runs.
` + "`odd compile-persona %[1]s`" + ` says what is missing before an agent can work as it.
`
)

// addedRoles returns a file for each role that a bundle lacks. It links only to atoms that are there.
func addedRoles(r *repo.Repo, root string, roles []string) repo.Changes {
	has := func(id string) bool {
		found, _ := fs.Glob(os.DirFS(r.Root()), path.Join(root, "*", id+".md"))
		return len(found) > 0
	}
	ch := repo.Changes{}
	for _, name := range roles {
		if has(roleID(name)) {
			continue
		}
		text := regexp.MustCompile(`(?m)^[a-z_]+: \[(.*)\]\n`).ReplaceAllStringFunc(fmt.Sprintf(roleFile, roleID(name), name, newRole), func(line string) string {
			key, ids, _ := strings.Cut(strings.Trim(line, "]\n"), ": [")
			there := slices.DeleteFunc(strings.Split(ids, ", "), func(id string) bool { return !has(id) })
			if len(there) == 0 {
				return ""
			}
			return fmt.Sprintf("%s: [%s]\n", key, strings.Join(there, ", "))
		})
		ch[path.Join(root, "roles", roleID(name)+".md")] = []byte(text)
	}
	return ch
}

func roleID(name string) string { return board.TitleID(name) }

func inputList(places []string) string {
	var out []string
	for _, p := range places {
		if !regexp.MustCompile(`^[A-Za-z0-9/._-]+$`).MatchString(p) {
			p = strconv.Quote(p)
		}
		out = append(out, p)
	}
	return strings.Join(out, ", ")
}

func asBacklog(b []byte) []byte {
	return bytes.Replace(b, []byte("\nstate: ready\n"), []byte("\nstate: backlog\n"), 1)
}

// ownBundle reports a bundle at root that is more than what an init laid out which
// did not come to its end: it is committed, or has a file of somebody's.
func ownBundle(ctx context.Context, r *repo.Repo, root string, files []knowledge.File) bool {
	if head, err := r.Resolve(ctx, "HEAD"); err == nil {
		if tree, err := r.Tree(head); err == nil {
			if _, err := fs.Stat(tree, path.Clean(root)); err == nil {
				return true
			}
		}
	}
	ours := map[string][]byte{}
	for _, f := range files {
		ours[f.Path] = f.Data
	}
	dir := os.DirFS(filepath.Join(r.Root(), filepath.FromSlash(root)))
	err := fs.WalkDir(dir, ".", func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil || e.IsDir():
			return err
		case strings.HasPrefix(e.Name(), "."): // no atom; a kill leaves such drafts
			return nil
		case !e.Type().IsRegular():
			return fs.ErrExist
		}
		b, err := fs.ReadFile(dir, p)
		if err != nil || !bytes.Equal(asBacklog(b), asBacklog(ours["knowledge/"+p])) {
			return fs.ErrExist
		}
		return nil
	})
	return err != nil && !errors.Is(err, fs.ErrNotExist)
}

// prTemplate is the file a forge opens a pull request with.
const prTemplate = "pull_request_template.md"

// hasTemplate reports whether the repository has one already, in any of the
// places and spellings that a forge looks for: two would hide each other.
func hasTemplate(r *repo.Repo) bool {
	for _, dir := range []string{"", ".github", "docs"} {
		entries, err := os.ReadDir(filepath.Join(r.Root(), dir))
		if err != nil {
			continue
		}
		for _, e := range entries {
			if strings.HasPrefix(strings.ToLower(e.Name()), "pull_request_template") {
				return true
			}
		}
	}
	return false
}

// writeMissing writes the files that are not there yet and returns their names, sorted.
func writeMissing(r *repo.Repo, ch repo.Changes) ([]string, error) {
	wrote := []string{}
	for name := range ch {
		_, err := os.Lstat(filepath.Join(r.Root(), filepath.FromSlash(name)))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			wrote = append(wrote, name)
		case err != nil:
			return nil, err
		default:
			delete(ch, name)
		}
	}
	slices.Sort(wrote)
	return wrote, r.Write(ch)
}
