package anchor

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"github.com/odd-cli/odd/okf"
)

// record is the hash of a tree's files below dir.
func record(tree fstest.MapFS, dir string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		if rel, ok := strings.CutPrefix(name, dir+"/"); ok && filepath.Base(rel) != recordName && filepath.Base(rel) != ".version" {
			b.WriteString(rel + string(tree[name].Data))
		}
	}
	return hexSum([]byte(b.String()))
}

// governed is a work tree with a recorded governance directory.
func governed() fstest.MapFS {
	tree := files(".hestai-sys/agents/mate.oct.md", "ROLE::MATE\n", ".hestai-sys/CONSTITUTION.md", "be kind\n", ".hestai-sys/.version", "7\n")
	tree[".hestai-sys/.integrity"] = &fstest.MapFile{Data: []byte(record(tree, ".hestai-sys"))}
	return tree
}

// findMate finds the role mate, for which the bundle has an atom too.
func findMate(tree fs.FS) (Constitution, string) {
	mate, err := okf.Parse("roles/mate.md", []byte("---\ntype: role\nid: mate\n---\n"))
	if err != nil {
		return Constitution{}, err.Error()
	}
	c, err := Charters{Files: tree, Places: []string{".hestai-sys/agents"}, Atoms: []*okf.Atom{&mate}, Bundle: "knowledge"}.Find("mate")
	return c, refusal(err)
}

// refusal is an error's problems, a line each.
func refusal(err error) string {
	if err == nil {
		return ""
	}
	var r Refusal
	if !errors.As(err, &r) {
		return err.Error()
	}
	var b strings.Builder
	for _, p := range r {
		b.WriteString(p.At + ": " + string(p.Code) + ": " + p.Text + "\n")
	}
	return b.String()
}

