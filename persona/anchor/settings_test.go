package anchor

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// What install adds to each kind of file, uninstall takes away to the byte.
func TestSettingsInstallThenRemoveIsNothing(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{
		"an empty object":                "{}",
		"an empty object and a line end": "{}\n",
		"an empty object with a space":   "{ }",
		"an empty object over two lines": "{\n}\n",
		"no hooks":                       "{\n  \"model\": \"m\"\n}\n",
		"no hooks on one line":           `{"model":"m"}`,
		"tabs":                           "{\n\t\"model\": \"m\",\n\t\"n\": [1, 2]\n}",
		"four spaces and CRLF":           "{\r\n    \"model\": \"m\"\r\n}\r\n",
		"a space before the comma":       "{\n  \"a\": 1 ,\n  \"b\": 2 \n}",
		"empty hooks":                    "{\n  \"hooks\": {}\n}\n",
		"empty hooks over two lines":     "{\n  \"hooks\": {\n  }\n}\n",
		"hooks for another event":        "{\n  \"hooks\": {\n    \"Stop\": []\n  },\n  \"z\": 1\n}\n",
		"an empty list":                  "{\n  \"hooks\": {\n    \"PreToolUse\": []\n  }\n}\n",
		"an empty list with a space":     `{"hooks":{"PreToolUse":[ ]}}`,
		"another hook":                   "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\n        \"matcher\": \"Bash\",\n        \"hooks\": []\n      }\n    ]\n  }\n}\n",
		"escapes in a name":              `{"h\u006foks": {"Stop": [{"hooks": [{"command": "a \"} ] b"}]}]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			thereAndBack(t, []byte(file))
		})
	}
	t.Run("no file", func(t *testing.T) {
		t.Parallel()
		thereAndBack(t, nil)
	})
}

// failer is what a test, a fuzz target and a property have in common.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

func thereAndBack(t failer, b []byte) {
	t.Helper()
	with, err := InstallHook("s.json", b)
	if err != nil {
		t.Fatalf("install into %q: %v", b, err)
	}
	if state, _, why, err := CheckHook("s.json", with); state != HookInstalled {
		t.Fatalf("after install it is %q, %s, %v:\n%s", state, why, err, with)
	}
	if again, err := InstallHook("s.json", with); err != nil || string(again) != string(with) {
		t.Fatalf("install twice: %v\n%s", err, again)
	}
	back, err := RemoveHook("s.json", with)
	if err != nil || string(back) != string(b) || (back == nil) != (b == nil) {
		t.Fatalf("there and back: %v\nhad  %q\ngot  %q\nwith %s", err, b, back, with)
	}
}

func TestSettingsOfANewFile(t *testing.T) {
	t.Parallel()
	want := `{
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "*",
        "hooks": [
          {
            "type": "command",
            "command": "odd anchor gate --hook claude",
            "timeout": 5,
            "onFailure": "block"
          }
        ]
      }
    ]
  }
}
`
	if got, err := InstallHook("s.json", nil); err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, got)
	}
	tabs, _ := InstallHook("s.json", []byte("{\n\t\"a\": 1\n}"))
	if !strings.HasPrefix(string(tabs), "{\n\t\"a\": 1,\n\t\"hooks\": {\n\t\t\"PreToolUse\": [\n\t\t\t{\n\t\t\t\t\"matcher\"") {
		t.Errorf("a file with tabs:\n%s", tabs)
	}
}

// Any object, written in any of the usual ways, with or without hooks.
func TestSettingsPropertyThereAndBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-z"\\{}\[\], \n]{0,6}`)
		other := rapid.MapOf(word, rapid.OneOf(word.AsAny(), rapid.Int().AsAny(), rapid.SliceOf(word).AsAny(), rapid.MapOf(word, word).AsAny()))
		doc := other.Draw(t, "doc")
		delete(doc, "disableAllHooks")
		if rapid.Bool().Draw(t, "hooks") {
			doc["hooks"] = rapid.MapOf(rapid.SampledFrom([]string{"PreToolUse", "Stop"}), rapid.SliceOf(other)).Draw(t, "events")
		}
		b, err := json.Marshal(doc)
		if step := rapid.SampledFrom([]string{"", " ", "  ", "\t"}).Draw(t, "step"); step != "" {
			b, err = json.MarshalIndent(doc, "", step)
		}
		if err != nil {
			t.Fatalf("%v", err)
		}
		b = append(b, rapid.SampledFrom([]string{"", "\n", "\r\n"}).Draw(t, "end")...)
		thereAndBack(t, b)
	})
}

