package lint

import (
	"strings"
	"testing"
)

func TestName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, want string }{
		{"isAdmin", ""},
		{"größe", ""},
		{"имя", ""},
		{"名前", ""},
		{"Δη", ""},
		{"α", ""},
		{"µs", ""},
		{"max-turns_2.go", ""},
		{"", ""},
		{"is\u0410dmin", "name_confusable"},
		{"p\u0430ssword", "name_confusable"},
		{"\u0440\u0430\u0443\u0440\u0430\u04cf", "name_confusable"},
		{"\u039f\u039a", "name_confusable"},
		{"adm\u0131n", "name_confusable"},
		{"\uff41dmin", "name_compatibility"},
		{"\U0001d41a", "name_compatibility"},
		{"cafe\u0301", "name_compatibility"},
		{"a\u200bb", "name_invisible"},
		{"a\u202eb", "name_invisible"},
		{"a\u00a0b", "name_invisible"},
		{"a\x00b", "name_control"},
		{"a\xffb", "name_not_utf8"},
		{"max\u2011turns", "name_punctuation"},
		{"don\u2019t", "name_punctuation"},
	} {
		if got := codes(checkName(c.name)); got != c.want {
			t.Errorf("Name(%+q) = %q, want %q", c.name, got, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	const evil = "is\u0410dmin"
	for _, c := range []struct {
		name string
		f    File
		want string
		line int
	}{
		{"go identifier", File{Path: "a.go", After: []byte("package a\n\nfunc " + evil + "() {}\n")}, "name_confusable", 3},
		{"go string and comment", File{Path: "a.go", After: []byte("package a\n\n// " + evil + " \u2014 \u201cx\u201d\nvar s = \"" + evil + "\u200b\"\n")}, "", 0},
		{"there before", File{Path: "a.go", Before: []byte("package a\nvar " + evil + " int\n"), After: []byte("package a\nvar " + evil + ", b int\n")}, "", 0},
		{"a path", File{Path: "docs/" + evil + ".md", After: []byte("x")}, "name_confusable", 0},
		{"a path that was there", File{Path: "docs/" + evil + ".md", Before: []byte("x"), After: []byte("y")}, "", 0},
		{"removed", File{Path: "docs/" + evil + ".md", Before: []byte("x")}, "", 0},
		{"json key", File{Path: "a.json", After: []byte("{\"a\": [{\"b\": \"" + evil + "\"}],\n \"" + evil + "\": 1}")}, "name_confusable", 2},
		{"json value", File{Path: "a.json", After: []byte(`{"a": "` + evil + `", "b": ["` + evil + `"]}`)}, "", 0},
		{"yaml key", File{Path: "a.yml", After: []byte("a: 1\n  - \"" + evil + "\": 2\n")}, "name_confusable", 2},
		{"yaml value", File{Path: "a.yml", After: []byte("a: " + evil + "\n# " + evil + ": x\n")}, "", 0},
		{"toml table", File{Path: "a.toml", After: []byte("[a." + evil + "]\n")}, "name_confusable", 1},
		{"toml key", File{Path: "a.toml", After: []byte("\n" + evil + " = 1\n")}, "name_confusable", 2},
		{"frontmatter key", File{Path: "a.md", After: []byte("---\ntype: task\n" + evil + ": x\n---\n\n" + evil + ": prose\n")}, "name_confusable", 3},
		{"frontmatter id", File{Path: "a.md", After: []byte("---\nid: " + evil + "\n---\n")}, "name_confusable", 2},
		{"prose", File{Path: "a.md", After: []byte("# " + evil + "\n\n\u201cx\u201d \u2014 \u202ey\u202c " + evil + ": z\n")}, "", 0},
		{"a sign of no go", File{Path: "a.go", After: []byte("package a\n\nvar n = 3 \u2212 2 // \u2212\n")}, "name_punctuation", 3},
		{"nothing at all in go", File{Path: "a.go", After: []byte("package a\nvar m\u200bn = 1\n")}, "name_invisible", 2},
		{"direction in code", File{Path: "a.py", After: []byte("x\n# \u202e }\n")}, "text_direction", 2},
		{"direction in a go string", File{Path: "a.go", After: []byte("package a\nvar s = \"\u2066x\"\n")}, "text_direction", 2},
		{"direction that was there", File{Path: "a.py", Before: []byte("\u202e"), After: []byte("x\u202e")}, "", 0},
		{"a picture", File{Path: "a.png", After: []byte("\x89PNG\r\n\x00\u202e\U000E0041")}, "", 0},
		{"direction in code of another encoding", File{Path: "a.py", Before: []byte("# \xe9\n"), After: []byte("# \xe9\n# \u202e }\n")}, "text_direction", 2},
		{"hidden text", File{Path: "a.md", After: []byte("x\U000E0041\U000E0042")}, "text_hidden", 1},
		{"a flag", File{Path: "a.md", After: []byte("\U0001F3F4\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F")}, "", 0},
		{"hidden text behind a flag", File{Path: "a.md", After: []byte("\U0001F3F4\U000E0067\U000E0062\U000E007F\U000E0041")}, "text_hidden", 1},
	} {
		got := checkNames([]File{c.f})
		if codes(got) != c.want || c.line > 0 && got[0].Line != c.line {
			t.Errorf("%s: %v, want %q in line %d", c.name, got, c.want, c.line)
		}
	}
}

func FuzzNames(f *testing.F) {
	f.Add("a.go", "package a\nvar s = \u201cx\u201d")
	f.Add("a.json", `{"a":[{"b":1}],"c":{}}`)
	f.Add("a.md", "---\na: 1\n---\n")
	f.Add("a.yml", "- \"a\": 1\n")
	f.Add("a.toml", "[a]\nb = 1")
	f.Fuzz(func(t *testing.T, p, text string) {
		checkNames([]File{{Path: p, After: []byte(text)}})
		once, did := MendNames([]File{{Path: p, After: []byte(text)}})
		if len(did) == 0 && string(once[0].After) != text || len(did) > 0 && len(checkNames(once)) > 0 {
			t.Errorf("Mend(%q, %q) = %q, which it tells as %v", p, text, once[0].After, did)
		}
		if twice, again := MendNames(once); len(again) > 0 {
			t.Errorf("Mend(%q, %q) is not steady: %q, then %q", p, text, once[0].After, twice[0].After)
		}
		if strings.HasSuffix(p, ".txt") && len(did) > 0 {
			t.Errorf("Mend touched prose: %q", p)
		}
	})
}
