package extract

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWhatHolds: what was overturned, put away or only proposed is no atom, nor is what stands in a record of a
// decision beside it, nor what users of a product do; each row names the atoms of its files.
func TestWhatHolds(t *testing.T) {
	t.Parallel()
	adr := func(title, decision string) string {
		return "# " + title + "\n\n## Context\n\nBoats float.\n\n## Decision\n\n" + decision + "\n"
	}
	const (
		paper = "We will keep float plans on paper."
		rule  = "\n\n## Oars\n\nMembers must never varnish oars.\n\n## Sails\n\nMembers must wash their sails.\n"
		steps = "\n\n1. Open the tin.\n2. Stir it.\n3. Close the tin.\n"
		grid  = "Paper\n#####\n\n+--------+----------+\n| Status | Replaced |\n+--------+----------+\n"
		rst   = "\n\nContext\n*******\n\nBoats float.\n\nDecision\n********\n\nWe will keep float plans on paper.\n"
	)
	parts := func(of string) string {
		return "# " + of + "s\n\n## " + of + " usage policy\n\n### Term\n\nMembers must wash each " + of + ".\n\n### Rules\n\nMembers must lock each " + of + ".\n"
	}
	lead := func(does string) string {
		return "# Crew\n\n## Roles\n\n| Role | Responsibilities |\n| --- | --- |\n| Lead | " + does + " of all boats |\n"
	}
	for _, tt := range []struct {
		name  string
		files []string
		want  []string
	}{
		{"a record that is put away", []string{"docs/archive/adr/1.md", adr("Paper", paper), "docs/superseded/adr/2.md", adr("Ink", paper)}, nil},
		{"a record that is done", []string{"docs/done/adr/1.md", adr("Paper", paper)}, []string{"decision Paper"}},
		{"a record whose table says that it was replaced", []string{"adr/1.rst", grid + rst}, nil},
		{"a record whose table without lines says it", []string{"adr/1.rst", "====== ========\nSEP    4\nStatus  Archived\n====== ========\n\nPaper\n#####\n" + rst}, nil},
		{"a record whose fields say it", []string{"adr/1.rst", "Paper\n#####\n\n:Status: Obsolete\n" + rst}, nil},
		{"a record whose list says it", []string{"adr/1.rst", "Paper\n#####\n\n.. list-table::\n\n   * - Title\n     - Paper\n   * - Status\n     - Replaced\n" + rst}, nil},
		{"a record whose table says that it holds", []string{"adr/1.rst", strings.Replace(grid, "Replaced", "Accepted", 1) + rst}, []string{"decision Paper"}},
		{"a record whose front matter names the one that holds", []string{"adr/1.md", "---\nstatus: Accepted\nsuperseded_by: [\"0002\"]\n---\n\n" + adr("Paper", paper), "adr/3.md", "---\nstatus: Accepted\nsuperseded_by: []\n---\n\n" + adr("Ink", paper)}, []string{"decision Ink"}},
		{"a record that matters no longer", []string{"adr/1.md", adr("Paper\n\n## Status\n\nNo longer relevant", paper)}, nil},
		{"a record that a later one overturns by its title", []string{"adr/2.md", adr("Paper cards", paper), "adr/3.md", adr("Ink", "We will write in ink."), "adr/10.md", adr("Remove paper", "We will use no cards.")},
			[]string{"decision Ink", "decision Remove paper"}},
		{"a record that a later one overturns by a name", []string{"adr/1.md", adr("Cards", "We will use FloatPlan on all boats."), "adr/2.md", adr("Do not use FloatPlan ; use paper", "We will use paper cards.")},
			[]string{"decision Do not use FloatPlan ; use paper"}},
		{"an ordinary word overturns a title alone", []string{"adr/1.md", adr("Cards", paper), "adr/2.md", adr("Remove paper", "We will use no cards.")}, []string{"decision Cards", "decision Remove paper"}},
		{"an earlier record overturns nothing, nor one elsewhere, nor one that is proposed", []string{"adr/1.md", adr("Remove paper", "We will use no cards."), "adr/2.md", adr("Paper cards", paper), "b/adr/3.md", adr("Remove ink", "We will use lead."),
			"adr/3.md", adr("Ink cards", "We will write in ink."), "adr/4.md", adr("Remove ink\n\n## Status\n\nProposed", "We will use lead.")},
			[]string{"decision Ink cards", "decision Paper cards", "decision Remove ink", "decision Remove ink (proposed)", "decision Remove paper"}},
		{"a record that a later one decides again", []string{"adr/1.md", adr("Planned sail loft", paper), "adr/2.md", adr("Completed sail loft", paper), "adr/loft.md", adr("Sail loft", "We will sew.")},
			[]string{"decision Completed sail loft", "decision Sail loft"}},
		{"a record that a later one says it replaces", []string{"adr/1.md", adr("Cards", paper), "adr/2.md", adr("Slates", "We will write on slates.") + "\n## More\n\nReplaces [what we had](./1.md#cards).\n",
			"adr/3.md", adr("Chalk", "We will use chalk.") + "\nIt goes on from [slates](2.md).\n"}, []string{"decision Chalk", "decision Slates"}},
		{"a record whose time is said to end", []string{"adr/1.md", adr("Paper", "For the time being, we will keep float plans on paper."), "adr/2.md", adr("Ink", "We will write in ink.\n\n- Presumably each boat has some.")}, nil},
		{"a record that is a list of work", []string{"adr/1.md", adr("Loft", "Create a loft.\n\nBuild a bench.\n\nMembers will sew there.\n\nDesign a sail."), "adr/2.md", adr("Bench", "Build a bench.\n\nMembers will sew there.\n\nWe chose oak.")}, []string{"decision Bench"}},
		{"a record of a file and of a tool that are gone", []string{"adr/1.md", adr("Skeg", "We build by the [plan](../Skegfile.sh)."), "adr/2.md", adr("Keel", "We will use Lerna for the keels."), "adr/3.md", adr("Oar", "We will use Yarn and not use Bower, by the [plan](../Oarfile.sh)."),
			"Oarfile.sh", "", "yarn.lock", "", "a.go", "", "b.go", "", "c.go", "", "d.go", ""}, []string{"decision Oar"}},
		{"a procedure whose script is gone", []string{"docs/a.md", "# Skeg\n\n## Paint the boats\n\n1. Open the tin.\n2. Run it:\n\n   ```sh\n   python tar.py\n   ./keel.sh\n   ```\n\n## Paint the oars\n\nWith a brush:\n\n1. Run `hull/pitch.py`.\n2. Wash it.\n\n## Paint the keels\n\n1. Run `chalk.py`.\n2. Run `dock/hull/ink.py`.\n3. Wash it.\n\n" +
			"## Paint the masts\n\n1. Open the tin.\n2. Run it:\n\n   ```sh\n   git clone boats\n   ./tar.sh\n   ```\n", "x/Dock/hull/ink.py", "", "keel.sh", "", "b.go", "", "c.go", ""}, []string{"process Paint the keels (Skeg)", "process Paint the masts (Skeg)"}},
		{"a tree of documents tells not what is gone", []string{"adr/1.md", adr("Skeg", "We build by the [plan](../Skegfile.sh)."), "adr/2.md", adr("Keel", "We will use Lerna for the keels."), "a.go", ""}, []string{"decision Keel", "decision Skeg"}},
		{"each decision of a log has a title of its own", []string{"log.md", "# Log\n\n## Paper cards\n\n### Context\n\nBoats float.\n\n### Decision\n\n" + paper + "\n\n## Red ink\n\n### Context\n\nInk runs.\n\n### Decision\n\nWe will write in red ink.\n"},
			[]string{"decision Paper cards", "decision Red ink"}},
		{"a decision that is said to be what was proposed", []string{"adr/1.md", adr("Paper", "We decided to adopt the proposed solution. The work takes some time but it pays.")}, nil},
		{"what a record says besides its decision", []string{"records/1.md", "# Paper\n\n## Status\n\nApproved\n\n## Context\n\nBoats float." + rule}, nil},
		{"the same without a status", []string{"records/1.md", "# Paper\n\n## Context\n\nBoats float." + rule}, []string{"policy Oars (Paper)", "policy Sails (Paper)"}},

		{"what proposes something", []string{"policies/a.md", "# Oars\n\nThis note proposes that oars are kept dry." + rule, "policies/b.md", "# Keels\n\n## Why\n\nThis is a proposal to keep keels dry." + rule}, nil},
		{"what says what a proposal is", []string{"policies/a.md", "# Oars\n\nThis page explains what a proposal is." + rule}, []string{"policy Oars", "policy Sails (Oars)"}},
		{"a draft", []string{"policies/a.md", "# Paint\n\n## Status\n\n**DRAFT.**" + rule}, nil},
		{"a proposal whose table says so", []string{"policies/a.rst", "=======  =====\nAuthor   Ann\nStatus   Draft (in progress)\n=======  =====\n\nPaint\n=====\n\nOars\n----\n\nMembers must never varnish oars.\n"}, nil},
		{"a proposal by the fields of its list", []string{"policies/a.rst", "Paint\n=====\n\n:Author: Ann\n:Status: In progress\n\nOars\n----\n\nMembers must never varnish oars.\n"}, nil},
		{"an author makes no proposal", []string{"policies/a.rst", "Paint\n=====\n\n:Author: Ann\n:Status: In force\n\nOars\n----\n\nMembers must never varnish oars.\n"}, []string{"policy Oars (Paint)"}},
		{"a folder of enhancements", []string{"sep/a.md", "# Paint" + rule, "docs/enhancement/a.md", "# Paint" + rule}, nil},

		{"rules in parts, in three documents of a folder", []string{"policies/a.md", parts("Oar"), "policies/b.md", parts("Sail"), "policies/c.md", parts("Keel")}, []string{"policy Keel usage policy", "policy Oar usage policy (Oars)", "policy Sail usage policy"}},

		{"offices of one name in two folders", []string{"club/roles.md", lead("The head"), "sigs/ropes/README.md", strings.Replace(lead("The friend"), "# Crew", "# Ropes", 1)}, []string{"role Lead", "role Lead (Ropes)"}},
		{"an office in two documents of a folder", []string{"club/roles.md", lead("The head"), "club/more.md", lead("The friend")}, []string{"role Lead"}},
		{"who was selected is no office", []string{"GOVERNANCE.md", "# Club\n\n## Members\n\nThe members have been selected for what they did for boats.\n"}, nil},
		{"offices of old", []string{"GOVERNANCE.md", "# Club\n\n## Legacy roles\n\n- **Boat lead**: the one who washed all boats.\n\n## Roles (deprecated)\n\n- **Oar lead**: the one who washed all oars.\n\n## Roles\n\n- **Crew lead**: the one who washes all boats.\n"}, []string{"role Crew lead"}},

		{"what is done once, checked by others or found out", []string{"GOVERNANCE.md", "# Club\n\n## Initial Steering Committee\n\nMembers must be on the first list.\n\n## Members\n\nMembers must pay at the desk.\n", "docs/a.md", "# Club\n\n## Verify the provenance of oars" + steps + "\n## Paint boats v1 to v3" + steps + "\n## Paint boats" + steps,
			"policies/b.md", "# B\n\n## Findings\n\nMembers must never varnish oars.\n\n## Implementations\n\nMembers must never varnish oars.\n", "policies/c.md", "# Introduction to oars" + rule}, []string{"policy Members (Club)", "process Paint boats (Club)"}},
		{"a word that says how something is", []string{"docs/glossary.md", "# Glossary\n\n## Boats\n\n- **Tarred**: of a boat that was painted with tar.\n- **Oar bed**: the place where an oar lies.\n"}, []string{"term Oar bed", "term Tarred (Boats)"}},
		{"a rule about a name, and a heading of a rulebook, are no terms", []string{"docs/glossary.md", "# Glossary\n\n- Oar bed - oar beds should be painted red by those who use them.\n- Tar pot - the pot that holds the tar of a boat.\n", "CONTRIBUTING.md", "# B\n\n## Oar locks\n\nOar locks are the way in which an oar is held.\n"}, []string{"term Tar pot"}},
		{"what speaks for something is no rule", []string{"policies/a.md", "# Oars\n\n## The case for oars\n\nMembers must never varnish oars.\n\n## The case\n\nMembers must lock the case of the oars.\n"}, []string{"policy The case (Oars)"}},
		{"what goes wrong is no term", []string{"a.md", "# Boats\n\n## Troubleshooting\n\nNo key\n: The key of the boat is lost or broken.\n\n## Parts\n\nKey\n: The piece that opens the shed of a boat.\n"}, []string{"term Key"}},
		{"what users do, deep in a tree", []string{"README.md", "# Club\n\nWelcome.\n", "site/x/docs/install.md", "# Install\n\nTake it.\n", "site/x/docs/user-guide/a.md", "# A\n\nBoats.\n", "site/x/docs/b.md", "# B\n\n## Paint the boats" + steps,
			"other/x/docs/c.md", "# C\n\n## Paint the oars" + steps}, []string{"process Paint the oars (C)"}},
		{"what stands beside the pages for contributors of a site", []string{"site/contribute/a.md", "# A" + rule, "site/docs/operations/b.md", "# B\n\n## Paint the boats" + steps, "contribute/c.md", "# C\n\nBoats.\n", "docs/operations/d.md", "# D\n\n## Paint the oars" + steps},
			[]string{"policy Oars (A)", "policy Sails (A)", "process Paint the oars (D)"}},
		{"what users do each day is no operation", []string{"docs/user-guide/daily-operations.md", "# B\n\n## Paint the boats" + steps, "docs/ops/daily-operations.md", "# B\n\n## Paint the oars" + steps}, []string{"process Paint the oars (B)"}},
		{"how safe a product is, deep in its manual", []string{"README.md", "# Skeg\n\nSkeg is a tool for boats.\n", "docs/topics/security.md", "# B" + rule, "docs/security.md", "# B\n\n## Keys\n\nMembers must wash their keys.\n"}, []string{"policy Keys (B)", "system Skeg"}},
		{"roles and questions of a manual", []string{"README.md", "# Skeg\n\nSkeg is a tool for boats.\n", "docs/a.md", "# Boat manager\n\nThe boat manager keeps all boats.\n\n## What is a keel?\n\nA keel is the fin below a boat.\n", "docs/glossary.md", "# Glossary\n\n- **Oar**: the blade that moves a boat.\n"}, []string{"system Skeg", "term Oar"}},
	} {
		var got []string
		for _, a := range drive(t, request(tt.files...)).Atoms {
			got = append(got, a.Atom.Type+" "+a.Atom.Title)
		}
		slices.Sort(got)
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, d)
		}
	}
}

