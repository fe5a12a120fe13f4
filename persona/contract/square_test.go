package contract

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// handed is a complete handoff of every transition the role reads, one of each.
func handed(role Role) []Handoff {
	row, _ := roleRow(role)
	var out []Handoff
	for i, p := range row.Reads {
		out = append(out, Handoff{
			ID: fmt.Sprintf("h%d", i), Path: fmt.Sprintf("handoffs/h%d.md", i), Blob: strings.Repeat("a", 40), From: p.From, To: p.To, Artifact: "terms/slack-water.md", Journal: "journal/2026-03-02-x.tsv:2",
		})
	}
	return out
}

// verdict resolves one cell of the square with everything else in order.
func verdict(m Mode, role Role, s Surface, e Engagement) string {
	c, no := Resolve(Call{Role: role, Mode: m, Surface: s, Engagement: e, Handoffs: handed(role)}, World{})
	if len(no) > 0 {
		return "refused " + strings.Join(no.Codes(), " ")
	}
	v, why := Judge(c.Mode, c.Role, c.Surface.Name, c.Engagement)
	if len(why) > 0 {
		return string(v) + " (" + strings.Join(why, "; ") + ")"
	}
	return string(v)
}

// TestSquare prints the verdict of every cell of mode × role × surface ×
// engagement. A mode "-" is one the call leaves out.
func TestSquare(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	modes := []Mode{""}
	for _, r := range Modes() {
		modes = append(modes, r.Mode)
	}
	cells := 0
	for _, m := range modes {
		for _, r := range Roles() {
			for _, s := range surfaceRows() {
				for _, e := range []Engagement{Assistant, Agent} {
					fmt.Fprintf(&b, "%s\t%s\t%s\t%s\t%s\n", cmp.Or(string(m), "-"), r.Role, s.Name, e, verdict(m, r.Role, s.Name, e))
					cells++
				}
			}
		}
	}
	if want := 6 * 7 * 8 * 2; cells != want {
		t.Errorf("%d cells, want %d", cells, want)
	}
	golden(t, "testdata/square.tsv", b.String())
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s differs; run go test -update if that is meant (-want +got):\n%s", file, diff)
	}
}
