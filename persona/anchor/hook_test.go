package anchor

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestReadHook(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in string
		want     Call
	}{
		{"write", `{"session_id":"s","transcript_path":"/t","cwd":"/w","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"/w/a","content":"x"},"tool_use_id":"u"}`,
			Call{Tool: "Write", Paths: []string{"/w/a"}, Session: "s", Cwd: "/w"}},
		{"notebook", `{"tool_name":"NotebookEdit","tool_input":{"notebook_path":"/w/n.ipynb"}}`, Call{Tool: "NotebookEdit", Paths: []string{"/w/n.ipynb"}}},
		{"shell", `{"tool_name":"Bash","tool_input":{"command":"ls \"a\"","description":"list"}}`, Call{Tool: "Bash", Command: `ls "a"`}},
		{"two names", `{"tool_name":"Edit","tool_input":{"file_path":"/a","path":"/b"}}`, Call{Tool: "Edit", Paths: []string{"/a", "/b"}}},
		{"a list", `{"tool_name":"mcp__f__write","tool_input":{"paths":["/a","/b"],"file":"/c"}}`, Call{Tool: "mcp__f__write", Paths: []string{"/a", "/b", "/c"}}},
		{"a file for each edit", `{"tool_name":"MultiEdit","tool_input":{"file_path":"/a","edits":[{"file_path":"/b","new_string":"x"},{"files":[{"path":"/c"}]}]}}`,
			Call{Tool: "MultiEdit", Paths: []string{"/a", "/b", "/c"}}},
		{"letters count", `{"tool_name":"Write","Tool_Name":"Read","tool_input":{"file_path":"/a","FILE_PATH":"/b"}}`, Call{Tool: "Write", Paths: []string{"/a"}}},
		{"an escaped name", `{"tool\u005fname":"Write","tool_input":{"file\u005fpath":"/a"}}`, Call{Tool: "Write", Paths: []string{"/a"}}},
	} {
		got, err := ReadHook([]byte(c.in))
		if d := cmp.Diff(c.want, got); err != nil || d != "" {
			t.Errorf("%s: %v %s", c.name, err, d)
		}
	}
}

