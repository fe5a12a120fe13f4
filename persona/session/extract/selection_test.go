package extract

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/session"
)

// TestForm: what three documents of a folder say word for word is of the form that they fill in, which a
// note says; what two say is a rule, and so is what others say in folders of their own.
func TestForm(t *testing.T) {
	t.Parallel()
	text := func(boat string) string {
		return "# " + boat + "\n\n## Gifts\n\nEvery gift must be approved by two members of the board.\n\n## Paint\n\nMembers of " + boat + " must wash it each week.\n"
	}
	for _, tt := range []struct {
		paths []string
		gifts int
	}{{[]string{"policies/a.md", "policies/b.md", "policies/c.md"}, 0}, {[]string{"policies/a.md", "policies/b.md"}, 1}, {[]string{"policies/a/x.md", "policies/b/x.md", "policies/c/x.md"}, 1}} {
		var files []string
		for i, p := range tt.paths {
			files = append(files, p, text(fmt.Sprintf("Boat %c", 'A'+i)))
		}
		e := drive(t, request(files...))
		if said := strings.Join(spoken(e), "\n"); strings.Count(said, "policy Gifts") != tt.gifts || strings.Count(said, "policy Paint") != len(tt.paths) {
			t.Errorf("%v: got %s", tt.paths, said)
		}
		told := strings.Contains(fmt.Sprint(e.Notes), "3 passages left out, of forms that documents of one folder fill in: policies/a.md:5, policies/b.md:5, policies/c.md:5")
		if told != (tt.gifts == 0) {
			t.Errorf("%v: notes %+v", tt.paths, e.Notes)
		}
	}
}

// TestProceduresOfOneFolder: three procedures whose steps are headings say each something else.
func TestProceduresOfOneFolder(t *testing.T) {
	t.Parallel()
	var files []string
	for _, boat := range []string{"skiff", "sloop", "yawl"} {
		files = append(files, "docs/"+boat+".md", "# Release of the "+boat+"\n\n## Before\n\nWash the "+boat+".\n\n## On the day\n\nMove the "+boat+". Ask the guide.\n")
	}
	if e := drive(t, request(files...)); len(e.Atoms) != 3 {
		t.Errorf("got %q", spoken(e))
	}
}

// TestPagesOfAManual: pages for those who install something and for those who use it are a manual,
// whatever the README says; one of the two alone is none.
func TestPagesOfAManual(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		pages string
		rules int
	}{
		{"docs/install.md docs/user/paint.md", 0}, {"docs/install.md docs/user/paint.md INSTALL.md", 0}, {"docs/getting_started.md docs/source/tutorials/paint.md", 0},
		{"site/src/latest/docs/install.md site/src/latest/docs/guide.md", 0}, {"docs/usage/paint.md", 1}, {"docs/install.md", 1}, {"teams/install.md docs/usage/paint.md", 2}, {"docs/install.md teams/usage/paint.md", 2},
		{"docs/boats/red/install.md docs/usage/paint.md", 2}, {"docs/user/paint.md", 0}, {"docs/cookbook.md docs/install.md", 0}, {"docs/configuration/paint.md docs/install.md", 0},
		{"guides/installing.md guides/beginners-guide.md references/paint.md", 0}, {"guides/installing.md guides/common-issues.md howto/paint.md", 0},
		{"content/docs/install.md content/docs/user/paint.md", 0}, {"docs/install.md docs/user/paint.md docs-next/paint.md", 0}, {"docs/install.md docs/user/paint.md docs/releases/upgrading/paint.md", 0},
	} {
		files := []string{"README.md", "# Boats\n\nWelcome.\n"}
		for _, p := range strings.Fields(tt.pages) {
			files = append(files, p, "# Pack\n\n## Install "+p[:len(p)-3]+"\n\n1. Download the packer.\n2. Run it.\n")
		}
		if e := drive(t, request(files...)); len(e.Atoms) != tt.rules {
			t.Errorf("%s: got %q", tt.pages, spoken(e))
		}
	}
}

// TestOutward: in a repository of a product, what tells others how to begin with it, to check it or to build on it is no
// rule of the team.
func TestOutward(t *testing.T) {
	t.Parallel()
	const rule = "## Oars\n\nMembers must never varnish oars.\n"
	for _, tt := range []struct {
		path, text string
		outward    bool
	}{
		{"docs/developer/getting-started/a.md", "# A\n\n", true}, {"docs/developer/providers/a.md", "# A\n\n", true}, {"docs/developer/a.md", "# A\n\n", false}, {"contributing/getting-started/a.md", "# A\n\n", false},
		{"website/guides/developer/a.md", "# A\n\n", true}, {"skeg/src/docs/development/a.md", "# A\n\n", true}, {"src/docs/development/a.md", "# A\n\n", false}, {"contrib/a.md", "# A\n\n", true}, {"contribs/a.md", "# A\n\n", false},
		{"SECURITY.md", "# Security Guidelines for Skeg Users\n\n", true}, {"SECURITY.md", "# Security for our Users and us\n\n", false},
		{"SECURITY.md", "# A\n\nThis document contains guidelines for anyone who looks at boats.\n\n", true}, {"SECURITY.md", "# A\n\nThis document contains guidelines for members who look at boats.\n\n", false},
	} {
		for product, of := range map[bool]string{true: "# Skeg\n\nSkeg is a tool for boats.\n", false: "# Skeg\n\nWelcome.\n"} {
			e := drive(t, request("README.md", of, tt.path, tt.text+rule))
			none := !slices.ContainsFunc(e.Atoms, func(a session.Atom) bool { return a.Atom.Type == policyAtom })
			if want := tt.outward && (product || strings.Contains(tt.path, "/src/docs")); none != want {
				t.Errorf("%s, %q, a product %v: got %q", tt.path, tt.text, product, spoken(e))
			}
		}
	}
}