// TestOverturnedIsTold: a note names the decision that no longer holds, and the one that says so.
func TestOverturnedIsTold(t *testing.T) {
	t.Parallel()
	adr := func(title string) string { return "# " + title + "\n\n## Decision\n\nWe will write on all boats.\n" }
	e := drive(t, request("adr/1.md", adr("Paper cards"), "adr/2.md", adr("Remove paper")))
	if said := fmt.Sprint(e.Notes); !strings.Contains(said, "1 candidate left out for a later year, version or decision: adr/1.md:5") || !strings.Contains(said, "adr/1.md:5 (adr/2.md is later)") {
		t.Errorf("%s", said)
	}
}

// TestRulesOfARulebook: a heading there may begin with what not to do, or say how something is done; and what people
// must do is a rule there also where it tells a procedure as well.
func TestRulesOfARulebook(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ path, text, want string }{
		{"AGENTS.md", "# A\n\n## Don't paint the keel\n\nIt is of lead, and paint does not hold.\n", "policy Don't paint the keel"},
		{"boats.md", "# A\n\n## Don't paint the keel\n\nIt is of lead, and paint does not hold.\n", ""},
		{"AGENTS.md", "# A\n\n## How to paint boats\n\nMembers must never paint the keel. Prefer red paint.\n", "policy How to paint boats"},
		{"boats.md", "# A\n\n## How to paint boats\n\nMembers must never paint the keel. Prefer red paint.\n", ""},
		{"CONTRIBUTING.md", "# A\n\n## Certificate of origin\n\nThe club requires all contributors to sign. You must add a line to every commit:\n\n```sh\ngit commit -s\n```\n\nThe check fails on commits without it.\n", "policy Certificate of origin"},
	} {
		got := ""
		for _, a := range drive(t, request(tt.path, tt.text)).Atoms {
			got += a.Atom.Type + " " + a.Atom.Title
		}
		if got != tt.want {
			t.Errorf("%s %q: got %q", tt.path, tt.text, got)
		}
	}
}

