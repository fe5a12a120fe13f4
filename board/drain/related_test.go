package drain

import (
	"fmt"
	"slices"
	"testing"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/invoke"
)

// TestRelatedAtoms: a brief gets the atoms that share at least two words with its task's title,
// and none that the role reaches already, that is retired, or that is no knowledge.
func TestRelatedAtoms(t *testing.T) {
	var atoms []okf.Atom
	for name, front := range map[string]string{
		"policies/unavailable.md": "type: policy\ntitle: Unavailable devices\ndescription: A device that is unavailable is logged once.",
		"processes/release.md":    "type: process\ntitle: Release the Android app\ndescription: Build and upload the application.",
		"policies/devices.md":     "type: policy\ntitle: Names of devices\ndescription: A name has no brand.",
		"policies/old.md":         "type: policy\nstatus: deprecated\ntitle: Unavailable devices, as it was",
		"policies/io.md":          "type: policy\ntitle: IO of a device",
		"tasks/crash.md":          "type: task\ntitle: Unavailable device crash",
		"policies/linked.md":      "type: policy\ntitle: Crash of an unavailable device",
	} {
		a, err := okf.Parse(name, fmt.Appendf(nil, "---\n%s\n---\n\nText.\n", front))
		if err != nil {
			t.Fatal(err)
		}
		atoms = append(atoms, a)
	}
	g := okf.NewGraph(atoms)
	linked := func(a *okf.Atom) bool { return a.Path == "policies/linked.md" }
	for _, tt := range []struct {
		title string
		want  []string
	}{
		{"Fix the crash when a device is unavailable", []string{"policies/unavailable.md"}},
		{"Release", []string{"processes/release.md"}},
		{"Release the app of Android", []string{"processes/release.md"}},
		{"With what there is", nil},
		{"What is that?", nil},
		{"OS 10 in 10", nil},
		{"IO of devices", []string{"policies/io.md"}},
		{"devices", []string{"policies/devices.md", "policies/unavailable.md", "policies/io.md"}},
		{"Bump versions of dependencies", nil},
	} {
		var got []string
		for _, a := range relatedAtoms(g, tt.title, linked) {
			got = append(got, a.Path)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.title, got, tt.want)
		}
	}
}

// TestFoundOnce: what a brief has already is not found again, and a task that reads documents
// is told of nothing.
func TestFoundOnce(t *testing.T) {
	t.Parallel()
	var atoms []okf.Atom
	for _, name := range []string{"policies/a.md", "policies/b.md"} {
		a, err := okf.Parse(name, []byte("---\ntype: policy\ntitle: Unavailable devices\n---\n\nText.\n"))
		if err != nil {
			t.Fatal(err)
		}
		atoms = append(atoms, a)
	}
	s := &snapshot{graph: okf.NewGraph(atoms), cfg: config.Config{Root: "knowledge"}}
	task := board.Task{Row: board.Row{Title: "An unavailable device"}}
	for _, c := range []struct {
		kind, known string
		want        int
	}{{"", "knowledge/c.md", 2}, {"", "knowledge/policies/a.md", 1}, {"extract", "", 0}} {
		task.Kind = c.kind
		if got := s.findRelated(task, nil, []invoke.Ref{{Path: c.known}}); len(got) != c.want || c.want == 1 && got[0].Path != "knowledge/policies/b.md" {
			t.Errorf("kind %q beside %s: %v", c.kind, c.known, got)
		}
	}
}
