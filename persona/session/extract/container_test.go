package extract

import "testing"

// TestAboutOfLead: a lead describes what stands below it where it is a sentence that stands alone.
func TestAboutOfLead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Boats are few. The following rules must be kept on a boat:": "The following rules must be kept on a boat",
		"Note: You can paint the boat with the brush:":               "You can paint the boat with the brush",
		"The following rules must be kept on a boat.":                "",
		"They can paint the boat with the brush:":                    "",
		"You can paint the boat with this brush:":                    "",
		"Members of the club further pledge the following:":          "",
		"Each of the members of the club must:":                      "",
		"paint the boat of the club twice:":                          "",
		"Boats are told of in the book [source]:":                    "",
		"Then paint it:": "",
		"":               "",
	} {
		if got := aboutOfLead(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// TestLabelOfCode: a file or the like that a block of code is labelled with, in the marks of several generators.
func TestLabelOfCode(t *testing.T) {
	t.Parallel()
	for info, want := range map[string]string{
		"yaml [Taskfile.yml]": "Taskfile.yml", `js {1,3} title="src/a.js" showLineNumbers`: "src/a.js", "sh": "", "yaml a[0]": "", `yaml {linenos=true,title=""}`: "",
	} {
		if got := labelOfCode(info); got != want {
			t.Errorf("%q: got %q, want %q", info, got, want)
		}
	}
}
