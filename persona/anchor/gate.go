package anchor

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/reconcile/policy"
)

// Call is one use of a tool, before it happens, as a harness tells it.
type Call struct {
	Tool    string
	Paths   []string // what the tool would touch: absolute, or relative to Cwd
	Command string   // of a shell
	Session string   // the harness's own id of the session
	Cwd     string   // absolute
}

// Decision is the answer to a Call.
type Decision struct {
	Allow    bool      `json:"allow"`
	Code     Code      `json:"code,omitempty"`     // of the first reason, "" where it is allowed
	Reasons  []Problem `json:"reasons,omitempty"`  // why not, all of them
	Way      string    `json:"fix,omitempty"`      // the way out
	Token    string    `json:"token,omitempty"`    // of the session whose permit it was
	Warnings []Problem `json:"warnings,omitempty"` // of that permit
}

// Reason returns the decision on one line of some 4000 bytes at most: each code with what
// is wrong, then the way out.
func (d Decision) Reason() string {
	var b strings.Builder
	for _, p := range d.Reasons {
		b.WriteString(string(p.Code) + ": " + p.Text + "; ")
	}
	why := b.String()
	if len(why) > 3000 {
		why = why[:3000] + " …; "
	}
	return okf.OneLine(strings.ToValidUTF8(why+d.Way, "?"))
}

// Class is what a tool does to the world.
type Class string

// The classes. A tool of none of them is denied.
const (
	Reads   Class = "reads"   // looks, keeps its own lists, or talks to its user
	Writes  Class = "writes"  // changes the files that the call names
	Shell   Class = "shell"   // runs a command line
	Foreign Class = "foreign" // changes something the call does not tell: another program's tool
)

// toolNames are the names of harnesses' tools by class, in lower case. What reads
// the network is among the first, because what it may reach is the harness's own
// rule, and a search writes nothing here. What starts another agent is too: that
// agent's tools come to the gate themselves. A name that is missing is denied,
// so a new kind of tool waits until somebody has said what it does.
var toolNames = map[Class]string{
	Reads: `read view cat open_file read_file read_many_files read_text_file notebookread ls list list_dir list_directory list_files glob find_files
			grep grep_search search search_files codebase_search lsp diagnostics todoread todowrite todo_read todo_write update_plan think exitplanmode enterplanmode
			askuserquestion ask_user websearch webfetch web_search web_fetch task agent taskcreate taskget taskupdate tasklist taskoutput taskstop bashoutput killshell killbash
			skill slashcommand toolsearch listmcpresourcestool readmcpresourcetool`,
	Writes: `write edit multiedit notebookedit write_file edit_file create create_file replace replace_in_file str_replace insert append
			delete delete_file remove move rename copy mkdir create_directory`,
	Shell: `bash shell sh exec execute run command run_command execute_command run_shell_command terminal`,
}

// ClassOf returns the class of a tool by its name in any case, "" for one nobody knows.
// The tools of odd's own MCP server are known by their exact names only.
func ClassOf(tool string) Class {
	name := strings.ToLower(tool)
	for c, names := range toolNames {
		if slices.Contains(strings.Fields(names), name) {
			return c
		}
	}
	switch {
	case slices.Contains(ownTools(), tool):
		return Reads
	case strings.HasPrefix(name, "mcp__"):
		return Foreign
	}
	return ""
}

// ownTools returns the tools of odd's own MCP server that a session needs to be
// bound at all, or that only read: an agent that has nothing but MCP could not be
// bound otherwise. They are named letter by letter, as a harness spells them
// whose settings call the server odd; task_propose is not among them.
func ownTools() []string {
	return strings.Fields(`mcp__odd__anchor mcp__odd__search mcp__odd__get mcp__odd__related mcp__odd__expand mcp__odd__why
		mcp__odd__compile_persona mcp__odd__context mcp__odd__board_list`)
}

// Gatekeeper is what the gate may ask. Permits and Valid are a Desk's, asked only
// where a permit is needed.
type Gatekeeper struct {
	WorkTree  string                                   // absolute, without links
	Files     fs.FS                                    // the work tree
	Disk      fs.FS                                    // everything there is, from "/", with its links
	Commands  [][]string                               // how commands begin that a person lets every session with a permit run
	Checks    [][]string                               // commands that every session with a permit may run word by word
	Staged    func() ([]string, error)                 // paths that git's index has other than the last commit
	Secret    []string                                 // absolute paths, without links, that no tool may even read
	Token     string                                   // of the session, where the harness does not tell it
	Protected func(path string) (why string, yes bool) // World.Protected
	Permits   func(harness string) ([]Verdict, error)  // Desk.Permits
	Valid     func(token, role string) Verdict         // Desk.HasValid
}