// TestRestIsQuoted: a table that a rule goes on in is quoted with it, or the rule is left out; what opens a section
// is quoted where the rule is near.
func TestRestIsQuoted(t *testing.T) {
	t.Parallel()
	const must, kinds = "Members must look at the red boat first.\n", "\n\n| Boat | Paint |\n| --- | --- |\n| Skiff | Red |\n"
	far := "\n" + strings.Repeat("Boats float.\n\n", 13) // too much to be quoted whole
	for _, tt := range []struct{ path, text, lines string }{
		{"policies/a.md", "# P\n\n## Tools\n\nMembers must use these paints; the shed is full." + kinds + far, "lines 5-9"},
		{"policies/a.md", "# P\n\n## Tools\n\nMembers must use red paints; the shed is full." + kinds + far, "line 5"},
		{"policies/a.md", "# P\n\n## Tools\n\nMembers must use what the following table has. The shed is full.\n", ""},
		{"policies/a.rst", "P\n=\n\nTools\n-----\n\nMembers must use what the table below has. The shed is full.\n\n=====  =====\nBoat   Paint\n=====  =====\nSkiff  Red\n=====  =====\n", ""},
		{"SECURITY.md", "# P\n\n## Boats we keep\n\n" + strings.Repeat("Boats float.\n\n", 4) + must + far, "lines 5-13"},
		{"SECURITY.md", "# P\n\n## Boats we keep\n\n" + strings.Repeat("Boats float.\n\n", 5) + must + far, "line 15"},
		{"SECURITY.md", "# P\n\n## Boats we keep\n\nOnly the red boat.\n\nBoats of others lie elsewhere.\n\nMembers must look at the red boat first.\n", "lines 5-9"},
	} {
		e := drive(t, request(tt.path, tt.text))
		got := ""
		for _, a := range e.Atoms {
			got += a.Atom.Sources[0].Title
		}
		if got != tt.lines {
			t.Errorf("%q: got %q, want %q", tt.text, spoken(e), tt.lines)
		}
	}
}

// TestPartOfATreeTellsNothingGone: where a folder cannot be read, nobody knows that a script is gone.
func TestPartOfATreeTellsNothingGone(t *testing.T) {
	t.Parallel()
	r := request("docs/a.md", "# Wash the boat\n\n1. Run `scripts/wash.sh`.\n2. Ask the guide.\n3. Close the shed.\n", "a.go", "", "b.go", "", "scripts/c.go", "")
	want := []string{"process Wash the boat | 3 steps: Run scripts/wash.sh … Close the shed | lines 3-5"}
	if got := spoken(drive(t, r)); len(got) != 0 {
		t.Errorf("a script that is gone: %q", got)
	}
	r.Inputs, r.Files = []string{"docs/"}, lockedFS{r.Files}
	if d := cmp.Diff(want, spoken(drive(t, r))); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// lockedFS is files of which the folder of scripts cannot be read.
type lockedFS struct{ fs.FS }

func (f lockedFS) ReadDir(name string) ([]fs.DirEntry, error) {
	if name == "scripts" {
		return nil, fs.ErrPermission
	}
	return fs.ReadDir(f.FS, name)
}
