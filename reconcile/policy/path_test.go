package policy

import (
	"slices"
	"strings"
	"testing"
)

func codes(fs []Finding) string {
	var out []string
	for _, f := range fs {
		if f.Fix == "" || f.Text == "" || f.Severity == "" || f.How == "" {
			return "incomplete finding " + f.Code
		}
		out = append(out, f.Code)
	}
	return strings.Join(out, " ")
}

func TestPath(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ path, want string }{
		{"", "path_empty"},
		{"/etc/passwd", "path_absolute"},
		{"C:/x", "path_absolute"},
		{"c:x", "path_absolute"},
		{"~/x", "path_expands"},
		{"-rf", "path_expands"},
		{"../x", "path_escapes"},
		{"a/../../x", "path_escapes"},
		{"a/..", "path_escapes"},
		{`a\b`, "path_backslash"},
		{`..\x`, "path_backslash"},
		{"a//b", "path_not_clean"},
		{"./a", "path_not_clean"},
		{"a/", "path_not_clean"},
		{"a\xffb", "path_not_utf8"},
		{"a\x00b", "path_control"},
		{"a\nb", "path_control"},
		{"a\u202eb", "path_invisible"},
		{"a\u200bb", "path_invisible"},
		{".g\u200cit/config", "path_invisible"},
		{"a\u00a0b", "path_invisible"},
		{"a\u3164b", "path_invisible"},
		{"a\ufe0fb", "path_invisible"},
		{"cafe\u0301.md", "path_not_nfc"},
		{"a./b", "path_trailing"},
		{".git /config", "path_trailing"},
		{"...", "path_trailing"},
		{"a?b", "path_reserved"},
		{"x.go:stream", "path_reserved"},
		{"NUL", "path_device"},
		{"docs/aux.go", "path_device"},
		{"Com1.txt", "path_device"},
		{"con .md", "path_device"},
		{"git~1", "path_short_name"},
		{"PROGRA~1.TXT", "path_short_name"},
		{"docs/gh" + "p_a1B2c3D4e5F6g7H8i9J0k1L2m3N4.md", "path_secret"},
		{"docs/token%3Da1B2c3D4e5F6g7H8i9J0", "path_secret"},
		{strings.Repeat("a", 256), "path_long"},
		{strings.Repeat("a/", 600) + "b", "path_long"},
		{"/../a\\\n", "path_absolute path_escapes path_backslash path_control"},

		{"café.md", ""},
		{"docs/Überblick – neu.md", ""},
		{"app/[id]/(group)/page.tsx", ""},
		{"a..b/...c", ""},
		{".hidden", ""},
		{"console.go", ""},
		{"com10.txt", ""},
		{"auxiliary", ""},
		{"foo.go~", ""},
		{"longername~1", ""},
		{"a~b/-x", ""},
		{"日本語.md", ""},
		{strings.Repeat("a", 255), ""},
	} {
		if got := codes(CheckPath(c.path)); got != c.want {
			t.Errorf("Path(%q) = %q, want %q", c.path, got, c.want)
		}
	}
}

// TestPathShown holds that a finding tells no credential that is in the path.
func TestPathShown(t *testing.T) {
	t.Parallel()
	for _, f := range CheckPath("docs//gh" + "p_a1B2c3D4e5F6g7H8i9J0k1L2m3N4.md") {
		if s := f.Path + f.Text; strings.Contains(s, "a1B2c3") || !strings.Contains(s, "docs//[redacted:github-token].md") {
			t.Errorf("%+v", f)
		}
	}
}

// TestPathEach breaks each rule with each sign and name that it is about.
func TestPathEach(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		strings.Repeat("a/", 511) + "bc": "", strings.Repeat("a/", 511) + "bcd": "path_long",
		"com0.go": "path_device", "com": "", "lpt": "", "nul-": "", "x.nul": "", "a:b": "path_absolute", "1:b": "path_reserved", "abcdefg~1": "", "a~b": "", "a~1234567": "", "a~1.abcd": "",
	}
	for _, sign := range `<>"|?*` {
		want["ab"+string(sign)+"c"] = "path_reserved"
	}
	for _, r := range []rune{0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0, 0xFE00, 0xE0100, 0x180B, 0xAD, 0x2066, 0xFEFF, 0xE0001, 0x2003} {
		want["a"+string(r)+"b"] = "path_invisible"
	}
	for _, name := range strings.Fields("con PRN aux nul com1 com9 lpt1 LPT9 com¹ lpt² com³ conin$ CONOUT$") {
		want[name], want["docs/"+name+".txt"] = "path_device", "path_device"
	}
	for p, code := range want {
		if got := codes(CheckPath(p)); got != code {
			t.Errorf("Path(%+q) = %q, want %q", p, got, code)
		}
	}
}