// Decide judges a call. It denies what it does not understand.
func Decide(c Call, g Gatekeeper) Decision {
	switch ClassOf(c.Tool) {
	case Reads:
		return g.decideByGrant(c, "read something else", nil, policy.Action{Kind: policy.Read, Paths: c.fullPaths(), In: g.place()})
	case Writes:
		return g.decideWrite(c)
	case Shell:
		return g.decideShell(c)
	case Foreign:
		return g.decideByGrant(c, "", nil, policy.Action{Kind: policy.Call, Tool: c.Tool, Changes: true})
	}
	return deny("write with a tool odd knows, or ask a person to have this one named", Problem{
		Code: ToolUnknown, At: "tool", Text: "nobody has said what this tool does", Found: c.Tool})
}

// fullPaths returns what the tool would touch from "/", as it stands.
func (c Call) fullPaths() (out []string) {
	for _, p := range c.Paths {
		if !path.IsAbs(p) {
			p = c.Cwd + "/" + p
		}
		out = append(out, p)
	}
	return out
}

// place is the work tree, as a grant takes it.
func (g Gatekeeper) place() policy.Place {
	return policy.Place{Root: g.WorkTree, Files: g.Files, Disk: g.Disk, Staged: g.Staged}
}

// compileGrant returns what a session may do under a permit, if holds does not say why the permit does not hold.
func (g Gatekeeper) compileGrant(p Permit, holds func() error) policy.Grant {
	t := p.grantTerms()
	t.Commands, t.Checks = g.Commands, append(t.Checks, g.Checks...)
	return policy.Compile(t, policy.Live{Holds: holds, Guards: g.Protected, Hidden: g.Secret})
}

// decideWrite asks for a permit that covers every file the call names.
func (g Gatekeeper) decideWrite(c Call) Decision {
	const way = "work inside the work tree, on files that no rule protects"
	write := policy.Action{Kind: policy.Write}
	var bad []Problem
	for _, p := range c.Paths {
		rel, found := g.place().File(c.Cwd, p)
		write.Paths, bad = append(write.Paths, rel...), append(bad, problemsIn(found)...)
	}
	switch {
	case len(c.Paths) == 0:
		return deny("name the file", Problem{Code: CallUnread, At: "paths", Text: "the call names no file, so nobody can say whether it may be written"})
	case slices.Contains([]string{"move", "rename", "copy"}, strings.ToLower(c.Tool)) && len(c.Paths) < 2:
		return deny("name both files", Problem{Code: CallUnread, At: "paths", Text: "the call names one file, and the tool works on two"})
	case len(write.Paths) == 0:
		return deny(way, bad...)
	}
	return g.decideByGrant(c, way, bad, write)
}

// errUnbound is why no permit holds as long as none was looked for.
var errUnbound = errors.New("no permit was looked for")

// checkUnbound lists what no permit opens. bound is an act that needs one.
func (g Gatekeeper) checkUnbound(a policy.Action) (bad []Problem, bound bool) {
	err := g.compileGrant(Permit{}, func() error { return errUnbound }).Allow(a)
	if errors.Is(err, errUnbound) {
		return nil, true
	}
	return problemsFor(err), false
}

// decideByGrant asks first what no permit opens, and what needs none; bad is what the call's
// translation found, and way the way out of both. Then it asks the session's permit.
func (g Gatekeeper) decideByGrant(c Call, way string, bad []Problem, a policy.Action) Decision {
	more, bound := g.checkUnbound(a)
	switch bad = append(bad, more...); {
	case len(bad) > 0:
		return deny(way, bad...)
	case !bound:
		return Decision{Allow: true}
	}
	return g.decideByPermit(c, func(p Permit) []Problem { return problemsFor(g.compileGrant(p, isHeld).Allow(a)) })
}

func deny(way string, ps ...Problem) Decision {
	return Decision{Code: ps[0].Code, Reasons: ps, Way: way}
}
