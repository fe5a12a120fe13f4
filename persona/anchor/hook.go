package anchor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/jsontree"
)

// MaxCall is the longest call that is read, in bytes. A longer one is denied.
const MaxCall = 10 << 20

// ReadHook reads what Claude Code gives its PreToolUse hook on stdin:
//
//	{"session_id": "…", "cwd": "/…", "hook_event_name": "PreToolUse", "tool_name": "Write",
//	 "tool_input": {"file_path": "/…", "content": "…"}}
//
// Names count letter by letter, and one that stands twice is an error, so that
// the gate never judges another value than the tool takes.
//
// The error is a Refusal.
func ReadHook(b []byte) (Call, error) { return refuseUnread(readHook(b)) }

func readHook(b []byte) (Call, error) {
	o, err := readObject(b)
	if err != nil {
		return Call{}, err
	}
	var event string
	var c Call
	err = errors.Join(o.ReadText("tool_name", &c.Tool), o.ReadText("session_id", &c.Session), o.ReadText("cwd", &c.Cwd), o.ReadText("hook_event_name", &event))
	switch {
	case err != nil:
		return Call{}, err
	case c.Tool == "":
		return Call{}, errors.New("the call names no tool")
	case event != "" && event != "PreToolUse":
		return Call{}, fmt.Errorf("it is about the event %q; the gate judges PreToolUse", event)
	}
	input, ok := o.Get("tool_input")
	if !ok || input.Kind != '{' {
		return Call{}, errors.New("tool_input is missing or no object")
	}
	in := object{input}
	if err := in.readPaths(&c.Paths); err != nil {
		return Call{}, fmt.Errorf("tool_input: %w", err)
	}
	if ClassOf(c.Tool) == Shell {
		for _, name := range []string{"cwd", "workdir", "working_directory", "directory", "dir_path"} {
			if _, ok := in.Get(name); ok {
				return Call{}, fmt.Errorf("tool_input: %s would run the command elsewhere; use cd", name)
			}
		}
		err = in.ReadText("command", &c.Command)
	}
	return c, err
}

// pathNames returns the names under which harnesses' tools say which files they mean.
func pathNames() []string {
	return []string{"file_path", "notebook_path", "path", "paths", "file", "files", "filename", "filepath", "target_file", "target_path",
		"old_path", "new_path", "source", "destination"}
}

// ReadCall reads a call of any other harness:
//
//	{"tool": "write", "paths": ["a.md"], "command": "", "session": "…", "cwd": "/…"}
//
// Only tool is required; a name that is none of these is an error.
// The error is a Refusal.
func ReadCall(b []byte) (Call, error) { return refuseUnread(readCall(b)) }

func readCall(b []byte) (Call, error) {
	o, err := readObject(b)
	if err != nil {
		return Call{}, err
	}
	known := []string{"tool", "paths", "command", "session", "cwd"}
	for _, m := range o.Members {
		if !slices.Contains(known, m.Name) {
			return Call{}, fmt.Errorf("unknown name %q; a call has tool, paths, command, session and cwd", okf.Visible(truncate(m.Name)))
		}
	}
	var c Call
	err = errors.Join(o.ReadText("tool", &c.Tool), o.readTexts("paths", &c.Paths), o.ReadText("command", &c.Command), o.ReadText("session", &c.Session), o.ReadText("cwd", &c.Cwd))
	if err == nil && c.Tool == "" {
		err = errors.New("the call names no tool")
	}
	return c, err
}

func readObject(b []byte) (object, error) {
	switch {
	case len(b) > MaxCall:
		return object{}, fmt.Errorf("the call is longer than %d MiB", MaxCall>>20)
	case len(bytes.TrimSpace(b)) == 0:
		return object{}, errors.New("there is no call on stdin")
	}
	top, bad := jsontree.ParseUnique(b)
	if bad != nil {
		return object{}, fmt.Errorf("stdin:%d: the call does not read: %w", 1+bytes.Count(b[:bad.Offset], []byte("\n")), bad)
	}
	if top.Kind != '{' {
		return object{}, errors.New("the call is no JSON object")
	}
	return object{top}, nil
}

// object is one JSON object whose members are read by name.
type object struct{ jsontree.Node }

// readTexts appends a member that is a string or a list of them.
func (o object) readTexts(name string, to *[]string) error {
	v, ok := o.Get(name)
	if !ok {
		return nil
	}
	all := []jsontree.Member{{Value: v}}
	if v.Kind == '[' {
		all = v.Members
	}
	for _, m := range all {
		if m.Value.Kind != '"' {
			return fmt.Errorf("%s holds what is no string", name)
		}
		*to = append(*to, m.Value.Text)
	}
	return nil
}

// readPaths appends every file that the object names, in whatever it holds: a list of
// edits may have a file each.
func (o object) readPaths(to *[]string) error {
	for _, m := range o.Members {
		in := object{m.Value}
		if slices.Contains(pathNames(), m.Name) && !(in.Kind == '[' && len(in.Members) > 0 && in.Members[0].Value.Kind == '{') {
			if err := o.readTexts(m.Name, to); err != nil {
				return err
			}
		} else if err := in.readPaths(to); err != nil {
			return err
		}
	}
	return nil
}

// Hook returns the decision as Claude Code reads it from a hook that exits 0: nothing
// for yes, so that the harness's own rules and questions still hold, and for no
// a document with the reason, which the model sees.
func (d Decision) Hook() []byte {
	if d.Allow {
		return nil
	}
	type output struct {
		Event    string `json:"hookEventName"`
		Decision string `json:"permissionDecision"`
		Reason   string `json:"permissionDecisionReason"`
	}
	b, err := json.Marshal(map[string]output{"hookSpecificOutput": {"PreToolUse", "deny", d.Reason()}})
	if err != nil {
		panic("unreachable: " + err.Error())
	}
	return append(b, '\n')
}

// Unjudged denies a call that could not be judged, and says why.
func Unjudged(err error) Decision {
	ps := problemsOf(err, GateFault, "gate")
	return deny(remedyOf(ps[0].Code), ps...)
}

func refuseUnread(c Call, err error) (Call, error) {
	if err != nil {
		return Call{}, Refusal{{Code: CallUnread, At: "call", Text: okf.Visible(err.Error())}}
	}
	return c, nil
}
