package review

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/okf"
)

// A person is told which links of what they take lead to what they leave out.
func TestLinksToWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	atom := func(id, base, links string) Atom {
		a, err := okf.Parse("systems/"+id+".md", []byte("---\ntype: system\nid: "+id+"\nuses: ["+links+"]\n---\n"))
		if err != nil {
			t.Fatal(err)
		}
		return Atom{Atom: a, At: Path{Path: id, Base: base}}
	}
	disk, desk, log := atom("disk", "", "log"), atom("desk", "b0", "disk"), atom("log", "", "disk, desk")
	got := linksTo([]Atom{disk, desk, log}, []Path{disk.At, desk.At})
	if d := cmp.Diff([]string{"log uses disk"}, got); d != "" { // desk stays, as it was
		t.Error(d)
	}
}