func TestGovernance(t *testing.T) {
	t.Parallel()
	const broke = ": A_CONSTITUTION_BROKEN: "
	for _, c := range []struct {
		name   string
		change func(tree fstest.MapFS)
		want   string // "" is accepted
	}{
		{"K1 directory is a link", func(tree fstest.MapFS) {
			clear(tree)
			tree[".hestai-sys"] = &fstest.MapFile{Data: []byte("elsewhere"), Mode: fs.ModeSymlink}
		}, ".hestai-sys" + broke + "it is a link"},
		{"K1 agents directory is a link", func(tree fstest.MapFS) {
			clear(tree)
			tree[".hestai-sys/agents"] = &fstest.MapFile{Data: []byte("../elsewhere"), Mode: fs.ModeSymlink}
		}, ".hestai-sys/agents" + broke + "it is a link"},
		{"K1 agent file is a link", func(tree fstest.MapFS) {
			clear(tree)
			tree["mine"] = &fstest.MapFile{Data: []byte("ROLE::MATE\n")}
			tree[".hestai-sys/agents/mate.oct.md"] = &fstest.MapFile{Data: []byte("../../mine"), Mode: fs.ModeSymlink}
		}, "mate.oct.md" + broke + "it is no regular file"},
		{"K1 a link elsewhere in a recorded directory", func(tree fstest.MapFS) {
			tree[".hestai-sys/x"] = &fstest.MapFile{Data: []byte("CONSTITUTION.md"), Mode: fs.ModeSymlink}
		}, ".hestai-sys/x" + broke + "it is no regular file"},
		{"K1 directory is a file", func(tree fstest.MapFS) {
			clear(tree)
			tree[".hestai-sys"] = &fstest.MapFile{}
		}, ".hestai-sys" + broke + "it is no directory"},
		{"K2 tampered", func(tree fstest.MapFS) {
			tree[".hestai-sys/agents/mate.oct.md"].Data = []byte("ROLE::MATE\nMISSION::\"mutiny\"\n")
		}, ".hestai-sys" + broke + "its files are not those that .hestai-sys/.integrity was made of"},
		{"K2 tampered elsewhere", func(tree fstest.MapFS) {
			tree[".hestai-sys/CONSTITUTION.md"].Data = []byte("be quick\n")
		}, ".hestai-sys" + broke + "its files are not those that .hestai-sys/.integrity was made of"},
		{"K2 a role added", func(tree fstest.MapFS) {
			tree[".hestai-sys/agents/pirate.oct.md"] = &fstest.MapFile{Data: []byte("ROLE::PIRATE\n")}
		}, ".hestai-sys" + broke + "its files are not those that .hestai-sys/.integrity was made of"},
		{"K2 a role lost does not fall through", func(tree fstest.MapFS) {
			delete(tree, ".hestai-sys/agents/mate.oct.md")
		}, ".hestai-sys" + broke + "its files are not those that .hestai-sys/.integrity was made of"},
		{"K2 the record is no record", func(tree fstest.MapFS) {
			tree[".hestai-sys/.integrity"].Data = []byte("trust me\n")
		}, ".hestai-sys" + broke + "its files are not those that .hestai-sys/.integrity was made of"},
		{"K2 the record is empty", func(tree fstest.MapFS) {
			tree[".hestai-sys/.integrity"].Data = nil
		}, broke},
		{"K2 the record in capitals, with a line end", func(tree fstest.MapFS) {
			tree[".hestai-sys/.integrity"].Data = []byte(strings.ToUpper(hexSum([]byte("CONSTITUTION.mdbe kind\nagents/mate.oct.mdROLE::MATE\n"))) + "\n")
		}, ""},
		{"K2 intact", func(fstest.MapFS) {}, ""},
		{"K2 the version is not recorded", func(tree fstest.MapFS) {
			tree[".hestai-sys/.version"].Data = []byte("8\n")
		}, ""},
		{"K3 first run, no record", func(tree fstest.MapFS) {
			delete(tree, ".hestai-sys/.integrity")
		}, ""},
		{"K4 update interrupted between its renames", func(tree fstest.MapFS) {
			for name, f := range governed() {
				delete(tree, name)
				tree[strings.Replace(name, ".hestai-sys", ".hestai-sys.__old__", 1)] = f
			}
		}, ".hestai-sys" + broke + "it is missing and .hestai-sys.__old__ is there"},
		{"K4 update interrupted before it was swept", func(tree fstest.MapFS) {
			tree[".hestai-sys.__old__/agents/mate.oct.md"] = &fstest.MapFile{}
			tree[".hestai-sys.__tmp__/agents/mate.oct.md"] = &fstest.MapFile{}
		}, ""},
		{"K4 half a copy", func(tree fstest.MapFS) {
			delete(tree, ".hestai-sys/CONSTITUTION.md")
		}, ".hestai-sys" + broke + "its files are not those that .hestai-sys/.integrity was made of"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tree := governed()
			c.change(tree)
			got, problem := findMate(tree)
			switch {
			case c.want == "" && (problem != "" || got.Path != ".hestai-sys/agents/mate.oct.md"):
				t.Errorf("%s: %s", got.Path, problem)
			case c.want != "" && (!strings.Contains(problem, c.want) || got.Role != ""):
				t.Errorf("%+v\n%s", got, problem)
			}
		})
	}
	if got, problem := findMate(files()); problem != "" || got.Path != "knowledge/roles/mate.md" {
		t.Errorf("no governance at all: %s %s", got.Path, problem)
	}
}

// TestGovernanceOnDisk: the links are real, and so is os.Root.
func TestGovernanceOnDisk(t *testing.T) {
	t.Parallel()
	dir, away := t.TempDir(), t.TempDir()
	sys, err := fs.Sub(governed(), ".hestai-sys")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(away, "sys"), sys); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, ".hestai-sys")
	if err := os.Symlink(filepath.Join(away, "sys"), link); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for name, tree := range map[string]fs.FS{"os.Root": root.FS(), "os.DirFS": os.DirFS(dir)} {
		if _, problem := findMate(tree); !strings.Contains(problem, ".hestai-sys: A_CONSTITUTION_BROKEN: it is a link") {
			t.Errorf("%s: %s", name, problem)
		}
	}
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(away, "sys"), link); err != nil {
		t.Fatal(err)
	}
	if _, problem := findMate(root.FS()); problem != "" {
		t.Error(problem)
	}
}

// TestGovernanceRecordBites: whatever one byte of a recorded tree becomes, it is refused.
func TestGovernanceRecordBites(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		tree := governed()
		name := rapid.SampledFrom([]string{".hestai-sys/agents/mate.oct.md", ".hestai-sys/CONSTITUTION.md"}).Draw(rt, "file")
		b := slices.Clone(tree[name].Data)
		i := rapid.IntRange(0, len(b)-1).Draw(rt, "at")
		b[i] ^= byte(rapid.IntRange(1, 255).Draw(rt, "bits"))
		tree[name].Data = b
		if _, problem := findMate(tree); !strings.Contains(problem, "its files are not those") {
			rt.Errorf("%s: %q was taken: %s", name, b, problem)
		}
	})
}