func FuzzSettings(f *testing.F) {
	for _, s := range []string{"{}", `{"hooks":{"PreToolUse":[ ]}}`, "{\n\t\"a\": \"\\u00e9\"\n}", `{"a":1,"a":2}`, "[", `{"hooks":[]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		state, _, _, err := CheckHook("s.json", b)
		if err == nil && b != nil && state == HookMissing {
			thereAndBack(t, b)
		}
	})
}

func TestSettingsRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, file, want string }{
		{"nothing", "", "s.json:1: empty; write {} or delete the file first"},
		{"broken", "{\n  \"a\": 1,\n}\n", "s.json:3: invalid character '}'"},
		{"a comment", "{\n  // no\n}\n", "s.json:2: invalid character '/'"},
		{"cut off", "{\n  \"a\": [\n", "s.json:2: unexpected end of JSON input"},
		{"no object", "[]", "s.json:1: not a JSON object"},
		{"a name twice", "{\n  \"hooks\": {},\n  \"h\\u006foks\": {}\n}\n", `s.json:3: "hooks" stands twice`},
		{"hooks no object", "{\n\n  \"hooks\": []\n}\n", "s.json:3: hooks is no object"},
		{"events no list", `{"hooks": {"PreToolUse": {}}}`, "s.json:1: hooks.PreToolUse is no list"},
		{"Latin-1", "{\"a\": \"\xe9\"}", "s.json:1: not UTF-8"},
		{"too long", "{}" + strings.Repeat(" ", maxSettings), "s.json:1: longer than 1 MiB"},
		{"all hooks off", "{\n  \"disableAllHooks\": true\n}\n", "s.json:2: disableAllHooks turns every hook off"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if out, err := InstallHook("s.json", []byte(c.file)); err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got %v, want %s\n%s", err, c.want, out)
			}
		})
	}
}

// Every way of weakening the hook is seen, and install mends it.
func TestSettingsSeesWhatWasAltered(t *testing.T) {
	t.Parallel()
	whole, err := InstallHook("s.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, from, to, why string }{
		{"not blocking", `"block"`, `"allow"`, "the entry is not as installed"},
		{"no time", `"timeout": 5`, `"timeout": 0`, "the entry is not as installed"},
		{"in the background", `"timeout": 5,`, `"timeout": 5, "async": true,`, "the entry is not as installed"},
		{"another program", `"odd anchor gate --hook claude"`, `"./odd anchor gate --hook claude || true"`, "the entry is not as installed"},
		{"some tools", `"*"`, `"Bash"`, "the matcher leaves tools out"},
		{"a condition", `"matcher": "*",`, `"matcher": "*", "if": "Bash(ls)",`, "the group has if"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := []byte(strings.Replace(string(whole), c.from, c.to, 1))
			if state, line, why, err := CheckHook("s.json", b); state != HookAltered || line < 2 || !strings.HasPrefix(why, c.why) {
				t.Errorf("%q line %d, %s, %v", state, line, why, err)
			}
			if again, err := InstallHook("s.json", b); err != nil || string(again) != string(whole) {
				t.Errorf("installed again: %v\n%s", err, again)
			}
		})
	}
}

func TestSettingsRemoveKeepsTheNeighbour(t *testing.T) {
	t.Parallel()
	ours := `{"type": "command", "command": "odd anchor gate --hook claude"}`
	for _, c := range []struct{ file, want string }{
		{`{"hooks": {"PreToolUse": [{"hooks": [` + ours + `, {"command": "b"}]}]}}`, `{"hooks": {"PreToolUse": [{"hooks": [{"command": "b"}]}]}}`},
		{`{"hooks": {"PreToolUse": [{"hooks": [{"command": "b"}, ` + ours + `]}]}}`, `{"hooks": {"PreToolUse": [{"hooks": [{"command": "b"}]}]}}`},
		{`{"hooks": { "PreToolUse": [ {"hooks": [` + ours + `]}, {"hooks": [` + ours + `]} ]}, "a": 1}`, `{"a": 1}`},
		{`{"a": 1}`, `{"a": 1}`},
	} {
		if got, err := RemoveHook("s.json", []byte(c.file)); err != nil || string(got) != c.want {
			t.Errorf("%s\ngot  %s %v\nwant %s", c.file, got, err, c.want)
		}
	}
}