// TestPackaged: where a program is packaged under a licence, and a document tells how to install it, the folder of
// documents is its manual.
func TestPackaged(t *testing.T) {
	t.Parallel()
	const install, paint = "# Pack\n\n## Installation\n\nDownload the packer.\n", "# Paint\n\n## Paint the boats\n\n1. Wash them.\n2. Paint them.\n3. Close the shed.\n"
	for _, tt := range []struct {
		files string
		want  int
	}{{"go.mod LICENSE", 0}, {"pyproject.toml COPYING", 0}, {"go.mod", 1}, {"LICENSE", 1}} {
		files := []string{"README.md", "# Boats\n\nWelcome.\n", "docs/paint.md", paint, "docs/help/pack.md", install}
		for _, name := range strings.Fields(tt.files) {
			files = append(files, name, "x\n")
		}
		if e := drive(t, request(files...)); len(e.Atoms) != tt.want {
			t.Errorf("%s: got %q", tt.files, spoken(e))
		}
	}
}

// TestManualOfASystem: a product's manual names no system, and its README says how it is compiled.
func TestManualOfASystem(t *testing.T) {
	t.Parallel()
	const tin = "# Tin\n\nTin is a server that counts the boats.\n"
	const pack = "# Pack\n\n## Compiling the packer\n\n1. Open the tin.\n2. Check it.\n3. Move it.\n4. Close it.\n5. Clean it.\n\n## Paint the boats\n\n1. Wash them.\n2. Paint them.\n3. Close the shed.\n\n## Installation\n\nDownload it.\n"
	for packaged, want := range map[bool][]string{true: {"Compiling the packer"}, false: {"Compiling the packer", "Paint the boats", "Tin"}} {
		files := []string{"README.md", pack, "docs/tin.md", tin}
		if packaged {
			files = append(files, "go.mod", "x\n", "LICENSE", "x\n")
		}
		e := drive(t, request(files...))
		got := strings.Join(spoken(e), "\n")
		for _, title := range []string{"Compiling the packer", "Paint the boats", "Tin"} {
			if strings.Contains(got, " "+title) != slices.Contains(want, title) {
				t.Errorf("packaged %v: %s: got %s", packaged, title, got)
			}
		}
	}
}

// TestLacks: what speaks against a rule or a procedure, beside one for which all speaks.
func TestLacks(t *testing.T) {
	t.Parallel()
	const steps = "\n\n1. Open the tin.\n2. Check it.\n3. Move it.\n4. Close it.\n5. Clean it.\n"
	procedure := candidate{kind: process}
	for _, tt := range []struct {
		name, text string
		c          candidate
		want       int
	}{
		{"nothing", "## Cleaning boats" + steps, procedure, 0},
		{"few things to do", "## Cleaning boats\n\n1. Open the tin.\n2. Stir it.\n", procedure, 4},
		{"far down", "#### Cleaning boats" + steps, procedure, 3},
		{"what every program's documents tell", "## Installing it locally" + steps, procedure, 12},
		{"what is installed here alone", "## Installing boats" + steps, procedure, 0},
		{"no action in its name", "## Blue boats" + steps, procedure, 4},
		{"a rule that opens its document", "Members must wash it.\n", candidate{kind: policyAtom}, 6},
		{"a rule", "# X\n\nBoats float.\n\n## Boats\n\nMembers must wash it.\n", candidate{kind: policyAtom}, 0},
	} {
		d := parseDocument(file{"a.md", []byte(tt.text)})
		if got := d.sections[len(d.sections)-1].countLacks(tt.c); got != tt.want {
			t.Errorf("%s: got %d, want %d", tt.name, got, tt.want)
		}
	}
}

// TestRankOfOneAtom: what explains more than it instructs, is only proposed, leaves it to another document, or is a part
// of another procedure, stands behind its like.
func TestRankOfOneAtom(t *testing.T) {
	t.Parallel()
	stages := func(text string) string {
		return "# Retire a boat\n\n## 1. Empty it\n\n" + text + "\n\n## 2. Tell the desk\n\n" + text + "\n\n## 3. Sell it\n\n" + text + "\n"
	}
	adr := func(head string) string {
		return "# Paper cards\n\n" + head + "\n\n## Decision\n\nWe will keep float plans on paper.\n"
	}
	rule := func(what string) string { return "# Club\n\nBoats float.\n\n## Boats\n\nMembers must " + what + ".\n" }
	steps := func(heading string) string {
		return "# Club\n\n## " + heading + "\n\n1. Open the tin.\n2. Stir it.\n3. Close it.\n4. Take it away.\n5. Wash it.\n"
	}
	const many = " Boats are dear. Boats rot."
	for _, tt := range []struct {
		name, path, text, like string
		want                   int
	}{
		{"stages that explain", "a.md", stages("Ask the lead." + many), stages("Ask the lead."), 8},
		{"stages with tables", "a.md", stages("Ask the lead.\n\n<p>Boats are dear. Boats rot. Boats leak.</p>"), stages("Ask the lead."), 0},
		{"stages that hardly instruct", "a.md", stages("The lead knows." + many + many), stages("Ask the lead."), 16},
		{"a proposed decision", "docs/adr/1.md", adr("Date: 2026-01-02\nStatus: Proposed"), adr("Date: 2026-01-02\nStatus: Accepted"), 8},
		{"a decision below the heading of its status", "docs/adr/1-float.md", "## Status\n\nAccepted\n\n## Decision\n\nWe will keep float plans.\n", "# Float\n\n## Status\n\nAccepted\n\n## Decision\n\nWe will keep float plans.\n", 0},
		{"a policy of another document", "policies/a.md", rule("follow our code of conduct for boats"), rule("wash our boats for boats"), 6},
		{"a numbered part", "a.md", steps("3.2 Cleaning boats"), steps("Cleaning boats"), 6},
		{"what is no affair of the team", "a.md", steps("Cleaning boats"), steps("Releasing boats"), 8},
		{"what one may leave out", "a.md", steps("Cleaning boats (optional)"), steps("Cleaning boats"), 6},
	} {
		score := func(text string) int {
			d, err := readFile(file{tt.path, []byte(text)})
			if err != nil || len(d.found) != 1 {
				t.Fatalf("%s: %v, %d found", tt.name, err, len(d.found))
			}
			return d.found[0].score
		}
		if got := score(tt.like) - score(tt.text); got != tt.want {
			t.Errorf("%s: %d behind, want %d", tt.name, got, tt.want)
		}
	}
}

