package extract

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/session"
)

// quotedBy is what the body of the atom of a title quotes, without the marks of the quote.
func quotedBy(t *testing.T, e session.Emission, title string) string {
	t.Helper()
	for _, a := range e.Atoms {
		if a.Atom.Title != title {
			continue
		}
		var out []string
		for line := range strings.Lines(string(a.Atom.Body())) {
			if q, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), ">"); ok {
				out = append(out, strings.TrimPrefix(q, " "))
			}
		}
		return strings.Join(out, "\n")
	}
	t.Fatalf("no atom %q among %v, %+v", title, spoken(e), e.Notes)
	return ""
}

// TestProceduresAreQuotedWhole: nothing that changes what a step means is left out, and
// nothing is added.
func TestProceduresAreQuotedWhole(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, title, text, want string }{
		{"comments are conditions", "Build the keys (a)", "## Build the keys\n\nIn the config folder:\n\n```sh\n# On Linux\nmake clean\n\n# Elsewhere\nmake keys\n```\n",
			"In the config folder:[^a]\n\n```sh\n# On Linux\nmake clean\n\n# Elsewhere\nmake keys\n```"},
		{"labels of platforms", "Build the single executable", "## Build the single executable\n\nOn your own system.\n\nOn Windows:\n\n```bat\nsign /s a.exe\n```\n\nOn Linux:\n\n```sh\ncodesign --remove-signature a\n```\n",
			"On your own system.[^a]\n\nOn Windows:\n\n```bat\nsign /s a.exe\n```\n\nOn Linux:\n\n```sh\ncodesign --remove-signature a\n```"},
		{"what stands below a step", "Landing changes (a)", "## Landing changes\n\n1. Use the queue.\n2. Avoid the button. Reasons:\n   - It merges.\n   - It squashes.\n3. Push the commit:\n\n   ```sh\n   git push\n   ```\n",
			"1. Use the queue.[^a]\n2. Avoid the button. Reasons:\n   - It merges.\n   - It squashes.\n3. Push the commit:\n\n   ```sh\n   git push\n   ```"},
		{"commands alone", "Running the benchmarks", "## Running the benchmarks\n\n```sh\nmake data\nmake bench\n```\n", "```sh\nmake data\nmake bench\n```"},
		{"every link of a chain", "Verify a download", "## Verify a download\n\nGet the keys:\n\n```sh\ncurl -O keys\n```\n\nThen check the file:\n\n```sh\ngpgv keys\nshasum --check sums\n```\n",
			"Get the keys:[^a]\n\n```sh\ncurl -O keys\n```\n\nThen check the file:\n\n```sh\ngpgv keys\nshasum --check sums\n```"},
		{"tildes in code", "Make a release", "## Make a release\n\n1. Open the notes.\n2. Add this:\n\n   ```rst\n   News\n   ~~~~\n   ```\n3. Push it.\n", "1. Open the notes.[^a]\n2. Add this:\n\n   ```rst\n   News\n   ~~~~\n   ```\n3. Push it."},
		{"a number of its own", "Repair a hull", "## How to repair a hull\n\n3. Clean the crack.\n4. Fill it with resin.\n5. Wash it.\n", "3. Clean the crack.[^a]\n4. Fill it with resin.\n5. Wash it."},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := quotedBy(t, drive(t, request("a.md", c.text)), c.title); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// TestAFaultCostsItsFileAlone: an image where text is expected panicked once.
func TestAFaultCostsItsFileAlone(t *testing.T) {
	t.Parallel()
	image := "# Demo\n\n## Set up a cluster\n\n![diagram](a.gif)\n\n```sh\nserver --init\nserver --name a\n```\n"
	if got := quotedBy(t, drive(t, request("a.md", image)), "Set up a cluster (Demo)"); got != "```sh\nserver --init\nserver --name a\n```" {
		t.Errorf("got %s", got)
	}
	if _, err := readFile(file{path: "a.md", text: nil}); err != nil {
		t.Errorf("an empty file: %v", err)
	}
}

// TestReservedNames: a title whose id names a file that OKF or a system keeps for itself.
func TestReservedNames(t *testing.T) {
	t.Parallel()
	e := drive(t, request("g.md", "# Glossary\n\nIndex\n: A sorted structure that finds rows.\n\nLog\n: The file of all changes.\n\nCon\n: A meeting of many players.\n\nPage\n: A block of eight kilobytes.\n"))
	var got []string
	for _, a := range e.Atoms {
		got = append(got, a.Atom.Path)
	}
	slices.Sort(got)
	if want := []string{"terms/con-term.md", "terms/index-term.md", "terms/log-term.md", "terms/page.md"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestCodeAndLinksStay: a quote keeps the marks of code, and the links that can be followed from
// the atom's file.
func TestCodeAndLinksStay(t *testing.T) {
	t.Parallel()
	text := "# Rules\n\n## Pushing\n\nYou **must run `make test`** first, [as `CI` does](ci.md#how \"t\"), and never `` a`b `` or &#33;%s.\n\n[r]: <../R (1).md>\n"
	for link, want := range map[string]string{
		"[here](#top)": `\![here](../../docs/a.md#top)`, "[here](/R%20(1).md)": `\![here](../../R%20%281%29.md)`, "[here][r]": `\![here](../../R%20%281%29.md)`,
		"[here](gone.md)": "!here", "[here](../..)": "!here", "[here](javascript:x)": "!here", "[here]()": "!here", "[here](//a.b)": "!here",
		"[h_e_re](https://a.b/c_(d))": `\![h\_e\_re](https://a.b/c_%28d%29)`, "<https://a.b/c_d>": `\!<https://a.b/c_d>`, "[a\\]b](mailto:a@b.c)": `\![a\]b](mailto:a@b.c)`,
		"&amp;lt;": `!\&lt;`,
	} {
		r := request("docs/a.md", fmt.Sprintf(text, link), "docs/ci.md", "", "R (1).md", "")
		e := drive(t, r)
		want := "You **must run `make test`** first, [as `CI` does](../../docs/ci.md#how), and never ``a`b`` or " + want + ".[^docs-a]"
		if got := quotedBy(t, e, "Pushing (Rules)"); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
		hold(t, e, r)
	}
}

// TestAltered: what the lines do not hold word for word is found.
func TestAltered(t *testing.T) {
	t.Parallel()
	d := parseDocument(file{"a.md", []byte("# A\n\nYou **must** not [run](x.md) `a <b>` twice,\nunless told.\n\nElsewhere it may run.\n")})
	for text, want := range map[string]bool{
		"You must not run a <b> twice, unless told.": false,
		"You must run a <b> twice":                   true,
		"So it is run.":                              true,
		"Elsewhere it may run.":                      true, // beyond the lines
		"not run: unless told":                       false,
	} {
		e := evidence{doc: d, from: 3, to: 4, passage: []block{{run: run{text: text}}}}
		if got := e.firstAltered() != ""; got != want {
			t.Errorf("%q: altered %v, want %v", text, got, want)
		}
	}
}

// TestDoubtfulAtomsAreLeftOut: an atom whose quote its lines do not hold is no loss to
// the others, and is named.
func TestDoubtfulAtomsAreLeftOut(t *testing.T) {
	t.Parallel()
	d := parseDocument(file{"a.md", []byte("# Terms\n\nSkeg\n: A small fin under the stern.\n")})
	good := candidate{kind: term, title: "Skeg", about: "A small fin.", evidence: []evidence{{doc: d, from: 3, to: 4, passage: []block{{run: run{text: "Skeg: A small fin under the stern."}}}}}}
	bad := candidate{kind: term, title: "Keel", about: "A large fin.", evidence: []evidence{{doc: d, from: 3, to: 4, passage: []block{{run: run{text: "Keel: A large fin."}}}}}}
	tl := tally{docs: []*document{d}, kinds: map[string]int{}}
	e, err := finishEmission([]chosen{{candidate: bad}, {candidate: good}}, &tl, request())
	if err != nil || len(e.Atoms) != 1 || e.Atoms[0].Atom.ID != okf.ID("skeg") {
		t.Fatalf("%v, %v", spoken(e), err)
	}
	if n := e.Notes[1]; n.Title != "1 doubtful atom left out: Keel" || !strings.Contains(n.Content, "Keel (a.md:3 does not say: Keel: A large fin.)") {
		t.Errorf("%+v", n)
	}
}

// TestASoundSourceIsEnough: a source that breaks off does not take a sound one of the same
// thing with it, whichever is read first.
func TestASoundSourceIsEnough(t *testing.T) {
	t.Parallel()
	broken, sound := "# Roles\n\n## Warden\n\nA warden is active where they:\n\n- lock the gate\n", "# Roles\n\n## Warden\n\nA warden keeps the jetty clean, and is responsible for the gate.\n"
	for _, paths := range [][2]string{{"a.md", "b.md"}, {"b.md", "a.md"}} {
		r := request(paths[0], broken, paths[1], sound)
		e := drive(t, r)
		if got, want := strings.Join(spoken(e), "\n"), "role Warden | A warden keeps the jetty clean, and is responsible for the gate. | lines 3-5"; got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
		hold(t, e, r)
	}
}

// TestCredentialsAreLeftOut: a document that shows a credential costs the one atom that
// would quote it, and what tells of it does not repeat it.
func TestCredentialsAreLeftOut(t *testing.T) {
	t.Parallel()
	key := "ed6f20bde9123" + "bbb2312b221"
	text := "# Ops\n\n## How to deploy\n\n1. Log in.\n2. Run `DB_PASSWORD=" + key + " make deploy`.\n\n## How to roll back\n\n1. Log in.\n2. Run `make undo`.\n"
	e := drive(t, request("a.md", text))
	if len(e.Atoms) != 1 || e.Atoms[0].Atom.Title != "Roll back" {
		t.Fatalf("%v", spoken(e))
	}
	if n := e.Notes[1]; !strings.Contains(n.Content, "Deploy (Ops) (a.md:5 has what looks like a credential") || strings.Contains(n.Content, key) {
		t.Errorf("%+v", n)
	}
	steps := drive(t, request("release.md", "# Release\n\n"+text[len("# Ops\n\n"):])) // the parts of a whole that has one
	if len(steps.Atoms) != 1 || steps.Atoms[0].Atom.Title != "Roll back" {
		t.Errorf("of a release: %v", spoken(steps))
	}
}

// TestNoEdgeToADoubtfulAtom: what is left out is nothing that another atom may point to.
func TestNoEdgeToADoubtfulAtom(t *testing.T) {
	t.Parallel()
	r := request("a.md", "# Glossary\n\n- **Warp**: a rope of ~~two~~ strands.\n- **Bollard**: a post that takes a warp.\n")
	e := drive(t, r)
	if got, want := strings.Join(spoken(e), "\n"), "term Bollard | A post that takes a warp. | line 4"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	hold(t, e, r)
}

// TestPassagesLeaveNothingOut: what stands between the steps of a procedure is a condition
// as often as not.
func TestPassagesLeaveNothingOut(t *testing.T) {
	t.Parallel()
	text := "# Ops\r\n\r\n## How to restore the database\r\n\r\nOn staging only.\r\n\r\n1. Stop the app:\r\n\r\n   ```sh\r\n   stop app\r\n   ```\r\n\r\n   Wait a minute.\r\n2. Check:\r\n   - disk\r\n     1. space\r\n\r\n   | Host | Port |\r\n   |---|---|\r\n   | a | 1 |\r\n\r\n> Never skip step 2.\r\n\r\n<details>\r\n<b>Careful</b>: it is slow.\r\n</details>\r\n\r\n3. Start it.\r\n4. Tell the team.\r\n"
	want := "On staging only.[^a]\n\n1. Stop the app:\n\n   ```sh\n   stop app\n   ```\n\n   Wait a minute.\n2. Check:\n   - disk\n     1. space\n\n   | Host | Port |\n   | --- | --- |\n   | a | 1 |\n\n" +
		"> Never skip step 2.\n\nCareful: it is slow.\n\n3. Start it.\n4. Tell the team."
	if got := quotedBy(t, drive(t, request("a.md", text)), "Restore the database"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestAQuoteThatBreaksOff: steps that end in what they announce, which stands below
// another heading, are no procedure.
func TestAQuoteThatBreaksOff(t *testing.T) {
	t.Parallel()
	text := "## Bump the version\n\n1. Decide which tag to take.\n2. Update the file. There are two ways:\n\n### By hand\n\nAs you like.\n"
	e := drive(t, request("a.md", text))
	if len(e.Atoms) > 0 || !strings.Contains(e.Notes[1].Content, "a.md:4 goes on behind: Update the file. There are two ways:") {
		t.Errorf("%v, %+v", spoken(e), e.Notes)
	}
}

// TestWhatIsAnnounced: a rule whose text announces what stands below another heading is left out, unless
// a last paragraph of its section does nothing else, which is left out of it.
func TestWhatIsAnnounced(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"You must review each of the headers below for every use. A tool may help.": "",
		"You must keep to the following.":                                           "",
		"Members must wash the boat. Here are the default values.":                  "",
		"Members must keep the load below the line and wash the boat.":              "Members must keep the load below the line and wash the boat.",
		"Members must wash the boat.\n\nThe following is an example:":               "Members must wash the boat.",
		"You must wash all of the boats below.\n\n- The red one.\n- The blue one.":  "You must wash all of the boats below.\n\n- The red one.\n- The blue one.",
	} {
		e := drive(t, request("a.md", "# Rules\n\n## Boats of the club\n\n"+text+"\n\n### Red\n\nIt is red.\n"))
		if want == "" {
			if len(e.Atoms) > 0 {
				t.Errorf("%q: got %q, %+v", text, spoken(e), e.Notes)
			}
		} else if got := quotedBy(t, e, "Boats of the club"); strings.Replace(got, "[^a]", "", 1) != want {
			t.Errorf("%q: got\n%s\nwant\n%s", text, got, want)
		}
	}
}

// TestOrderAndNumbers: an item that begins with code keeps it first, an empty one its
// number, and a language does not end its fence.
func TestOrderAndNumbers(t *testing.T) {
	t.Parallel()
	text := "## How to drop a tenant\n\n1. Stop it first.\n2. ```sh\n   drop x\n   ```\n\n   Only after the backup: run the command above.\n3. ![image](a.png)\n4. Start it again.\n"
	want := "1. Stop it first.[^a]\n2.\n   ```sh\n   drop x\n   ```\n\n   Only after the backup: run the command above.\n3.\n4. Start it again."
	if got := strings.Join(fenceCode("sh`x", []string{"a"}), "\n"); got != "```\na\n```" {
		t.Errorf("got %q", got)
	}
	if got := quotedBy(t, drive(t, request("a.md", text)), "Drop a tenant"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	long := "## How to drop a tenant\n\n" + strings.Repeat("1. Stop one more of them.[^a]\n", 140)
	if e := drive(t, request("a.md", long)); len(e.Atoms) > 0 || !strings.Contains(e.Notes[1].Content, "goes on for more lines") {
		t.Errorf("%v, %+v", spoken(e), e.Notes)
	}
}
