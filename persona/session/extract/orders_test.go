package extract

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOrders: a list of what to do and not to do is a rule in what agents and contributors read, in what lays down
// rules, and wherever its words are those of rules; steps, commands and listings are none. No item of several
// describes the rule.
func TestOrders(t *testing.T) {
	t.Parallel()
	const (
		plain = "- Wash the boats with soap.\n- Write their names on the board.\n- Scope all keys to one boat.\n"
		hard  = "- Avoid red paint.\n- Prefer soap to sand.\n- Use a new brush for each boat.\n- Use a cloth for each `_oar`.\n"
	)
	for _, tt := range []struct{ name, path, text, want string }{
		{"what agents do before they commit", "AGENTS.md", "# A\n\n## Required before each commit\n\n- Run `make a` to check.\n- Run `make b` to lint.\n- Run `make c` to test.\n- Shortcut: `make all` runs them.\n- All of them run on the server.\n", "policy Required before each commit |  | lines 5-9"},
		{"what agents do", "docs/CLAUDE.md", "# A\n\n## Code\n\n" + plain, "policy Code (A) |  | lines 5-7"},
		{"the same elsewhere", "docs/a.md", "# A\n\n## Code\n\n" + plain, ""},
		{"behind labels", "AGENTS.md", "# A\n\n## Code\n\n- **Boats**: wash them with soap.\n- **Names**: write them on the board.\n", "policy Code (A) |  | lines 5-6"},
		{"rules that are numbered", "CONTRIBUTING.md", "# A\n\n## Key guidelines\n\n1. Wash the boats with soap.\n2. Write their names on the board.\n", "policy Key guidelines (A) |  | lines 5-6"},
		{"steps that are numbered", "AGENTS.md", "# A\n\n## Boats\n\n1. Wash the boats with soap.\n2. Write their names on the board.\n", ""},
		{"what is done for something", "AGENTS.md", "# A\n\n## Painting boats\n\n" + plain, ""},
		{"below a lead to rules", "guides/a.md", "# A\n\n## Code\n\nWhen writing code, apply these rules:\n\n- Limit all lines to a maximum of 100 characters.\n- Write one test.\n", "policy Code (A) |  | lines 5-8"},
		{"the words of rules", "ruby/README.md", "# Boats\n\n" + hard, "policy Boats |  | lines 3-6"},
		{"commands", "AGENTS.md", "# A\n\n## Commands\n\n- `make a` builds it all.\n- `make b` tests it all.\n- `make c` lints it all.\n", ""},
		{"what a folder holds", "AGENTS.md", "# A\n\n## Layout of boats\n\n- `bin/boat`: the script.\n- `gen/`: made files. Don't edit them by hand, run `make gen`.\n- `lib/`: the code.\n", ""},
		{"rules of folders", "AGENTS.md", "# A\n\n## Layout of boats\n\n- `bin/boat`: never edit it by hand, run `make bin`.\n- `gen/`: never edit it by hand, run `make gen`.\n", "policy Layout of boats |  | lines 5-6"},
		{"one rule", "AGENTS.md", "# A\n\n## Checks\n\n- You must test.\n", "policy Checks (A) | You must test. | line 5"},
		{"one rule that has more", "AGENTS.md", "# A\n\n## Checks\n\n- Callbacks are for data. They must never send letters.\n", "policy Checks (A) | Callbacks are for data. They must never send letters. | line 5"},
		{"what opens a document for agents", "AGENTS.md", "# Boats\n\nYou must wash all boats with soap.\n\n## Layout\n\nText.\n\n## More\n\nText.\n", "policy Boats | You must wash all boats with soap. | line 3"},
		{"please do not", "AGENTS.md", "# A\n\n## Boats of the club\n\nThis is a tool. Please do not use AI agents to modify this codebase. The reason is that people must understand it.\n", "policy Boats of the club | Please do not use AI agents to modify this codebase. | line 5"},
		{"please don't worry", "AGENTS.md", "# A\n\n## Boats of the club\n\nPlease don't worry about the paint of the boats. Please do not hesitate to ask.\n", ""},
		{"please do not, in a guide", "docs/how-to/develop.md", "# A\n\n## Use of AI\n\nPlease do not use AI agents to modify this codebase. The reason is that people must understand it.\n\n## Code\n\n```\na\n```\n", "policy Use of AI (A) | Please do not use AI agents to modify this codebase. | line 5"},
		{"steps in prose", "a.md", "# Deploy to the shed\n\nView the list of boats.\n\n```sh\ngit log\n```\n\nPush them:\n\n```sh\ngit push\n```\n", "process Deploy to the shed |  | lines 3-13"},
		{"a lead that is a step", "a.md", "# Deploy to the shed\n\nPreview the list of all the boats:\n\n```sh\ngit log\n```\n\nThen this:\n\n```sh\ngit push\n```\n", "process Deploy to the shed |  | lines 3-13"},
		{"code that looks like a template", "docs/security.md", "# Security\n\n- Never interpolate user input into SQL.\n- Never use `raw` or `<%==` with user-supplied data.\n- Never skip CSRF verification.\n", "policy Security |  | lines 3-5"},
		{"a template within a line", "docs/security.md", "# Security\n\n- Never interpolate user input into SQL.\n- Never use `raw` or <%== x %> with user-supplied data.\n- Never skip CSRF verification.\n", ""},
		{"a shortcode in code", "docs/security.md", "# Security\n\n- Never interpolate user input into SQL.\n- Never use `{{< x >}}` with user-supplied data.\n- Never skip CSRF verification.\n", ""},
		{"Ruby within a line of its page", "docs/security.md.erb", "# Security\n\n- Never interpolate user input into SQL.\n- Never use `<%= x %>` with user-supplied data.\n- Never skip CSRF verification.\n", ""},
		{"commands below another heading", "SECURITY.md", "# A\n\n## Boats of the club\n\nYou must issue the commands below from each branch.\n", ""},
	} {
		if got := strings.Join(spoken(drive(t, request(tt.path, tt.text))), "; "); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestSaidTwice: what several documents say is one atom, quoted once, whose sources are the lines that say it; where
// they do not oblige to the same, a note tells.
func TestSaidTwice(t *testing.T) {
	t.Parallel()
	const (
		head  = "Members who bring a machine must follow these rules of the club:\n\n- You must tell the desk which machine it is.\n- You must wash all boats that it has touched.\n- You must answer all questions about it.\n"
		extra = "- You may only have one machine at a time.\n"
	)
	const ai = "Please do not use AI agents to modify this codebase. The rationale is that in order to earn its place as a tool, it must remain written by humans.\n\n" +
		"Additionally, if machines did a part of the work, then humans would lose their understanding.\n\nExceptions are where machines only read.\n"
	fig := "- **Bottle**: a keg that stands in the shed.\n"
	for _, tt := range []struct {
		name  string
		files []string
		want  []string
		told  bool
	}{
		{"with a sentence more that obliges to nothing", []string{"AGENTS.md", "# A\n\n## Project overview\n\nBoats float.\n\n" + head, "CONTRIBUTING.md", "# B\n\n## Machines\n\n" + head},
			[]string{"policy Machines (B) CONTRIBUTING.md lines 5-9 AGENTS.md lines 7-11"}, false},
		{"with a better heading in a guide", []string{"AGENTS.md", "# A\n\n## Project overview\n\nBoats float.\n\n" + ai, "docs/how-to/develop.md", "# B\n\n## Use of AI\n\n" + ai + "\n## Code\n\n```\na\n```\n"},
			[]string{"policy Use of AI (B) docs/how-to/develop.md lines 5-9 AGENTS.md lines 7-11"}, false},
		{"with a rule more", []string{"AGENTS.md", "# A\n\n## Machines\n\n" + head, "CONTRIBUTING.md", "# B\n\n## Machines\n\n" + head + extra},
			[]string{"policy Machines (B) CONTRIBUTING.md lines 5-10 AGENTS.md lines 5-9"}, true},
		{"a short rule", []string{"AGENTS.md", "# A\n\n## Oars\n\nYou must wash all oars.\n", "CONTRIBUTING.md", "# B\n\n## Keels\n\nYou must wash all oars.\n"},
			[]string{"policy Keels (B) CONTRIBUTING.md line 5", "policy Oars (A) AGENTS.md line 5"}, false},
		{"a term in three places", []string{"a.md", "# Terms\n\n" + fig, "b.md", "# Terms\n\n" + fig, "c.md", "# Terms\n\nText.\n\n" + fig, "d.md", "# Terms\n\n- **Bottle**: a keg of the club.\n"},
			[]string{"term Bottle a.md line 3 b.md line 3 c.md line 5 d.md line 3"}, true},
		{"a term in five ways", []string{"a.md", "# Terms\n\n- **Keg**: a bottle of one.\n", "b.md", "# Terms\n\n- **Keg**: a bottle of two.\n", "c.md", "# Terms\n\n- **Keg**: a bottle of three.\n", "d.md", "# Terms\n\n- **Keg**: a bottle of four.\n"},
			[]string{"term Keg a.md line 3 b.md line 3 c.md line 3"}, true},
	} {
		e := drive(t, request(tt.files...))
		var got []string
		for _, a := range e.Atoms {
			line := a.Atom.Type + " " + a.Atom.Title
			for _, s := range a.Atom.Sources {
				line += " " + s.Resource + " " + s.Title
			}
			got = append(got, line)
			quotes := slices.DeleteFunc(strings.Split(string(a.Atom.Body()), "\n"), func(l string) bool { return !strings.HasPrefix(l, "> ") })
			for i, q := range quotes {
				if quotes[i] = footnote().ReplaceAllString(q, ""); slices.Contains(quotes[:i], quotes[i]) {
					t.Errorf("%s: %s is quoted twice", tt.name, q)
				}
			}
		}
		slices.Sort(got)
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, d)
		}
		if told := strings.Contains(fmt.Sprint(e.Notes), "is defined twice"); told != tt.told {
			t.Errorf("%s: told is %v", tt.name, told)
		}
	}
}

