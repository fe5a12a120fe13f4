package extract

import (
	"strings"
	"testing"
)

// TestTemplatesAreNoText: what a generator of sites puts around text is left out; what it
// would put in its place makes an atom doubtful.
func TestTemplatesAreNoText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, title, want string }{
		{"paired", "## Install the agent\n\n{{< alert title=\"Note\" >}}Install it before the server.{{< /alert >}}\n\n1. Download it.\n2. Run it.\n",
			"Install the agent", "Install it before the server.[^a]\n\n1. Download it.\n2. Run it."},
		{"containers", "## Install the agent\n\n:::tip\nInstall it before the server.\n:::\n\n1. Download it.\n2. Run it.\n",
			"Install the agent", "Install it before the server.[^a]\n\n1. Download it.\n2. Run it."},
		{"braces of code", "## Publish the page\n\nThis is done in the root every night.\n\n```sh\nrender '{{ .Title }}'\nrender -push\n```\n", "Publish the page", "This is done in the root every night.[^a]\n\n```sh\nrender '{{ .Title }}'\nrender -push\n```"},
		{"roles of MyST", "(setup)=\n## Install the agent\n\n1. Download the {func}`agent`.\n2. Run it with `{x}` or {class}`Runner`.\n", "Install the agent", "1. Download the `agent`.\n2. Run it with `{x}` or `Runner`."},
		{"containers of MyST", "## Install the agent\n\n:::{tip}\nInstall it before the server.\n:::\n\n1. Download it.\n2. Run it.\n",
			"Install the agent", "Install it before the server.[^a]\n\n1. Download it.\n2. Run it."},
		{"a directive of MyST", "## Install the agent\n\n1. Download it.\n2. Run it:\n\n```{eval-rst}\n.. include:: run.txt\n```\n", "", ""},
		{"a reference of MyST", "## Install the agent\n\n1. Read {doc}`../guide/setup`.\n2. Run it.\n", "Install the agent", "1. Read `../guide/setup`.\n2. Run it."},
		{"a note of MyST", "## Install the agent\n\n```{note} Mind\n:class: x\nNever as *root*.\n```\n\n1. Download it.\n2. Run it.\n", "Install the agent", "Mind[^a]\n\nNever as root.\n\n1. Download it.\n2. Run it."},
		{"an include in a container", "## Install the agent\n\n1. Download it.\n2. Run it:\n\n:::{include} run.md\n:::\n", "", ""},
		{"a target alone", "(setup)=\n## Install the agent\n\n1. Download it.\n2. Run it.\n", "Install the agent", "1. Download it.\n2. Run it."},
		{"code of MyST", "## Install the agent\n\n1. Download it.\n2. Run it:\n\n```{code-block} sh\nagent run\n```\n", "Install the agent", "1. Download it.\n2. Run it:\n\n```\nagent run\n```"},
		{"attributes", "## Install the agent\n\n1. Download [it](https://a.b){:target=\"_blank\"} now. ![x](a.png){width=50%}\n2. Run it with `{.x}`.\n{: .note}\n\n{ .steps }\n", "Install the agent",
			"1. Download [it](https://a.b) now.\n2. Run it with `{.x}`."},
		{"an id", "## Install the agent {#install}\n\n1. Download it.\n2. Run it.\n", "Install the agent", "1. Download it.\n2. Run it."},
		{"a version", "## Install the agent\n\n1. Download {{< param version >}} of it.\n2. Run it.\n", "", ""},
		{"tabs of a generator", "## Install the agent\n\n{{% tab \"Linux\" %}}\n\n```sh\napt update\napt install agent\n```\n\n{{% /tab %}}\n", "", ""},
		{"tabs of MDX", "## Install the agent\n\n<TabItem label=\"Linux\">\n\n```sh\napt update\napt install agent\n```\n\n</TabItem>\n", "Install the agent",
			"\\<TabItem label=\"Linux\">[^a]\n\n```sh\napt update\napt install agent\n```"},
		{"an include", "## Install the agent\n\n1. Download it.\n2. {% include steps.md %}\n", "", ""},
		{"a shortcode in code", "## Install the agent\n\nFrom the root:\n\n```sh\nget {{% param vers %}}\nget all\n```\n", "", ""},
		{"a subject", "# Glossary\n\nAgent\n: {{< tooltip id=\"agent\" >}} collects what a host tells.\n", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := drive(t, request("a.md", c.text))
			if c.title == "" {
				if len(e.Atoms) > 0 || len(e.Notes) < 2 || !strings.Contains(e.Notes[1].Content, "a template of the site") {
					t.Errorf("%v, %+v", spoken(e), e.Notes)
				}
				return
			}
			if got := quotedBy(t, e, c.title); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// A link named by its own target stays a link to that file; only an address is one without brackets.
func TestLinksNamedByTheirTarget(t *testing.T) {
	t.Parallel()
	e := drive(t, request("docs/a.md", "## Build rules\n\nYou must never edit the [Makefile](Makefile) by hand; see <https://a.b/c>.\n", "docs/Makefile", "all:\n"))
	want := "You must never edit the [Makefile](../../docs/Makefile) by hand; see <https://a.b/c>."
	if got := quotedBy(t, e, "Build rules (a)"); !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// FuzzUnwrapped: no line moves, nor grows or shrinks.
func FuzzUnwrapped(f *testing.F) {
	f.Add("{{< a >}}x{{< /a >}}\n```\n{{< b >}}\n```\n:::tip\nimport a from 'b'\n{: .x}\n# A {#a}\n")
	f.Fuzz(func(t *testing.T, text string) {
		got := string(stripTemplating([]byte(text)))
		is, was := strings.Split(got, "\n"), strings.Split(text, "\n")
		if len(is) != len(was) {
			t.Fatalf("%q became %q", text, got)
		}
		for i := range is {
			if len(is[i]) != len(was[i]) {
				t.Fatalf("%q became %q", text, got)
			}
		}
	})
}
