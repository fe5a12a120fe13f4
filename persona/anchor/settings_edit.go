package anchor

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// HookCommand is what a harness runs before each tool.
const HookCommand = "odd anchor gate --hook claude"

// Where the hook stands in a settings file: a list of groups by event.
const (
	keyHooks = "hooks"
	keyEvent = "PreToolUse"
)

// fragment is the group that InstallHook adds. It matches every tool, because a
// tool that the gate never sees is open whatever the gate thinks of it; a hook
// that fails or is slower than its timeout in seconds blocks.
const fragment = `{"matcher":"*","hooks":[{"type":"command","command":"` + HookCommand + `","timeout":5,"onFailure":"block"}]}`

// HookState says how a settings file stands to the hook.
type HookState string

// The states, and the empty one for a file that is not there or does not
// mention it.
const (
	HookInstalled HookState = "installed"
	HookMissing   HookState = "missing"
	HookAltered   HookState = "altered"  // it is there and not as it was installed
	HookShadowed  HookState = "shadowed" // the file turns every hook off
)

// CheckHook says how a settings file stands to the hook, at which line and why;
// nil is a file that is not there. The error is a SettingsError.
func CheckHook(file string, b []byte) (state HookState, line int, why string, err error) {
	if b == nil {
		return HookMissing, 0, "no such file", nil
	}
	s, err := readSettings(file, b)
	if err != nil {
		return "", 0, "", err
	}
	if i, ok := s.top.get("disableAllHooks"); ok && s.decode(s.top.members[i].value) != false {
		return HookShadowed, s.line(s.top.members[i].from), "disableAllHooks turns every hook off", nil
	}
	found, err := s.find()
	if err != nil {
		return "", 0, "", err
	}
	for _, f := range found {
		if f.why != "" {
			return HookAltered, s.line(f.at), f.why, nil
		}
	}
	switch len(found) {
	case 0:
		return HookMissing, 0, "no hook of odd", nil
	case 1:
		return HookInstalled, s.line(found[0].at), "", nil
	}
	return HookAltered, s.line(found[1].at), "the hook stands there more than once", nil
}

// InstallHook adds the hook to a settings file; nil is a file that is not there.
// Where it stands already nothing changes, an altered one is replaced. No byte
// outside the new group, the brackets it needs and one comma changes, and
// RemoveHook takes exactly these away again. The error is a SettingsError.
func InstallHook(file string, b []byte) ([]byte, error) {
	state, line, why, err := CheckHook(file, b)
	switch {
	case err != nil:
		return nil, err
	case state == HookInstalled:
		return b, nil
	case state == HookShadowed:
		return nil, SettingsError{file, line, why + "; delete the key first"}
	case state == HookAltered:
		if b, err = RemoveHook(file, b); err != nil {
			return nil, err
		}
	}
	if b == nil {
		return []byte(layout{"\n", "  "}.fill(`{"hooks":{"PreToolUse":[%]}}`, 0) + "\n"), nil
	}
	s, err := readSettings(file, b)
	if err != nil {
		return nil, err
	}
	to, text, depth := s.top, `"hooks": {"PreToolUse":[%]}`, 1
	if i, ok := to.get(keyHooks); ok {
		to, text, depth = to.members[i].value, `"PreToolUse": [%]`, 2
		if i, ok := to.get(keyEvent); ok {
			to, text, depth = to.members[i].value, `%`, 3
		}
	}
	return s.add(to, s.layout().fill(text, depth)), nil
}

// add puts a new member behind the last one of n. A member that comes alone into
// brackets which were there stands right behind the bracket: by that, cut knows
// whose brackets they are.
func (s settings) add(n node, text string) []byte {
	at, before := n.from+1, ""
	if k := len(n.members); k > 0 {
		last := n.members[k-1]
		at, before = last.value.to, ","+s.gap(n, k-1)
	}
	return slices.Concat(s.b[:at], []byte(before+text), s.b[at:])
}

// gap is the white space in front of a member.
func (s settings) gap(n node, i int) string {
	from := n.members[i].from
	at := from
	for at > n.from+1 && bytes.IndexByte([]byte(" \t\r\n"), s.b[at-1]) >= 0 {
		at--
	}
	return string(s.b[at:from])
}

// RemoveHook takes the hook out of a settings file, altered or not, and the
// brackets that were made for it. nil is a file that holds nothing else and was
// made for it. The error is a SettingsError.
func RemoveHook(file string, b []byte) ([]byte, error) {
	for b != nil {
		s, err := readSettings(file, b)
		if err != nil {
			return nil, err
		}
		found, err := s.find()
		if err != nil || len(found) == 0 {
			return b, err
		}
		b = s.cut(found[0].path)
	}
	return nil, nil
}