// TestPagesForMakers: a page for those who make a product is no page of its manual, by what it says or by its name.
func TestPagesForMakers(t *testing.T) {
	t.Parallel()
	const readme, rule = "# Skeg\n\nSkeg is a tool for boats.\n", "## Oars\n\nMembers must never varnish oars.\n"
	for _, tt := range []struct {
		path, text string
		want       bool
	}{
		{"docs/ai.md", "# AI\n\n" + rule, false},
		{"docs/ai.md", "# AI\n\nThis guide is for maintainers and contributors who use machines.\n\n" + rule, true},
		{"docs/ai.md", "# AI\n\nThis guide is for users who have asked the maintainers.\n\n" + rule, false},
		{"docs/Acceptable-boats.md", "# AI\n\n" + rule, true},
		{"docs/Deprecating-and-Removing.md", "# AI\n\n" + rule, true},
	} {
		got := strings.Contains(strings.Join(spoken(drive(t, request("README.md", readme, tt.path, tt.text))), "; "), "Oars")
		if got != tt.want {
			t.Errorf("%s %q: got %v", tt.path, tt.text, got)
		}
	}
}

// TestWhatOthersSay: a theme of the site, what advises the world and what may be later is not what the team holds;
// a decision is what its heading says, and a rule has the conditions above it.
func TestWhatOthersSay(t *testing.T) {
	t.Parallel()
	const rule = "# Club\n\n## Oars\n\nMembers must never varnish oars.\n"
	adr := func(more string) string { return "# Cards\n\n## Context\n\nBoats float.\n\n" + more }
	long := strings.Repeat("Boats float on the lake of the club.\n\n", 13)
	for _, tt := range []struct {
		name  string
		files []string
		want  string
	}{
		{"a theme", []string{"site/themes/fir/CONTRIBUTING.md", rule}, ""},
		{"code of others", []string{"third_party/fir/CONTRIBUTING.md", rule}, ""},
		{"a paper", []string{"security/oar-whitepaper.md", rule, "policies/paper-v2/a.md", rule}, ""},
		{"a record on paper", []string{"policies/paper-cards.md", rule}, "policy Oars (Club) | Members must never varnish oars. | line 5"},
		{"a proposal before its decision", []string{"adr/1.md", adr("## Proposal\n\nWe will keep all cards on paper.\n\n## Decision\n\nWe will keep new cards on paper.\n")}, "decision Cards | We will keep new cards on paper. | line 13"},
		{"who does what, including", []string{"a.md", "# Club\n\nResponsibilities of the shore lead including:\n\n- Keeping the shed clean and dry.\n- Telling the others what to do.\n"}, "role Shore lead |  | lines 3-6"},
		{"what was done", []string{"adr/1.md", adr("## Decision\n\nImplemented and merged to the main branch.\n")}, ""},
		{"what may be later", []string{"adr/1.md", adr("## Design\n\nCards are made of paper.\n\n## Future support\n\n### Ink\n\nLater we may choose to write all cards with ink.\n")}, ""},
		{"what one writes for a name", []string{"a.md", "# Glossary\n\nPython\n: `now(utc).iso(true)` or the other one of these.\n"}, ""},
		{"what one does not want", []string{"CONTRIBUTING.md", "# Club\n\n## A shed of your own\n\nIt is useful if you:\n\n- Keep many boats.\n- Don't want to use the shed.\n"}, ""},
		{"conditions above a rule", []string{"GOVERNANCE.md", "# Club\n\n## Becoming a guide\n\n" + long + "If you are meeting these requirements, write to the guides.\n\n- We may ask you for more boats.\n- As you gain experience, all guides are expected to teach you.\n"},
			"policy Becoming a guide | Boats float on the lake of the club. | lines 5-34"},
	} {
		if got := strings.Join(spoken(drive(t, request(tt.files...))), "; "); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
