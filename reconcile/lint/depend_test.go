package lint

import "testing"

func TestDepend(t *testing.T) {
	t.Parallel()
	const mod = "module example.org/x\n\ngo 1.26\n\nrequire (\n"
	gomod := func(lines string) string { return mod + lines + ")\n" }
	for _, c := range []struct{ name, path, before, after, want string }{
		{"added", "go.mod", gomod("\tgithub.com/a/b v1.0.0\n"), gomod("\tgithub.com/a/b v1.0.0\n\tgithub.com/other/thing v1.2.0\n"), ""},
		{"upgraded", "go.mod", gomod("\tgithub.com/a/b v1.0.0\n"), gomod("\tgithub.com/a/b v1.9.0\n"), ""},
		{"downgraded", "go.mod", gomod("\tgithub.com/a/b v1.9.0\n"), gomod("\tgithub.com/a/b v1.10.0-rc1\n"), ""},
		{"downgraded", "go.mod", gomod("\tgithub.com/a/b v1.10.0\n"), gomod("\tgithub.com/a/b v1.9.0\n"), "dependency_downgraded"},
		{"swapped for a look-alike", "go.mod", gomod("\tgithub.com/yuin/goldmark v1.8.7\n"), gomod("\tgithub.com/yuln/goldmark v1.8.7\n"), "dependency_lookalike"},
		{"look-alike beside it", "go.mod", gomod("\tgithub.com/yuin/goldmark v1.8.7\n"), gomod("\tgithub.com/yuin/goldmark v1.8.7\n\tgithub.com/yuin/go1dmark v1.8.7\n"), "dependency_lookalike"},
		{"swapped for another", "go.mod", gomod("\tgolang.org/x/mod v0.1.0\n"), gomod("\tgolang.org/x/net v0.1.0\n"), ""},
		{"a longer name", "go.mod", gomod("\tgithub.com/a/b v1.0.0\n"), gomod("\tgithub.com/a/b-fork v1.0.0\n"), "dependency_lookalike"},
		{"the next major version", "go.mod", gomod("\tgithub.com/a/b v1.0.0\n"), gomod("\tgithub.com/a/b/v2 v2.0.0\n"), "dependency_major"},
		{"replace", "go.mod", gomod("\tgithub.com/a/b v1.0.0\n"), gomod("\tgithub.com/a/b v1.0.0\n") + "replace github.com/a/b => ../b\n", "dependency_replace"},
		{"replace that was there", "go.mod", gomod("") + "replace github.com/a/b => ../b\n", gomod("\tgithub.com/c/d v1.0.0\n") + "replace github.com/a/b => ../b\n", ""},
		{"tool", "go.mod", gomod(""), gomod("") + "tool example.org/y\n", "dependency_tool"},
		{"toolchain", "go.mod", gomod(""), gomod("") + "toolchain go1.20.1\n", "dependency_tool"},
		{"a comment", "go.mod", gomod(""), "// replace a => b\n" + gomod(""), ""},
		{"garbage", "sub/go.mod", gomod(""), "modul x", "dependency_unparsed"},
		{"a new file", "go.mod", "", gomod("\tgithub.com/a/b v1.0.0\n"), ""},
		{"removed", "go.mod", gomod("\tgithub.com/a/b v1.0.0\n"), "", ""},

		{"another checksum", "go.sum", "a v1 h1:x\na v1/go.mod h1:y\n", "a v1 h1:z\na v1/go.mod h1:y\n", "dependency_sum"},
		{"more checksums", "go.sum", "a v1 h1:x\n", "a v1 h1:x\na v2 h1:z\n", ""},

		{"npm added", "package.json", `{"dependencies":{"react":"18.0.0"}}`, `{"dependencies":{"react":"18.0.0","react-dom":"18.0.0"}}`, ""},
		{"npm look-alike", "package.json", `{"dependencies":{"lodash":"4.0.0"}}`, `{"dependencies":{"lodahs":"4.0.0"}}`, "dependency_lookalike"},
		{"npm held more", "package.json", `{"dependencies":{"a":"^1.0.0"}}`, `{"dependencies":{"a":"1.2.0"}}`, ""},
		{"npm moved", "package.json", `{"dependencies":{"a":"1.0.0"}}`, `{"devDependencies":{"a":"1.0.0"}}`, ""},
		{"npm from git", "package.json", `{}`, `{"dependencies":{"a":"git+https://example.org/a"}}`, "dependency_source"},
		{"npm from a forge", "package.json", `{}`, `{"dependencies":{"a":"owner/a"}}`, "dependency_source"},
		{"npm under another name", "package.json", `{}`, `{"dependencies":{"a":"npm:b@1"}}`, "dependency_source"},
		{"npm hook", "package.json", `{"scripts":{"test":"x"}}`, `{"scripts":{"test":"x","postinstall":"y"}}`, "dependency_script"},
		{"npm hook changed", "package.json", `{"scripts":{"prepare":"x"}}`, `{"scripts":{"prepare":"y"}}`, "dependency_script"},
		{"npm script", "package.json", `{}`, `{"scripts":{"lint":"x"}}`, ""},
		{"npm override", "package.json", `{}`, `{"overrides":{"a":"1.0.0"}}`, "dependency_replace"},
		{"npm garbage", "package.json", `{}`, `{"dependencies":`, "dependency_unparsed"},

		{"pip added", "requirements.txt", "flask==1.0\n", "flask==1.0\nhttpx==0.2 # why\n", ""},
		{"pip same", "requirements-dev.txt", "Foo_Bar==1.0\n", "foo.bar==1.0\n", ""},
		{"pip look-alike", "requirements.txt", "requests==2.0\n", "reqeusts==2.0\n", "dependency_lookalike"},
		{"pip index", "requirements.txt", "flask==1.0\n", "--extra-index-url https://example.org\nflask==1.0\n", "dependency_source"},
		{"pip address", "requirements.txt", "", "a @ https://example.org/a.zip\n", "dependency_source"},
		{"pip folder", "requirements.txt", "", "-e ./a\n", "dependency_source"},
		{"pip include", "requirements.txt", "", "-r base.txt\nflask[async]~=1.0 ; python_version > '3'\n", ""},
		{"pip garbage", "requirements.txt", "", "flask one two\n", "dependency_unparsed"},
		{"another file", "requirements.md", "", "flask one two\n", ""},
	} {
		f := File{Path: c.path, Before: []byte(c.before), After: []byte(c.after)}
		if c.before == "" {
			f.Before = nil
		}
		if c.name == "removed" {
			f.After = nil
		}
		if got := codes(checkDependencies([]File{f})); got != c.want {
			t.Errorf("%s: %s: %q, want %q", c.path, c.name, got, c.want)
		}
	}
}

func FuzzDepend(f *testing.F) {
	f.Add("go.mod", "module x\nrequire a v1.0.0\n", "module x\nrequire b v1.0.0\n")
	f.Add("package.json", `{"dependencies":{"a":"1"}}`, `{"dependencies":{"b":"^1"}}`)
	f.Add("requirements.txt", "a==1 \\\n --hash=x", "-e .")
	f.Add("go.sum", "a b c", "a b d")
	f.Fuzz(func(t *testing.T, p, before, after string) {
		checkDependencies([]File{{Path: p, Before: []byte(before), After: []byte(after)}})
		if got := checkDependencies([]File{{Path: p, Before: []byte(after), After: []byte(after)}}); len(got) > 0 && got[0].Code != "dependency_unparsed" {
			t.Errorf("%s: a file against itself: %v", p, got)
		}
	})
}