// TestTitleAndItsDocument: a heading with two telling words is a title alone, one with a single word, or with none of
// its document's in a folder, is told by its document, in six words at most; an atom whose title has another name of it, or none, is known.
func TestTitleAndItsDocument(t *testing.T) {
	t.Parallel()
	const two = "\n\n## Mixing colors\n\n1. Open the tin.\n2. Stir it.\n3. Close the tin.\n\n## Painting\n\n1. Open the tin.\n2. Take a brush.\n3. Close the tin.\n"
	for _, c := range []struct{ path, title, want string }{
		{"a.md", "Boat paint", "Boat paint"}, {"PAINT.md", "All that we know of old paint", "Paint"}, {"old-boat_paint.md", "All that we know of paint", "All that we know of paint"},
		{"boats/README.md", "All that we know of old paint", "boats"}, {"README.md", "Paint of the boats and all else", "Paint of the boats"}, {"b.md", "Boat paint (BP)", "Boat paint BP"}, {"a-b-c-d-e-f-g.md", "All that we know of old paint", "a b c d e f g"},
	} {
		r := request(c.path, "# "+c.title+two)
		var got []string
		var atoms []okf.Atom
		for _, a := range drive(t, r).Atoms {
			got, atoms = append(got, a.Atom.Title), append(atoms, a.Atom)
		}
		slices.Sort(got)
		mixing := "Mixing colors"
		if strings.Contains(c.path, "/") {
			mixing += " (" + c.want + ")"
		}
		if d := cmp.Diff([]string{mixing, "Painting (" + c.want + ")"}, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.path, d)
		}
		for _, other := range []string{"", " (All that we know of paint…)"} {
			for i, a := range atoms {
				atoms[i] = parsed(t, "processes/other"+fmt.Sprint(i)+".md", regexp.MustCompile(`(?m)^id: .*$`).ReplaceAllString(regexp.MustCompile(`(?m)^(title: [^(\n]*?)(?: \(.*\))?$`).ReplaceAllString(string(a.Bytes()), "${1}"+other), "id: other"+fmt.Sprint(i)))
			}
			if again := drive(t, after(t, r, atoms...)); len(again.Atoms) != 0 {
				t.Errorf("%s, told by %q: got %q again", c.path, other, spoken(again))
			}
		}
	}
}