// cut deletes the member at a path of indexes and every bracket around it that
// then holds nothing and was made with it; nil is the whole file.
func (s settings) cut(path []int) []byte {
	chain := []node{s.top}
	for _, i := range path[:len(path)-1] {
		chain = append(chain, chain[len(chain)-1].members[i].value)
	}
	for k := len(path) - 1; k >= 0; k-- {
		n, i := chain[k], path[k]
		switch {
		case i > 0:
			return slices.Concat(s.b[:n.members[i-1].value.to], s.b[n.members[i].value.to:])
		case len(n.members) > 1:
			return slices.Concat(s.b[:n.members[0].from], s.b[n.members[1].from:])
		case s.gap(n, 0) == "":
			return slices.Concat(s.b[:n.members[0].from], s.b[n.members[0].value.to:])
		}
	}
	return nil
}

// hook is one command of odd's gate in the file: its path of indexes, its place,
// and why it is not as installed.
type hook struct {
	path []int
	at   int
	why  string
}

// find lists every command of the gate. A file whose hooks have another shape is
// refused: the harness may read what odd cannot.
func (s settings) find() ([]hook, error) {
	i, ok := s.top.get(keyHooks)
	if !ok {
		return nil, nil
	}
	events := s.top.members[i].value
	if events.kind != '{' {
		return nil, s.refuse(events.from, "hooks is no object; the harness reads none from it either")
	}
	j, ok := events.get(keyEvent)
	if !ok {
		return nil, nil
	}
	groups := events.members[j].value
	if groups.kind != '[' {
		return nil, s.refuse(groups.from, "hooks.PreToolUse is no list; the harness reads none from it either")
	}
	var all []hook
	for k, g := range groups.members {
		h, ok := g.value.get(keyHooks)
		if !ok || g.value.members[h].value.kind != '[' {
			continue
		}
		items := g.value.members[h].value.members
		for l, item := range items {
			if !s.gates(item.value) {
				continue
			}
			f := hook{path: []int{i, j, k}, at: item.from, why: s.differs(g.value, item.value)}
			if len(items) > 1 {
				f.path = append(f.path, h, l)
			}
			all = append(all, f)
		}
	}
	return all, nil
}

// gates reports whether an entry runs odd's gate, by whatever path.
func (s settings) gates(item node) bool {
	i, ok := item.get("command")
	if !ok {
		return false
	}
	command, _ := s.decode(item.members[i].value).(string)
	words := strings.Fields(command)
	for k := range words {
		program := strings.Trim(words[k], `"'`)
		if (program == "odd" || strings.HasSuffix(program, "/odd")) && len(words) > k+2 && words[k+1] == "anchor" && words[k+2] == "gate" {
			return true
		}
	}
	return false
}

// differs says what a group does otherwise than the one that is installed.
func (s settings) differs(group, item node) string {
	var want struct {
		Matcher string `json:"matcher"`
		Hooks   []any  `json:"hooks"`
	}
	if err := json.Unmarshal([]byte(fragment), &want); err != nil {
		panic("unreachable: " + err.Error())
	}
	if !reflect.DeepEqual(s.decode(item), want.Hooks[0]) {
		return "the entry is not as installed: want type command, command " + HookCommand + ", timeout 5, onFailure block and no more"
	}
	for _, m := range group.members {
		switch v := s.decode(m.value); {
		case m.name == "matcher" && v != want.Matcher && v != "":
			return "the matcher leaves tools out; want *"
		case m.name != "matcher" && m.name != keyHooks:
			return "the group has " + m.name + ", which may leave tools out"
		}
	}
	return ""
}

// layout is how a file is written: its line end and its step of indentation;
// without a line end everything stands on one line.
type layout struct{ end, step string }

// layout reads how the file is written off its first member.
func (s settings) layout() layout {
	if len(s.top.members) == 0 {
		return layout{"\n", "  "}
	}
	gap := s.gap(s.top, 0)
	_, step, ok := strings.Cut(gap, "\n")
	switch {
	case !ok:
		return layout{}
	case strings.Contains(gap, "\r\n"):
		return layout{"\r\n", step}
	}
	return layout{"\n", step}
}

// fill writes text with the fragment for its % at a depth of brackets. Every
// bracket opens with white space, by which cut knows it again.
func (l layout) fill(text string, depth int) string {
	text = strings.Replace(text, "%", fragment, 1)
	line := func() string {
		if l.end == "" {
			return " "
		}
		return l.end + strings.Repeat(l.step, depth)
	}
	var b strings.Builder
	quoted := false
	for i, c := range []byte(text) {
		if c == '"' {
			quoted = !quoted
		}
		switch {
		case quoted:
			b.WriteByte(c)
		case c == '{' || c == '[':
			depth++
			b.WriteString(string(c) + line())
		case c == '}' || c == ']':
			depth--
			b.WriteString(line() + string(c))
		case c == ',':
			b.WriteString(string(c) + line())
		case c == ':' && text[i+1] != ' ':
			b.WriteString(": ")
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
