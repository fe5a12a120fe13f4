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
			"Install the agent", "**Note:** Install it before the server.[^a]\n\n1. Download it.\n2. Run it."},
		{"containers", "## Install the agent\n\n:::tip\nInstall it before the server.\n:::\n\n1. Download it.\n2. Run it.\n",
			"Install the agent", "**Tip:** Install it before the server.[^a]\n\n1. Download it.\n2. Run it."},
		{"braces of code", "## Publish the page\n\nThis is done in the root every night.\n\n```sh\nrender '{{ .Title }}'\nrender -push\n```\n", "Publish the page", "This is done in the root every night.[^a]\n\n```sh\nrender '{{ .Title }}'\nrender -push\n```"},
		{"roles of MyST", "(setup)=\n## Install the agent\n\n1. Download the {func}`agent`.\n2. Run it with `{x}` or {class}`Runner`.\n", "Install the agent", "1. Download the `agent`.[^a]\n2. Run it with `{x}` or `Runner`."},
		{"containers of MyST", "## Install the agent\n\n:::{tip}\nInstall it before the server.\n:::\n\n1. Download it.\n2. Run it.\n",
			"Install the agent", "**Tip:** Install it before the server.[^a]\n\n1. Download it.\n2. Run it."},
		{"a directive of MyST", "## Install the agent\n\n1. Download it.\n2. Run it:\n\n```{eval-rst}\n.. include:: run.txt\n```\n", "", ""},
		{"a reference of MyST", "## Install the agent\n\n1. Read {doc}`../guide/setup`.\n2. Run it.\n", "Install the agent", "1. Read `../guide/setup`.[^a]\n2. Run it."},
		{"a note of MyST", "## Install the agent\n\n```{note} Mind\n:class: x\nNever as *root*.\n```\n\n1. Download it.\n2. Run it.\n", "Install the agent", "**Note:** Mind[^a]\n\nNever as root.\n\n1. Download it.\n2. Run it."},
		{"an include in a container", "## Install the agent\n\n1. Download it.\n2. Run it:\n\n:::{include} run.md\n:::\n", "", ""},
		{"a target alone", "(setup)=\n## Install the agent\n\n1. Download it.\n2. Run it.\n", "Install the agent", "1. Download it.[^a]\n2. Run it."},
		{"code of MyST", "## Install the agent\n\n1. Download it.\n2. Run it:\n\n```{code-block} sh\nagent run\n```\n", "Install the agent", "1. Download it.[^a]\n2. Run it:\n\n```\nagent run\n```"},
		{"attributes", "## Install the agent\n\n1. Download [it](https://a.b){:target=\"_blank\"} now. ![x](a.png){width=50%}\n2. Run it with `{.x}`.\n{: .note}\n\n{ .steps }\n", "Install the agent",
			"1. Download [it](https://a.b) now.[^a]\n2. Run it with `{.x}`."},
		{"an id", "## Install the agent {#install}\n\n1. Download it.\n2. Run it.\n", "Install the agent", "1. Download it.[^a]\n2. Run it."},
		{"a version", "## Install the agent\n\n1. Download {{< param version >}} of it.\n2. Run it.\n", "", ""},
		{"tabs of a generator", "## Install the agent\n\n{{% tab \"Linux\" %}}\n\n```sh\napt update\napt install agent\n```\n\n{{% /tab %}}\n", "", ""},
		{"tabs of MDX", "## Install the agent\n\n<TabItem label=\"Linux\">\n\n```sh\napt update\napt install agent\n```\n\n</TabItem>\n", "Install the agent",
			"**Linux:**[^a]\n\n```sh\napt update\napt install agent\n```"},
		{"notes of MDX", "## Install the agent\n\n<Warning>Never as root.</Warning>\n\n<Callout type=\"tip\" title='Mind'>\nNot twice.\n</Callout>\n\n<Steps>\n\n1. Download it.\n2. Run it.\n\n</Steps>\n", "Install the agent",
			"**Warning:** Never as root.[^a]\n\n**Tip: Mind:** Not twice.\n\n1. Download it.\n2. Run it."},
		{"an include", "## Install the agent\n\n1. Download it.\n2. {% include steps.md %}\n", "", ""},
		{"a shortcode in code", "## Install the agent\n\nFrom the root:\n\n```sh\nget {{% param vers %}}\nget all\n```\n", "", ""},
		{"tabs of VitePress", "## Install the agent\n\n::: code-group\n\n```sh [apt]\napt update\napt install agent\n```\n\n```sh [dnf]\ndnf install agent\n```\n\n:::\n", "Install the agent",
			"**apt:**[^a]\n\n```sh\napt update\napt install agent\n```\n\n**dnf:**\n\n```sh\ndnf install agent\n```"},
		{"a file of Docusaurus", "## Install the agent\n\n1. Download it.\n2. Write the file:\n\n   ```yaml title=\"agent_a.yml\" {1}\n   a: b\n   ```\n3. Run it.\n", "Install the agent",
			"1. Download it.[^a]\n2. Write the file:\n\n   **agent\\_a.yml:**\n\n   ```yaml\n   a: b\n   ```\n3. Run it."},
		{"a title", "## Install the agent\n\n::: danger STOP\n\nNever as *root*.\n\n:::\n\n:::note[Mind `x`]\nNot twice.\n:::\n\n1. Download it.\n2. Run it.\n", "Install the agent",
			"**Danger: STOP:** Never as root.[^a]\n\n**Note: Mind `x`:** Not twice.\n\n1. Download it.\n2. Run it."},
		{"of a kind unknown", "## Install the agent\n\n1. Download it.\n2. Run it.\n\n::: incorrect\n\n```sh\nagent --all\n```\n\n:::\n", "Install the agent",
			"1. Download it.[^a]\n2. Run it.\n\n**Incorrect:**\n\n```sh\nagent --all\n```"},
		{"containers of MkDocs", "## Install the agent\n\n!!! warning\n    Never as root.\n\n    ```sh\n    agent --root\n    ```\n\n??? note \"Mind\"\n\n    Not twice.\n\n=== \"Linux\"\n\n    1. Download it.\n    2. Run it.\n\nDone.\n", "Install the agent",
			"**Warning:** Never as root.[^a]\n\n```sh\nagent --root\n```\n\n**Note: Mind:** Not twice.\n\n**Linux:**\n\n1. Download it.\n2. Run it.\n\nDone."},
		{"alerts of GitHub", "## Install the agent\n\n> [!WARNING]\n> Never as root.\n\n1. Download it.\n2. Run it.\n   > [!tip]- Mind\n   > Not twice.\n", "Install the agent",
			"> **Warning:** Never as root.[^a]\n\n1. Download it.\n2. Run it.\n\n   > **Tip: Mind:** Not twice."},
		{"attributes of Pandoc", "## Install the agent\n\n::: {.callout-warning}\nNever as root.\n:::\n\n1. Download it.\n2. Run it.\n", "Install the agent", "**Warning:** Never as root.[^a]\n\n1. Download it.\n2. Run it."},
		{"a word and its kind", "## Install the agent\n\n{{% notice warning %}}\nNever as root.\n{{% /notice %}}\n\n1. Download it.\n2. Run it.\n", "Install the agent", "**Warning:** Never as root.[^a]\n\n1. Download it.\n2. Run it."},
		{"a title before the kind", "## Install the agent\n\n{{< alert title=\"Mind\" color=\"warning\" >}}Never as root.{{< /alert >}}\n\n1. Download it.\n2. Run it.\n", "Install the agent", "**Mind: warning:** Never as root.[^a]\n\n1. Download it.\n2. Run it."},
		{"marks in code", "## Install the agent\n\n1. Download it.\n2. Write it:\n\n```\n::: tip\n!!! note\n> [!TIP]\n```\n", "Install the agent", "1. Download it.[^a]\n2. Write it:\n\n```\n::: tip\n!!! note\n> [!TIP]\n```"},
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

// FuzzUnwrapped: no line moves, and none gets a letter or changes their order.
func FuzzUnwrapped(f *testing.F) {
	f.Add("{{< a >}}x{{< /a >}}\n```\n{{< b >}}\n```\n:::tip\nimport a from 'b'\n{: .x}\n# A {#a}\n")
	f.Add("!!! tip \"A\"\n    b\n=== \"C\"\n\td\n> [!NOTE]- e\n> f\n::: {.x} g\n```{seealso} h\n:i: j\nk\n```\n{{% note \"l\" %}}m{{% /note %}}\n<Tip title='n' type=\"o\">p</Tip>\n</Tabs>q\n")
	f.Fuzz(func(t *testing.T, text string) {
		got := string(stripTemplating([]byte(text)))
		is, was := strings.Split(got, "\n"), strings.Split(text, "\n")
		if len(is) != len(was) {
			t.Fatalf("%q became %q", text, got)
		}
		for i := range is {
			if !inOrder(letters(is[i]), letters(was[i])) {
				t.Fatalf("%q became %q", text, got)
			}
		}
	})
}