func TestPaths(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ paths, want string }{
		{"a.go b.go", ""},
		{"README.md readme.md", "path_clash"},
		{"stra\u00dfe strasse", "path_clash"},
		{"a a/b", "path_below_file"},
		{"A a/b/c", "path_below_file"},
		{"a.go a/b", ""},
		{"x/HEAD x/config x/objects/ab", "path_repository"},
		{"x/head x/refs/heads/main", "path_repository"},
		{"x/HEAD y/config", ""},
		{"x/head.go x/config", ""},
		{"a ../b", "path_escapes"},
	} {
		if got := codes(CheckPaths(strings.Fields(c.paths))); got != c.want {
			t.Errorf("Paths(%s) = %q, want %q", c.paths, got, c.want)
		}
	}
}

func TestMatch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		glob, path string
		want       bool
	}{
		{"docs/**", "docs/a/b.md", true},
		{"docs/**", "docs", true},
		{"docs/**", "docsx/a", false},
		{"docs/*", "docs/a/b", false},
		{"**/*.go", "a.go", true},
		{"**/*.go", "x/y/a.go", true},
		{"**/*.go", "x/y/a.md", false},
		{"a/**/z", "a/z", true},
		{"a/**/b/**/z", "a/q/b/b/c/z", true},
		{"a/**/b/**/z", "a/q/c/z", false},
		{"**", "anything/at/all", true},
		{"a?c", "abc", true},
		{"[", "[", false},
		{`\[id\]/x`, "[id]/x", true},
		{"", "a", false},
	} {
		if got := MatchGlob(c.glob, c.path); got != c.want {
			t.Errorf("Match(%q, %q) = %v", c.glob, c.path, got)
		}
	}
	for glob, ok := range map[string]bool{"docs/**": true, "*.md": true, "../x": false, "/x": false, "a/**b": false, "[": false, "": false} {
		if err := CheckGlob(glob); (err == nil) != ok {
			t.Errorf("BadGlob(%q) = %v", glob, err)
		}
	}
}

// slowMatch is the definition, tried every way.
func slowMatch(glob, name []string) bool {
	switch {
	case len(glob) == 0:
		return len(name) == 0
	case glob[0] == "**":
		return slowMatch(glob[1:], name) || len(name) > 0 && slowMatch(glob, name[1:])
	}
	return len(name) > 0 && matchName(glob[0], name[0]) && slowMatch(glob[1:], name[1:])
}

func FuzzMatch(f *testing.F) {
	f.Add("a/**/b/**/z", "a/q/b/b/c/z")
	f.Add("**/**/*", "x/y")
	f.Fuzz(func(t *testing.T, glob, p string) {
		if len(glob) > 24 || len(p) > 24 {
			return
		}
		if got, want := MatchGlob(glob, p), slowMatch(strings.Split(glob, "/"), strings.Split(p, "/")); got != want {
			t.Errorf("Match(%q, %q) = %v", glob, p, got)
		}
	})
}

func FuzzPath(f *testing.F) {
	for _, s := range []string{"a/b", "../x", "a\\..\\b", ".git", "C:/x", "git~1", "a\u200d"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, p string) {
		folded := FoldPath(p)
		if FoldPath(folded) != folded {
			t.Errorf("Fold(%q) = %q, again %q", p, folded, FoldPath(folded))
		}
		if len(CheckPath(p)) > 0 {
			return
		}
		if strings.HasPrefix(folded, "..") && !strings.HasPrefix(p, "..") || slices.Contains(strings.Split(folded, "/"), "..") {
			t.Errorf("Path accepts %q, which folds to %q", p, folded)
		}
	})
}