// TestOneProcedureInTwoWords: two procedures whose names differ in the ending of the verb are two.
func TestOneProcedureInTwoWords(t *testing.T) {
	t.Parallel()
	e := drive(t, request("a.md", "# Red\n\n## How to clean the boat\n\n1. Open the tin.\n2. Stir it.\n", "b.md", "# Blue\n\n## Cleaning the boat\n\n1. Open the shed.\n2. Take the brush.\n"))
	if d := cmp.Diff([]string{"process Cleaning the boat (Blue) | 2 steps: Open the shed … Take the brush | lines 5-6", "process Clean the boat | 2 steps: Open the tin … Stir it | lines 5-6"}, spoken(e)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestOneConceptIsOneAtom(t *testing.T) {
	t.Parallel()
	r := request(
		"docs/a.md", "# Glossary\n\nFloat plan\n: A card that says who is out.\n",
		"docs/b.md", "# Cards\n\nThe *float plans* are the cards on the board by the door.\n",
		"docs/c.md", "# Words\n\nFloat plan\n: A sheet on the wall, filled in by the guide.\n")
	e := drive(t, r)
	if d := cmp.Diff([]string{"term Float plan | A card that says who is out. | lines 3-4"}, spoken(e)); d != "" {
		t.Fatalf("(-want +got):\n%s", d)
	}
	var files []string
	for _, s := range e.Atoms[0].Atom.Sources {
		files = append(files, s.Resource)
	}
	if d := cmp.Diff([]string{"docs/a.md", "docs/c.md", "docs/b.md"}, files); d != "" {
		t.Errorf("sources (-want +got):\n%s", d)
	}
	if len(e.Notes) != 2 || e.Notes[1].Facet != "open" || !strings.Contains(e.Notes[1].Content, "docs/a.md:3 and docs/c.md:3") {
		t.Errorf("the double definition is not a finding: %+v", e.Notes)
	}
	hold(t, e, r)
}

// TestOneRuleInSeveralDocuments: copies are one rule that is quoted once, and of several years
// the last one holds.
func TestOneRuleInSeveralDocuments(t *testing.T) {
	t.Parallel()
	conduct := "# Conduct\n\n## Moderation\n\nMembers must not insult anybody.\n"
	e := drive(t, request("CONDUCT.md", conduct, "about/CONDUCT.md", conduct,
		"votes/2024/rules.md", "# Vote 2024\n\n## Sign-up\n\nMembers must sign up within 10 days.\n", "votes/2025/rules.md", "# Vote 2025\n\n## Sign-up\n\nMembers must sign up within 20 days.\n"))
	want := []string{"policy Moderation (Conduct) | Members must not insult anybody. | line 5", "policy Sign-up (Vote 2025) | Members must sign up within 20 days. | line 5"}
	if d := cmp.Diff(want, spoken(e)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	for _, a := range e.Atoms {
		if n := strings.Count(string(a.Atom.Body()), "> Members"); n != 1 {
			t.Errorf("%s quotes %d times", a.Atom.Title, n)
		}
	}
}

// TestDatedFile: a full date in the name of a file makes minutes, which a note names as such; a year
// alone makes none, nor does another number.
func TestDatedFile(t *testing.T) {
	t.Parallel()
	for name, dated := range map[string]bool{
		"2026-03-01": true, "20260301": true, "board-2026-03-01": true, "2026-03-01-board": true, "board_2026_03_01": true, "board-1999.12.31": true,
		"travel-policy-2026": false, "2026": false, "2026-03": false, "2026-28": false, "20269901": false, "120260301": false, "202603011": false, "policy-20301": false,
		"20260301-sign-every-page": false, "2026-03-01-board-call": true,
	} {
		e := drive(t, request("a/"+name+".md", "# Reviews\n\nContributors must sign every page. Contributors must not sign it twice.\n"))
		if got := len(e.Atoms) == 0; got != dated {
			t.Errorf("%s: %q, want minutes %v", name, spoken(e), dated)
		}
		want := "1 file left out, minutes, reports and what is put away: a/" + name + ".md"
		if got := slices.ContainsFunc(e.Notes, func(n session.Note) bool { return n.Title == want }); got != dated {
			t.Errorf("%s: %+v, want the note %v", name, e.Notes, dated)
		}
	}
}

// TestHistory: what is done, refused or to be filled in, by its folder or front matter, lays down
// no rule, and a note says why each was left out.
func TestHistory(t *testing.T) {
	t.Parallel()
	const rule = "# Reviews\n\nContributors must sign every page. Contributors must not sign it twice.\n"
	for _, tt := range []struct{ path, front, why string }{
		{"docs/proposals-done/a.md", "", "in a folder named done"}, {"docs/rejected/a.md", "", "in a folder named rejected"}, {"template/a.md", "", "in a folder named template"},
		{"docs/a.md", "---\ntype: proposal\nstatus: completed\n---\n\n", "its front matter says completed"}, {"proposals/a.md", "", "a proposal, by its folder"},
		{"proposals/README.md", "", ""}, {"docs/ROADMAP.md", "", "a plan"}, {"roadmap/a.md", "", "a plan"}, {"slides/a.md", "", "in a folder named slides"}, {"docs/sample-policy.md", "", "a sample, by its name"}, {"examples/a.md", "", "in a folder named examples"},
		{"docs/a.md", "---\nstatus: rejected\n---\n\n", "its front matter says rejected"},
		{"docs/a.md", "Wer ein Boot leiht, der zeigt seine Karte am Tor. " + strings.Repeat("Die Karte liegt am Tor und wird am Abend dort wieder abgeholt. ", 12) + "\n\n", "not in English"}, {"docs/a.md", strings.Repeat("* [skeg paint](paint.md) - Perform painting operations, print boats\n", 20) + "\n", ""},
		{"election/2025/a.md", "", "of one year, by its folder"}, {"release-notes/1/a.md", "", "notes on a release"}, {"docs/release_notes/a.md", "", "notes on a release"}, {"docs/a.md", "* Author: Ann\n* Status: Draft\n\n", "a proposal, by its head"},
		{"proposals/x/README.md", "", "a proposal, by its folder"}, {"call-2025/a.md", "", "of one year, by its folder"}, {"defunct/a.md", "", "in a folder named defunct"},
		{"docs/a.md", "---\ntitle: Boats (deprecated)\n---\n\n", "deprecated, by its title"}, {"election/a.md", "", ""}, {"docs/a.md", "* Status: Draft\n\n", "a proposal, by its head"}, {"docs/a.md", "* Status: Under review\n\n", ""}, {"definition-of-done/a.md", "", ""},
		{"docs/security-review-2026.md", "", "a review or a plan of one time, by its name"}, {"docs/remove-oars-checklist.md", "", "a review or a plan of one time, by its name"}, {"docs/skeg-v1-to-v3.md", "", "a review or a plan of one time, by its name"},
		{"docs/security-review.md", "", ""}, {"docs/oars-checklist.md", "", ""}, {"docs/a.md", "This white paper explores oars.\n\n", "a paper for others"}, {"docs/a.md", "Fold this paper twice.\n\n", ""},
		{"docs/template_engine.md", "", ""}, {"docs/templateinheritance.md", "", ""}, {"docs/policy-template.md", "", ""}, {"docs/sample-rates.md", "", ""}, {"changelog_guidelines.md", "", ""}, {"license-choice.md", "", ""},
		{"docs/policy-template.md", "Owner: {name}\n\nOf [team].\n\n", "a form with blanks"}, {"docs/template.md", "# A\n\n## B\n\n## C\n\n", "a form with blanks"}, {"docs/drafts/a.md", "", ""}, {"docs/draft/a.md", "", "a draft, by its path"},
		{"CHANGELOG-1.2.md", "", "a licence, change log or the like"}, {"changelog_old.md", "", "a licence, change log or the like"}, {"licence-MIT.md", "", "a licence, change log or the like"}, {"docs/tutorial/a.md", "", "in a folder named tutorial"}, {"lessons/a.md", "", "in a folder named lessons"}, {"docs/a.md", "---\nstatus: completed\n---\n\n", ""},
	} {
		e := drive(t, request(tt.path, tt.front+rule))
		told := slices.ContainsFunc(e.Notes, func(n session.Note) bool { return strings.Contains(n.Content, tt.path+" ("+tt.why+")") })
		if past := tt.why != ""; (len(e.Atoms) == 0) != past || told != past {
			t.Errorf("%s %q: %q, notes %+v", tt.path, tt.front, spoken(e), e.Notes)
		}
	}
}

// TestForeignFolders: a folder names what is the team's, and not what lies there of others.
func TestForeignFolders(t *testing.T) {
	t.Parallel()
	const rule = "# Reviews\n\nContributors must sign every page. Contributors must not sign it twice.\n"
	for path, want := range map[string]bool{
		"docs/a.md": true, "docs/vendor/a.md": false, "docs/themes/docsy/a.md": false, "docs/third_party/x/a.md": false, "docs/node_modules/x/a.md": false, "docs/.cache/a.md": false,
	} {
		q := request(path, rule)
		q.Inputs = []string{"docs/"}
		if e := drive(t, q); (len(e.Atoms) > 0) != want {
			t.Errorf("%s: read is %v", path, !want)
		}
	}
}

// TestClassesAreTrue: what is left out is told under a heading that is true of it.
func TestClassesAreTrue(t *testing.T) {
	t.Parallel()
	const rule = "# Reviews\n\nContributors must sign every page. Contributors must not sign it twice.\n"
	for path, want := range map[string]string{
		"docs/tutorial/a.md": "tutorials, examples and papers", "docs/draft/a.md": "proposals, drafts and plans", "template/a.md": "forms", "archive/a.md": "minutes, reports and what is put away", "docs/changelog.md": "licences, change logs and the like",
	} {
		if e := drive(t, request(path, rule)); !slices.ContainsFunc(e.Notes, func(n session.Note) bool { return n.Title == "1 file left out, "+want+": "+path }) {
			t.Errorf("%s: %+v", path, e.Notes)
		}
	}
}

// TestSetOfComponents: a README without a heading that says of its repository that it is a set of
// components presents a product, whose manual tells users what they can do.
func TestSetOfComponents(t *testing.T) {
	t.Parallel()
	const manual = "# Tour\n\n## Paint the boats\n\n1. Wash them.\n2. Paint them.\n3. Close the shed.\n"
	e := drive(t, request("README.md", "## Overview\n\nJetty is a set of components that count the boats.\n", "docs/tour.md", manual))
	if d := cmp.Diff([]string{"system Jetty | Jetty is a set of components that count the boats. | line 3"}, spoken(e)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	for _, n := range e.Notes { // of a page of a manual all is read, and some left out
		if strings.Contains(n.Content, "Not read: ") || strings.Contains(n.Title, "not read") {
			t.Errorf("%+v", n)
		}
	}
}

// TestLaterYearOrVersion: of files whose names differ by a year or a version the last one holds,
// and a note names the others; other numbers tell things apart.
func TestLaterYearOrVersion(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ first, second, left string }{
		{"votes/2024/rules.md", "votes/2025/rules.md", "votes/2024/rules.md"},
		{"travel-2025.md", "travel-2026.md", "travel-2025.md"},
		{"Travel-2026.md", "travel-2025.md", "travel-2025.md"},
		{"board-1999.md", "board-2001.md", "board-1999.md"},
		{"v2/rules.md", "v10/rules.md", "v2/rules.md"},
		{"v2/rules.md", "3.0/rules.md", "v2/rules.md"},
		{"rules-1.9.md", "rules-1.10.md", "rules-1.9.md"},
		{"rules-v1.2.3.md", "rules-v1.3.md", "rules-v1.2.3.md"},
		{"runbooks/http-404.md", "runbooks/http-500.md", ""},
		{"team-1/rules.md", "team-2/rules.md", ""},
		{"srv1.md", "srv2.md", ""},
		{"ipv4.md", "ipv6.md", ""},
		{"level-2101.md", "level-2102.md", ""},
		{"code-12024.md", "code-12025.md", ""},
		{"2024/travel.md", "2025/rules.md", ""},
	} {
		steps := func(p string) string {
			title := strings.ReplaceAll(strings.TrimSuffix(p, ".md"), "/", " ")
			return "# " + title + "\n\n## Mitigation\n\n1. Open the log.\n2. Restart the server.\n3. Close the page.\n"
		}
		e := drive(t, request(tt.first, steps(tt.first), tt.second, steps(tt.second)))
		var left []string
		for _, n := range e.Notes {
			if p, ok := strings.CutPrefix(n.Title, "1 candidate left out for a later year, version or decision: "); ok {
				left = append(left, p)
			}
		}
		var want []string
		if tt.left != "" {
			want = []string{tt.left + ":5"}
		}
		if d := cmp.Diff(want, left); d != "" || len(e.Atoms) != 2-len(want) {
			t.Errorf("%s and %s: %q, notes (-want +got):\n%s", tt.first, tt.second, spoken(e), d)
		}
		for _, a := range e.Atoms {
			if tt.left != "" && a.Atom.Sources[0].Resource == tt.left {
				t.Errorf("%s and %s: proposed from the earlier one", tt.first, tt.second)
			}
		}
	}
}

// TestManualOfAProduct: what its users can do is nothing that a team does, but how one contributes is.
func TestManualOfAProduct(t *testing.T) {
	t.Parallel()
	steps := func(what string) string {
		return "# Pack\n\n## Install a " + what + "\n\n1. Download the packer.\n2. Run it.\n"
	}
	for readme, product := range map[string]bool{
		"# Skeg\n\nSkeg is a tool for boats.\n":                                            true,
		"# Skeg - boats\n\nHello.\n\n## What is Skeg?\n\nSkeg is a free tool for boats.\n": true,
		"# Skeg\n\nIt packs.\n\n```sh\npip install skeg\n```\n":                            true,
		"# Skeg\n\nSkeg is a group of people who sail.\n":                                  false,
		"# Skeg\n\nHello.\n\n## Packer\n\nPacker is a tool for boats.\n":                   false,
		"# Skeg\n\nThis is how we work.\n":                                                 false,
		"Boats.\n\n    brew install skeg\n    apt install skeg\n    choco install skeg\n":  true,
		"Boats.\n\n    brew install skeg\n    apt install skeg\n":                          false,
		"Boats.\n" + strings.Repeat("\n    pip install -r requirements.txt\n", 3):          false,
	} {
		said := strings.Join(spoken(drive(t, request("README.md", readme, "docs/pack.md", steps("boat"), "docs/contributing/pack.md", steps("crane"), "charts/README.md", "## Launching boats\n\n1. Download the boat.\n2. Run it.\n"))), "\n")
		if strings.Contains(said, "process Install a boat") == product || strings.Contains(said, "process Launching boats") == product || !strings.Contains(said, "process Install a crane") {
			t.Errorf("%s: got %s", readme, said)
		}
	}
}

func TestOneTitleInTwoPackages(t *testing.T) {
	t.Parallel()
	text := "## Installation\n\n1. Download the file.\n2. Install it.\n"
	e := drive(t, request("a/README.md", text, "b/README.md", text))
	want := []string{"process Installation (a) | 2 steps: Download the file … Install it | lines 3-4", "process Installation (b) | 2 steps: Download the file … Install it | lines 3-4"}
	if d := cmp.Diff(want, spoken(e)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestOneTitleBelowOneHeading: titles that two documents tell by the same heading are told by their documents.
func TestOneTitleBelowOneHeading(t *testing.T) {
	t.Parallel()
	text := func(what string) string {
		return "# Boats of the " + what + "\n\n## Commits\n\nText.\n\n### Style\n\nMembers must never use " + what + " paint.\n"
	}
	e := drive(t, request("docs/a/CONTRIBUTING.md", text("north"), "docs/b/CONTRIBUTING.md", text("south")))
	want := []string{"policy Style (Boats of the south) | Members must never use south paint. | line 9", "policy Style (Commits) | Members must never use north paint. | line 9"}
	if d := cmp.Diff(want, spoken(e)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestLeastMargin: what tells for a rule need be less above what tells for a procedure where rules are, without steps and commands.
func TestLeastMargin(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		path string
		t    traits
		want int
	}{{"CONTRIBUTING.md", traits{}, 2}, {"CONTRIBUTING.md", traits{stepped: true}, plainly}, {"CONTRIBUTING.md", traits{commands: 1}, plainly}, {"a.md", traits{}, plainly}} {
		tt.t.s = &section{doc: &document{path: tt.path}}
		if got := tt.t.leastMargin(); got != tt.want {
			t.Errorf("%s %+v: got %d", tt.path, tt.t, got)
		}
	}
}

// TestStrongInACharter: beyond two fifths of a limit a role of a document that governs is proposed, of another one not.
func TestStrongInACharter(t *testing.T) {
	t.Parallel()
	const text = "# Boats\n\nText.\n\n## Paint\n\nMembers must never wash paint.\n\nMembers must mix paint.\n\n## Oars\n\nMembers must never wash oars.\n\nMembers must mark oars.\n\n## Stewards\n\nStewards look after boats.\n"
	for path, want := range map[string]int{"governance/boats.md": 3, "handbook/boats.md": 2} {
		r := request(path, text)
		r.MaxAtoms = 5
		if e := drive(t, r); len(e.Atoms) != want {
			t.Errorf("%s: got %q", path, spoken(e))
		}
	}
}

// TestTitleOfItsDocument: a title that is its document's is not told by it once more.
func TestTitleOfItsDocument(t *testing.T) {
	t.Parallel()
	text := "# Restore the night disk\n\n1. Stop the server.\n2. Copy it.\n"
	e := drive(t, request("a.md", text, "b.md", text+"3. Start it.\n"))
	if d := cmp.Diff([]string{"process Restore the night disk | 3 steps: Stop the server … Start it | lines 3-5"}, spoken(e)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestATermIsWhatAnotherSourceSays(t *testing.T) {
	t.Parallel()
	e := drive(t, request("a.md", "# Glossary\n\nBookings\n: Where reservations and deposits go.\n",
		"b.md", "# Bookings\n\nBookings is a service that takes deposits.\n"))
	if d := cmp.Diff([]string{"system Bookings | Where reservations and deposits go. | lines 3-4"}, spoken(e)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestMaxAtoms(t *testing.T) {
	t.Parallel()
	r := request("a.md", "# Words\n\nSkeg\n: A small fin under the stern.\n\n\n# Glossary\n\n- **Gelcoat**: the outer skin beside the skeg.\n- **Rack**: the red rack by the door.\n")
	r.MaxAtoms = 1
	e := drive(t, r)
	if e.Outcome != session.Completed || len(e.Atoms) != 1 || e.Atoms[0].Atom.ID != "skeg" {
		t.Fatalf("got %s %q", e.Outcome, spoken(e))
	}
	if f := e.Notes[1]; f.Title != "2 more candidates left out; raise [session] max_atoms or narrow the task's inputs to see them" || !strings.Contains(f.Content, "Gelcoat, Rack") {
		t.Errorf("got finding %+v", f)
	}
	hold(t, e, r)
}

// TestTrifles: under a limit a rule of a few words of advice, one that leaves what holds to another document, and one that goes on from
// what stands above its heading take no place, but in a charter few words are a rule. Nor does how something is run that is
// told without a why, one or two commands alone, or what every program's documents tell, unless strong evidence speaks for it.
func TestTrifles(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		path, says string
		want       int
	}{
		{"CONTRIBUTING.md", "Members should wash their boats.", 0}, {"GOVERNANCE.md", "Members should wash their boats.", 1}, {"AGENTS.md", "Members should wash their boats.", 1},
		{"CONTRIBUTING.md", "Members must wash their boats.", 1}, {"CONTRIBUTING.md", "Avoid boats that nobody washes.", 0}, {"CONTRIBUTING.md", "### Oar marks\n\nMembers should wash it.\n\n### Paint\n\n- Wash it", 1}, {"CONTRIBUTING.md", "- Members should wash their boats.\n- Members should lock their boats.", 1},
		{"CONTRIBUTING.md", "Members should wash their boats" + strings.Repeat(" and the keel of the boats", 5) + ".", 1},
		{"CONTRIBUTING.md", "All members must follow our code of conduct.", 0}, {"CONTRIBUTING.md", "All members must follow our code of conduct.\n\nMembers must wash it.", 1},
		{"CONTRIBUTING.md", "Members should paint boats by this list.\n\n| Boat | Paint |\n|---|---|\n| Skiff | Red |", 1},
		{"dev.md", "## Running the linter\n\nFrom the top of the tree, with the tools that the image for builds has:\n\n```sh\nmake lint\nmake fix\nmake again\n```", 0},
		{"dev.md", "## Linting hulls\n\nFrom the top of the tree, with the tools that the image for builds has:\n\n```sh\nmake lint\nmake fix\nmake again\n```", 1},
		{"dev.md", "## Running tests\n\n### Sailing the hulls\n\nFrom the top of the tree, with the tools that the image for builds has:\n\n```sh\nmake lint\nmake fix\nmake again\n```", 0},
		{"dev.md", "## Running tests\n\n### Sailing the hulls\n\nThe hulls sail at night. They come back by day. From the top of the tree, run:\n\n```sh\nmake lint\nmake fix\nmake again\n```", 1},
		{"dev.md", "## Linting hulls\n\nFrom the top of the tree:\n\n```sh\nmake lint\n```", 0}, {"ops.md", "## Linting hulls\n\nFrom the top of the tree:\n\n```sh\nmake lint\n```", 1}, {"dev.md", "## Linting hulls\n\nFrom the top of the tree, with the tools that the image for builds has:\n\n```sh\nmake lint\n```", 1},
		{"dev.md", "## Getting started\n\nThe tools are in the shed. Ask the lead for the key.\n\n1. Open the shed.\n2. Take a boat.\n3. Row it.", 0}, {"dev.md", "## Rowing boats\n\nThe tools are in the shed. Ask the lead for the key.\n\n1. Open the shed.\n2. Take a boat.\n3. Row it.", 1},
		{"GOVERNANCE.md", "Unless specified above, members must wash their boats.", 0}, {"GOVERNANCE.md", "Unless specified above, members must:\n\n- Wash their boats.\n- Lock their boats.", 1},
	} {
		head := "# Club\n\nBoats float.\n\n## Boats\n\n"
		if strings.HasPrefix(tt.says, "## ") {
			head = "# Club\n\nBoats float.\n\n"
		}
		r := request(tt.path, head+tt.says+"\n")
		r.MaxAtoms = 40
		if e := drive(t, r); len(e.Atoms) != tt.want {
			t.Errorf("%s: %s: got %q", tt.path, tt.says, spoken(e))
		}
	}
}

// TestWeak: two fifths of what the limit allows are proposed, and beyond them only what strong evidence
// speaks for, of rules less in a document that is there for them; a reading without a limit proposes all. What has a flaw stands behind.
func TestWeak(t *testing.T) {
	t.Parallel()
	rules := "# Boats\n\n## Notes\n\nMembers must wash their notes.\n\n## Paint\n\nMembers must wash it.\n\n## Ropes\n\nThis is of ropes. Members must wash their ropes.\n\n" +
		"## Who washes the gates?\n\nMembers must wash their gates.\n\n## Sails\n\nMembers must wash their sails.\n"
	for _, tt := range []struct {
		path  string
		limit int
		want  string
	}{
		{"boats.md", 0, "Sails Paint Notes Who"}, {"boats.md", 5, "Sails Paint"}, {"boats.md", 8, "Sails Paint Notes Who"},
		{"docs/policy.md", 0, "Sails Paint Notes Who Ropes"}, {"docs/policy.md", 5, "Sails Paint Notes Who"},
		{"docs/release.md", 0, "Sails Paint Notes Who Ropes"}, {"docs/release.md", 5, "Sails Paint"},
		{"docs/governance.md", 0, "Sails Paint Notes Who Ropes"}, {"docs/governance.md", 5, "Sails Paint Notes Who"},
	} {
		r := request(tt.path, rules)
		r.MaxAtoms = tt.limit
		e := drive(t, r)
		var got []string
		for _, a := range e.Atoms {
			got = append(got, strings.Fields(a.Atom.Title)[0])
		}
		if d := cmp.Diff(tt.want, strings.Join(got, " ")); d != "" {
			t.Errorf("%s, limit %d (-want +got):\n%s", tt.path, tt.limit, d)
		}
	}
}

// TestLinksAreNoNews: an atom of the bundle that could have a link more takes no place of a new one
// under the limit, and is not proposed again for it.
func TestLinksAreNoNews(t *testing.T) {
	t.Parallel()
	r := request("a.md", "# Glossary\n\n- **Gel coat**: the outer skin beside the rack bolt.\n- **Keel rail**: the rail below the gel coat.\n- **Rack bolt**: the bolt by the keel rail of the rack.\n")
	r.MaxAtoms = 1
	var atoms []okf.Atom
	for range 3 {
		e := drive(t, after(t, r, atoms...))
		if len(e.Atoms) != 1 || e.Atoms[0].Base != "" {
			t.Fatalf("%d atoms are there: got %q", len(atoms), spoken(e))
		}
		atoms = append(atoms, e.Atoms[0].Atom)
	}
	if e := drive(t, after(t, r, atoms...)); len(e.Atoms) != 0 || len(e.Notes) != 1 {
		t.Errorf("got %q, %+v", spoken(e), e.Notes)
	}
}

// TestThisYearsFilesCount: under the limit a document of this year counts as one without a year, and
// one of an earlier year less.
func TestThisYearsFilesCount(t *testing.T) {
	t.Parallel()
	for year, want := range map[string]string{"2026": "Zip fees", "2025": "Launching fees"} {
		r := request("a/policy.md", "# Launching fees\n\nMembers must pay at the desk.\n", year+"/policy.md", "# Zip fees\n\nMembers must pay at the desk.\n")
		r.MaxAtoms = 1
		if e := drive(t, r); len(e.Atoms) != 1 || e.Atoms[0].Atom.Title != want {
			t.Errorf("%s: got %q, want %s", year, spoken(e), want)
		}
	}
}

// TestAgeOfADecision: an old decision is no weaker than one without a date, and the newest comes first, by the date at its
// top or in its name.
func TestAgeOfADecision(t *testing.T) {
	t.Parallel()
	adr := func(title, date string) string {
		return "# " + title + "\n\n" + date + "\n\n## Decision\n\nWe will keep float plans on paper.\n"
	}
	r := request("adr/2021-01-02-a.md", adr("Cards", ""), "adr/2.md", adr("Lamps", "Date: 2025-01-02"), "adr/3.md", adr("Oars", ""), "adr/4.md", adr("Keels", "Date: 2019-01-02"))
	r.MaxAtoms = 4
	got := ""
	for _, a := range drive(t, r).Atoms {
		got += a.Atom.Title + " "
	}
	if got != "Oars Lamps Cards Keels " {
		t.Errorf("got %s", got)
	}
	d, err := readFile(file{"adr/2021-01-02-a.md", []byte(adr("Cards", ""))})
	if err != nil || d.shelfPenalty("2026") != 0 {
		t.Errorf("an old decision: %v, %d", err, d.shelfPenalty("2026"))
	}
}

// TestOneIdForTwoTitles: two titles that differ in the middle alone are two rules; of two terms whose id would be one,
// the first is taken and both places are told.
func TestOneIdForTwoTitles(t *testing.T) {
	t.Parallel()
	const head, text = "## If your server and your client components are distributed ", " here\n\nEvery licence must be kept by those who distribute it, and every change to it must be approved by the board.\n\n"
	e := drive(t, request("policies/open.md", "# Open source\n\n"+head+"together"+text+head+"separately"+strings.Replace(text, "licence", "copy", 1)))
	if len(e.Atoms) != 2 {
		t.Errorf("%q", spoken(e))
	}
	named := func(how string, line int) candidate {
		return candidate{kind: term, title: head[3:] + how + " here", evidence: []evidence{{doc: &document{}, from: line, to: line}}}
	}
	if got, told := mergeCandidates([]candidate{named("together", 5), named("separately", 9)}); len(got) != 1 || len(told) != 1 || told[0].a.from != 5 || told[0].b.from != 9 {
		t.Errorf("%d candidates, told %+v", len(got), told)
	}
}

// Long titles that differ at their ends are two rules; what a heading turns round, what says where a text is
// now, and what a folder calls history are none.
func TestWhatAHeadingSays(t *testing.T) {
	t.Parallel()
	const rule = "\n\nEvery licence must be kept by those who distribute it, and every change to it must be approved by the board.\n"
	for _, tt := range []struct{ path, text, want string }{
		{"policies/open.md", "# Open source\n\n## If your server and your client components are distributed together" + rule + "\n## If your server and your client components are distributed separately\n\nEach component must have a licence of its own, which the board must approve.\n",
			"if-your-server-and-your-client-components-are-separately if-your-server-and-your-client-components-are-together"},
		{"policies/side-work.md", "# Side work\n\n## Not OK\n\n* You must not work for a competitor\n* Go on a tour of talks\n* Consult for others of our trade\n", ""},
		{"policies/moderation.md", "# Moderation\n\nThe policy has moved to <https://example.org/m.md>. Links must be updated.\n", ""},
		{"policies/historical/pods.md", "# Pods" + rule, ""},
	} {
		var ids []string
		for _, a := range drive(t, request(tt.path, tt.text)).Atoms {
			ids = append(ids, string(a.Atom.ID))
		}
		slices.Sort(ids)
		if got := strings.Join(ids, " "); got != tt.want {
			t.Errorf("%s: got %q", tt.path, got)
		}
	}
}

// TestHeadOfAProposal: a document that begins with a state of proposals and its authors is one; a
// rule may have a state and an owner too.
func TestHeadOfAProposal(t *testing.T) {
	t.Parallel()
	for head, rules := range map[string]int{
		"- Status: In force\n- Owner: Desk\n": 1, "- Status: In force\n- Author: Ann\n": 1,
		"- Status: Draft\n- Author: Ann\n": 0, "- Status: Under review\n- Reviewers: Ann, Ben\n": 0,
	} {
		e := drive(t, request("docs/policies/oars.md", "# Oars\n\n"+head+"\n## Varnish\n\nOars must never be varnished at sea.\n"))
		if len(e.Atoms) != rules {
			t.Errorf("%q: got %q", head, spoken(e))
		}
	}
}

// TestWhatChangedIsNeverWeak: atoms that are there and whose source changed are proposed before the
// limit is, however little speaks for them.
func TestWhatChangedIsNeverWeak(t *testing.T) {
	t.Parallel()
	r := request("docs/tools.md", "# Systems\n\n- **Crane**: the program that lifts boats.\n- **Radio**: the program that calls boats.\n- **Rack**: the program that stores boats.\n")
	var atoms []okf.Atom
	for _, a := range drive(t, r).Atoms {
		atoms = append(atoms, a.Atom)
	}
	next := request("docs/tools.md", "# Systems\n\n- **Crane**: the program that lifts all boats.\n- **Radio**: the program that calls all boats.\n- **Rack**: the program that stores all boats.\n")
	next.MaxAtoms = len(atoms)
	if e := drive(t, after(t, next, atoms...)); len(atoms) == 0 || len(e.Atoms) != len(atoms) {
		t.Errorf("of %d that changed: %q", len(atoms), spoken(e))
	}
}

// TestSequel: a sentence that goes on from one before it describes nothing; a word such as first
// may also begin a name.
func TestSequel(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"First aid kits must be checked each month.":     "First aid kits must be checked each month.",
		"First, the crew must check each kit monthly.":   "",
		"Now that boats are out, crews must keep watch.": "",
	} {
		e := drive(t, request("docs/policy.md", "# Boats\n\n## Kits\n\n"+text+"\n"))
		if len(e.Atoms) != 1 || e.Atoms[0].Atom.Description != want {
			t.Errorf("%q: got %q", text, spoken(e))
		}
	}
}