// G13 to G15: what cannot be read is a refusal, never a call.
func TestReadHookRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"G13 empty", "", "there is no call on stdin"},
		{"G13 blank", " \n\t", "there is no call on stdin"},
		{"G14 malformed", `{"tool_name":`, "stdin:1: the call does not read: unexpected end"},
		{"G14 two documents", "{}\n{}", "stdin:2: the call does not read"},
		{"G14 Latin-1", "{\"a\":\"\xe9\"}", "not UTF-8"},
		{"G15 too long", `{"a":"` + strings.Repeat("x", MaxCall) + `"}`, "longer than 10 MiB"},
		{"a list", "[]", "no JSON object"},
		{"null", "null", "no JSON object"},
		{"no tool", `{"tool_input":{}}`, "names no tool"},
		{"a tool that is no string", `{"tool_name":1,"tool_input":{}}`, "tool_name is no string"},
		{"no input", `{"tool_name":"Write"}`, "tool_input is missing"},
		{"input no object", `{"tool_name":"Write","tool_input":"x"}`, "tool_input is missing"},
		{"a path no string", `{"tool_name":"Write","tool_input":{"file_path":7}}`, "file_path holds what is no string"},
		{"a path twice", `{"tool_name":"Write","tool_input":{"file_path":"/a","file_path":"/b"}}`, `"file_path" stands twice`},
		{"a tool twice", "{\"tool_name\":\"Read\",\n\"tool_name\":\"Write\",\"tool_input\":{}}", `stdin:2: the call does not read: "tool_name" stands twice`},
		{"a command no string", `{"tool_name":"Bash","tool_input":{"command":["rm"]}}`, "command is no string"},
		{"a command elsewhere", `{"tool_name":"Bash","tool_input":{"command":"ls","cwd":"/"}}`, "run the command elsewhere"},
		{"a command in a folder", `{"tool_name":"run_shell_command","tool_input":{"command":"ls","dir_path":"/"}}`, "run the command elsewhere"},
		{"another event", `{"hook_event_name":"PostToolUse","tool_name":"Write","tool_input":{}}`, `the event "PostToolUse"`},
	} {
		got, err := ReadHook([]byte(c.in))
		var no Refusal
		if !errors.As(err, &no) || no[0].Code != CallUnread || !strings.Contains(err.Error(), c.want) || !cmp.Equal(got, Call{}) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestReadCall(t *testing.T) {
	t.Parallel()
	got, err := ReadCall([]byte(`{"tool":"write","paths":["a","b"],"command":"","session":"s","cwd":"/w"}`))
	if d := cmp.Diff(Call{Tool: "write", Paths: []string{"a", "b"}, Session: "s", Cwd: "/w"}, got); err != nil || d != "" {
		t.Error(err, d)
	}
	for in, want := range map[string]string{
		`{"tool":"write","path":"a"}`:          `unknown name "path"`,
		`{"tool":"write","class":"reads"}`:     `unknown name "class"`,
		`{"paths":["a"]}`:                      "names no tool",
		`{"tool":"write","paths":[["a"]]}`:     "paths holds what is no string",
		`{"tool":"write","paths":{"a":"b"}}`:   "paths holds what is no string",
		`{"tool":"write","session":null}`:      "session is no string",
		`{"tool":"write","paths":null}`:        "paths holds what is no string",
		`{"tool":"exec","command":["rm","x"]}`: "command is no string",
	} {
		if _, err := ReadCall([]byte(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", in, err, want)
		}
	}
}

// A yes says nothing, so that the harness asks what it would have asked; a no is
// one document with its reason.
func TestDecisionAsAHook(t *testing.T) {
	t.Parallel()
	if b := (Decision{Allow: true}).Hook(); len(b) != 0 {
		t.Errorf("a yes says %s", b)
	}
	b := Unjudged(errors.New("line\nbreak \x1b[31m <b>")).Hook()
	var got map[string]map[string]string
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	out := got["hookSpecificOutput"]
	if out["hookEventName"] != "PreToolUse" || out["permissionDecision"] != "deny" || !strings.HasPrefix(out["permissionDecisionReason"], "A_GATE_FAULT: line") || strings.ContainsAny(out["permissionDecisionReason"], "\n\x1b") {
		t.Errorf("%s", b)
	}
}

// Whatever stands on stdin, a call is read or refused, and no value but a string
// of exactly that name gets into it.
func FuzzReadHook(f *testing.F) {
	f.Add([]byte(`{"tool_name":"Write","tool_input":{"file_path":"/a","path":["b"]},"cwd":"/"}`))
	f.Add([]byte(`{"tool":"exec","command":"ls","paths":["a"]}`))
	f.Add([]byte("{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"\\ud800\"}}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if c, err := ReadCall(b); err == nil {
			var m map[string]any
			if json.Unmarshal(b, &m) != nil || m["tool"] != c.Tool || len(m) > 5 {
				t.Errorf("%s read as %+v", b, c)
			}
		}
		c, err := ReadHook(b)
		if err != nil {
			return
		}
		var m map[string]any
		if json.Unmarshal(b, &m) != nil || m["tool_name"] != c.Tool {
			t.Errorf("%s read as %+v", b, c)
		}
		locked := Gatekeeper{
			WorkTree: "/w", Files: fstest.MapFS{}, Disk: fstest.MapFS{}, Protected: func(string) (string, bool) { return "", false },
			Permits: func(string) ([]Verdict, error) { return nil, nil },
		}
		if class := ClassOf(c.Tool); Decide(c, locked).Allow && class != Reads && class != Shell {
			t.Errorf("%s is open without a permit", b)
		}
	})
}
