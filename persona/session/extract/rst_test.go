package extract

import (
	"regexp"
	"strings"
	"testing"
)

func TestMarkdownOfRST(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, rst, want string }{
		{"headings", "====\nHull\n====\n\nKeel\n----\n\nFin\n~~~\n\nMast\n----\n\n----\n", "\n# Hull\n\n\n## Keel\n\n\n### Fin\n\n\n## Mast\n\n\n\n"},
		{"lists", "* One\n  more\n\n  #. Two\n  #. Three\n* Four\n", "* One\n  more\n\n  1. Two\n  1. Three\n* Four\n"},
		{"code that a paragraph announces", "Push it::\n\n    git push\n      --all\n\nDone.\n", "Push it:\n```\ngit push\n  --all\n```\nDone.\n"},
		{"code with a language", "1. Push:\n\n   .. code-block:: console\n      :caption: X\n\n      $ git push\n\n   Done.\n", "1. Push:\n\n\n   **X:**\n   ```console\n   $ git push\n   ```\n   Done.\n"},
		{"a session", "Look:\n\n>>> 1 < 2\nTrue\n", "Look:\n```\n>>> 1 < 2\nTrue\n```"},
		{"a note keeps its text", ".. warning:: Not on\n   Sundays.\n\nElse go.\n", "**Warning:** Not on\nSundays.\n\nElse go.\n"},
		{"a note with a title", ".. admonition:: Mind\n\n   Not twice.\n\n.. seealso::\n\n   * One.\n", "**Mind:**\n\nNot twice.\n\n**See also:**\n\n* One.\n"},
		{"what a page does not show", ".. _mark:\n\n.. a comment\n   of two lines\n\nText.\n", "\n\n\n\n\nText.\n"},
		{"definitions", "Skeg : noun\n    A small fin.\n", "Skeg\n: A small fin.\n"},
		{"glossary", ".. glossary::\n   :sorted:\n\n   Skeg\n      A small fin.\n", "\n\n\nSkeg\n: A small fin.\n"},
		{"roles and links", "See :func:`open`, :ref:`the rules<rules>`, `home <https://e.org>`_, ``a_b`` and Tox_.\n",
			"See `open`, [the rules](<rules>), [home]( <https://e.org>), ``a_b`` and Tox.\n"},
		{"roles of documents and of names", "See :doc:`index`, :doc:`the rules </a/rules>` and :func:`~jetty.open`.\n", "See [`index`](<index.rst>), [the rules]( </a/rules.rst>) and `jetty.open`.\n"},
		{"what markdown would read otherwise", "a <b> & c\n\n# no heading\n\n> no quote\n", "a \\<b> \\& c\n\n\\# no heading\n\n\\> no quote\n"},
		{"what is set in", "Text.\n\n    Set in.\n", "Text.\n\nSet in.\n"},
		{"a table", "===  ===\nA    B\n===  ===\n\nText.\n", "\n\n\n\nText.\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := string(markdownOfRST([]byte(c.rst))); got != c.want {
				t.Errorf("got\n%q\nwant\n%q", got, c.want)
			}
		})
	}
}

// TestRST: the same rules read reStructuredText, and quote what it says.
func TestRST(t *testing.T) {
	t.Parallel()
	e := drive(t, request("docs/notes.rst", "", "docs/release.rst", `
Releasing
=========

.. note:: Only on a working day, see :doc:`+"`notes`"+`.

#. Run the tests::

       make test

#. Tag the commit.
#. Push the tag and :ref:`+"`the notes <notes>`"+`.

Reverting a release
-------------------

1. Delete the tag of |version|.
2. Push the branch again.
3. Tell everyone.

Announcing a release
--------------------

1. Write the text as :numref:`+"`told`"+`.
2. Push the branch again.
3. Tell everyone.
`))
	if got, want := strings.Join(spoken(e), "\n"), "process Releasing | Only on a working day, see notes. | lines 5-12"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	want := "**Note:** Only on a working day, see [`notes`](../../docs/notes.rst).[^docs-release-rst]\n\n1. Run the tests:\n\n   ```\n   make test\n   ```\n2. Tag the commit.\n3. Push the tag and the notes."
	if got := quotedBy(t, e, "Releasing"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// FuzzMarkdownOfRST: no line moves, and no letter is added or changes its place.
func FuzzMarkdownOfRST(f *testing.F) {
	f.Add("====\nHull\n====\n\n.. note:: Not on\n   Sundays.\n\n* One::\n\n    x < y\n\n  #. Two `a <b>`_\n\nTerm\n  Text :x:`y` ``z`` :doc:`e/f` :doc:`g <h>`\n")
	f.Add(".. glossary::\n\n   a\n     b\n\n>>> c\nd\n\n:e: f\n\n- .. code-block:: sh\n\n     g\n")
	f.Fuzz(func(t *testing.T, text string) {
		got := string(markdownOfRST([]byte(text)))
		if strings.Count(got, "\n") != strings.Count(text, "\n") {
			t.Fatalf("%q became %q", text, got)
		}
		shown := regexp.MustCompile("(?m)^ *```[^`\n]*$").ReplaceAllString(links().ReplaceAllString(got, ""), "") // but for targets, and the language of code, which its label stands in front of
		if a, b := letters(shown), letters(strings.ReplaceAll(text, "#", "1")); !inOrder(a, b) {
			t.Fatalf("%q became %q", text, got)
		}
		r := request("docs/tools/x.rst", text, "CONTRIBUTING.rst", text, "docs/adr/1.rst", text, "runbooks/b.rst", text, "glossary.rst", text)
		hold(t, drive(t, r), r)
	})
}
