package policy

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is what an action does.
type Kind string

// The kinds. An action of any other kind is refused.
const (
	Read  Kind = "read"  // looks at files
	Write Kind = "write" // writes, moves or deletes files
	Run   Kind = "run"   // starts a program
	Call  Kind = "call"  // uses a tool of an MCP server
	Fetch Kind = "fetch" // reads a page of the web
	Emit  Kind = "emit"  // hands over files, which become the proposal
	Land  Kind = "land"  // puts handed-over files into the proposal
)

// Action is one thing that an agent asks to do.
type Action struct {
	Kind    Kind
	Paths   []string // Read, Write, Emit, Land: from the top of the repository, with slashes
	Argv    []string // Run: the words of the command
	Longer  bool     // Run: a check may be followed by more words
	Line    string   // Run: a command line of a shell, under a grant that is open
	In      Place    // where; Run: it must be somewhere
	Host    string   // Fetch
	Tool    string   // Call: mcp_SERVER_TOOL
	Changes bool     // Call: the server does not say that the tool changes nothing
}

// Terms are what a grant is compiled from: task, role, contract, permit, configuration
// and protected paths.
type Terms struct {
	Role     string     `json:"role,omitempty"`     // of the contract
	ReadOnly bool       `json:"read_only"`          // the contract changes nothing
	Files    bool       `json:"files"`              // the task asks for changes to files that are not atoms
	Paths    []string   `json:"paths,omitempty"`    // globs of the task; none is every path
	Bundle   string     `json:"bundle,omitempty"`   // the folder of atoms, in which no tool writes
	Allow    []string   `json:"allow_paths"`        // globs of the permit; none is every path
	Deny     []string   `json:"deny_paths"`         // globs that the permit takes out
	Protect  []string   `json:"protect,omitempty"`  // globs besides those that are always protected
	Commands [][]string `json:"commands,omitempty"` // how a command may begin
	Checks   [][]string `json:"checks,omitempty"`   // commands that run word for word, or followed by more words where the action says Longer
	Hosts    []string   `json:"hosts,omitempty"`    // of pages that may be read
	Servers  []Server   `json:"servers,omitempty"`  // MCP servers
	Open     bool       `json:"open,omitempty"`     // commands and tools that nobody listed are judged by what they write; it reads whatever is not hidden
}

// Server is one MCP server of a grant. Its tools are named mcp_SERVER_TOOL.
type Server struct {
	Prefix string   `json:"prefix"`          // of the names of its tools
	Every  bool     `json:"every,omitempty"` // all its tools may be used
	Tools  []string `json:"tools,omitempty"`
	Reads  []string `json:"reads,omitempty"` // tools that change nothing, a person says
	Trust  bool     `json:"trust,omitempty"` // it is believed where it says that a tool changes nothing
}

// Live is what a grant asks at the moment of an action.
type Live struct {
	Holds  func() error                               // why the permit does not hold; nil: there is no permit
	Guards func(path string) (why string, guard bool) // why no permit covers a path; nil: nothing is guarded
	Hidden []string                                   // absolute paths, without links, that an open grant does not let be read
	Lease  func(path string) (why string)             // why the lease does not hold a path, "" where it does; nil: nothing may land
}

// Grant is what one session may do. It is compiled once and does not change. The zero
// value lets a session read, and nothing else.
type Grant struct {
	terms Terms
	live  Live
}

// Compile makes a grant.
func Compile(t Terms, l Live) Grant { return Grant{t, l} }

// Terms returns what the grant was compiled from.
func (g Grant) Terms() Terms { return g.terms }

// GrantRule is one rung of the ladder that an action goes down.
type GrantRule struct {
	Code    string // of the refusal
	Meaning string // the action …
	Remedy  string
	kinds   []Kind
	refuse  func(Grant, Action) *Refusal
}

// GrantRules is the ladder, from the top. The first rule that refuses decides.
func GrantRules() []GrantRule {
	return []GrantRule{
		{"not_allowed", "is of a kind that odd does not know", "use one of the tools that the session has", nil, Grant.refuseKind},
		{"read_only_contract", "would change something, and the session may only read", "give the task to a role that may write", []Kind{Write, Run}, Grant.refuseReadOnly},
		{"path_outside_repo", "names a path outside of the scratch clone, or behind a symbolic link", "name a file of the repository, from its top", []Kind{Read, Write}, Grant.refusePaths},
		{"protected_path", "reads what is git's own, or writes a protected file, which only a person may change", "leave it out, and ask a person to make the change", []Kind{Read, Write}, Grant.refuseProtected},
		{"change_not_asked", "writes a file, and the task asks for no change of files", "a person sets the task's paths: odd task edit TASK --path GLOB", []Kind{Write}, Grant.refuseUnasked},
		{"in_bundle", "writes in the folder of atoms, which no tool does", "hand over an atom instead", []Kind{Write}, Grant.refuseAtom},
		{"outside_scope", "writes a path that the task does not name", "a person adds it to the task's paths: odd task edit TASK --path GLOB", []Kind{Write}, Grant.refuseScope},
		{"no_permit", "does something that the session's write permit does not cover", "keep to the paths of the permit: odd task permissions TASK", []Kind{Write, Emit}, Grant.refusePermit},
		{"outside_lease", "puts a file into the proposal that the lease does not hold", "a person changes the lease: odd gate evaluation", []Kind{Land}, Grant.refuseLease},
		{"command_not_allowed", "runs a command that [toolbox] run does not list, or that a rule about commands forbids", "a person lists it in [toolbox] run of odd.toml", []Kind{Run}, Grant.refuseCommand},
		{"host_not_allowed", "fetches from a host that [toolbox] web_hosts does not list", "a person lists it in [toolbox] web_hosts of odd.toml", []Kind{Fetch}, Grant.refuseHost},
		{"server_not_granted", "uses a tool of no MCP server that the session may use", "a person lists it under [[mcp]] in odd.toml", []Kind{Call}, Grant.refuseTool},
	}
}

// Allow is nil where the action may be done, and a *Refusal where it may not.
func (g Grant) Allow(a Action) error {
	for _, r := range GrantRules() {
		if r.kinds != nil && !slices.Contains(r.kinds, a.Kind) {
			continue
		}
		if no := r.refuse(g, a); no != nil {
			return no
		}
	}
	return nil
}

// refuseKind is the end in deny: no rule below it knows an action of another kind.
func (g Grant) refuseKind(a Action) *Refusal {
	if slices.Contains([]Kind{Read, Write, Run, Call, Fetch, Emit, Land}, a.Kind) {
		return nil
	}
	return Refuse("not_allowed", "odd does not know the kind of call %q, so it is not allowed", a.Kind)
}

func (g Grant) refuseReadOnly(Action) *Refusal {
	if !g.terms.ReadOnly {
		return nil
	}
	return Refuse("read_only_contract", "%s may not change anything", g.terms.sessionName())
}

func (t Terms) sessionName() string {
	if t.Role == "" {
		return "a session without a role"
	}
	return "a session in the role " + t.Role
}

// elsewhere are the rules of paths whose breaking can lead out of the repository. A file
// that breaks only another one may be read.
var elsewhere = strings.Fields("path_empty path_absolute path_escapes path_not_clean path_control")

// refusePaths refuses an action that names no path, and one whose paths have wrong letters.
func (g Grant) refusePaths(a Action) *Refusal {
	switch {
	case g.terms.Open && a.Kind == Read:
		return nil
	case len(a.Paths) == 0:
		a.Paths = []string{""}
	}
	return g.refuseLetters(a)
}

// refuseLetters judges paths by their letters. An adapter judges the links on their way.
func (g Grant) refuseLetters(a Action) *Refusal {
	found := findIn(a.Paths, CheckPath)
	if a.Kind == Read {
		found = slices.DeleteFunc(found, func(f Finding) bool { return !slices.Contains(elsewhere, f.Code) })
	}
	return refuseFor("path_outside_repo", "", found, sayFinding)
}

func (g Grant) refuseProtected(a Action) *Refusal {
	found := findIn(a.Paths, func(p string) []Finding {
		if a.Kind == Write {
			if found := CheckProtected(p, g.terms.Protect); len(found) > 0 {
				return found
			}
			return g.findGuarded(p)
		}
		switch {
		case g.terms.Open:
			return g.findHidden(a.In, a.In.Root, p)
		case InGit(p):
			return []Finding{{Code: "protected_git", Severity: Hard, How: ByBytes, Path: p, Text: fmt.Sprintf("what lies in .git is git's own: %q", p), Fix: "read a file of the repository"}}
		}
		return nil
	})
	return refuseFor("protected_path", "", found, sayFinding)
}

// InGit reports a path with a .git in it, in any spelling.
func InGit(p string) bool {
	return anyName(strings.Split(FoldPath(p), "/"), func(n string) bool { return n == ".git" || strings.HasPrefix(n, "git~") })
}

func findIn(paths []string, find func(string) []Finding) (out []Finding) {
	for _, p := range paths {
		out = append(out, find(p)...)
	}
	return out
}

// refuseLease asks whether the lease holds each path, as it is at that moment.
func (g Grant) refuseLease(a Action) *Refusal {
	if g.live.Lease == nil {
		return Refuse("outside_lease", "nothing says what the lease holds")
	}
	for _, p := range a.Paths {
		if why := g.live.Lease(p); why != "" {
			return Refuse("outside_lease", "%s", why)
		}
	}
	return nil
}

func sayFinding(f Finding) string { return strings.TrimSuffix(f.Text+"; "+f.Fix, "; ") }

func (g Grant) refuseUnasked(Action) *Refusal {
	if g.terms.Files {
		return nil
	}
	return Refuse("change_not_asked", "the task allows no file changes; a person can set paths with odd task edit --path GLOB")
}

func (g Grant) refuseAtom(a Action) *Refusal {
	for _, p := range a.Paths {
		if g.terms.Bundle != "" && strings.HasPrefix(p+"/", g.terms.Bundle+"/") {
			return Refuse("in_bundle", "%s is in the folder of atoms, which no tool writes; deliver it as an atom block", p)
		}
	}
	return nil
}

func (g Grant) refuseScope(a Action) *Refusal {
	for _, p := range a.Paths {
		if len(g.terms.Paths) > 0 && !MatchAnyGlob(g.terms.Paths, p) {
			return Refuse("outside_scope", "%s is outside of the task's paths: %s", p, strings.Join(g.terms.Paths, ", "))
		}
	}
	return nil
}

// The codes that findings about a permit have had since permits are on disk.
const (
	OutsidePermit = "A_OUTSIDE_PATHS"
	GuardedPath   = "A_PROTECTED_PATH"
	PathUnclear   = "A_CTX_ESCAPE"
	NoFile        = "A_CTX_NOTFILE"
)

// refusePermit asks whether the permit holds, and then whether it covers each path.
func (g Grant) refusePermit(a Action) *Refusal {
	const before = "outside-permit: "
	if g.live.Holds == nil {
		return Refuse("no_permit", before+"the session has no permit")
	}
	if err := g.live.Holds(); err != nil {
		return &Refusal{Code: "no_permit", Why: before + strings.ReplaceAll(err.Error(), "\n", "; "), cause: err}
	}
	paths := slices.Clone(a.Paths)
	slices.Sort(paths)
	no := refuseFor("no_permit", before, findIn(slices.Compact(paths), g.findUncovered), func(f Finding) string {
		s := f.Path + ": " + f.Code + ": " + f.Text
		if f.Fix != "" {
			s += "; expected " + f.Fix
		}
		return s
	})
	if no != nil {
		no.Why = strings.ReplaceAll(no.Why, "\n", "; ")
	}
	return no
}

// findUncovered says why the permit does not let its session write a path: it is guarded or
// none, a glob of Deny means it, in any letter case, or none of Allow does.
func (g Grant) findUncovered(p string) []Finding {
	no := func(text, fix string) []Finding {
		return []Finding{{Code: OutsidePermit, Severity: Hard, How: ByBytes, Path: p, Text: text, Fix: fix}}
	}
	if found := g.findGuarded(p); found != nil {
		return found
	}
	for _, f := range CheckPath(p) {
		return no(f.Text, "")
	}
	if InGit(p) {
		return no("the path is git's own and not of the work tree", "")
	}
	if d := g.Denies(p); d != "" {
		return no(fmt.Sprintf("the rules of the role %s forbid to write %s", g.terms.Role, d), g.terms.Writable())
	}
	if len(g.terms.Allow) > 0 && !MatchAnyGlob(g.terms.Allow, p) {
		return no("the path is outside of your write permit", g.terms.Writable())
	}
	return nil
}

// Denies returns the glob that the permit takes out and that means a path, in any letter
// case, "" for none.
func (g Grant) Denies(p string) string {
	for _, d := range g.terms.Deny {
		if MatchGlob(d, p) || MatchGlob(FoldPath(d), FoldPath(p)) {
			return d
		}
	}
	return ""
}

func (g Grant) findGuarded(p string) []Finding {
	if g.live.Guards == nil {
		return nil
	}
	why, yes := g.live.Guards(p)
	if !yes {
		return nil
	}
	return []Finding{{Code: GuardedPath, Severity: Hard, How: ByBytes, Path: p, Text: "no session may write it: " + why, Fix: "leave it to a person"}}
}

// Writable says which paths the permit covers.
func (t Terms) Writable() string {
	s := "the whole work tree"
	if len(t.Allow) > 0 {
		s = strings.Join(t.Allow, ", ")
	}
	if len(t.Deny) > 0 {
		s += " without " + strings.Join(t.Deny, ", ")
	}
	return s
}

func (g Grant) refuseHost(a Action) *Refusal {
	if slices.Contains(g.terms.Hosts, a.Host) {
		return nil
	}
	return Refuse("host_not_allowed", "the host %q is not allowed; a person can add it to [toolbox] web_hosts in odd.toml", a.Host)
}

// refuseTool holds the tool of a server to what a person listed of the servers that the
// contract grants. A tool changes something unless a person says otherwise, or the server
// does and is believed.
func (g Grant) refuseTool(a Action) *Refusal {
	i := slices.IndexFunc(g.terms.Servers, func(s Server) bool {
		return s.Every && strings.HasPrefix(a.Tool, s.Prefix) || slices.Contains(s.Tools, a.Tool)
	})
	switch {
	case g.terms.Open:
		return g.refuseWhole(a.Tool, "the tool does not say what it writes")
	case i < 0:
		return Refuse("server_not_granted", "the tool %s is not allowed; a person can list it under [[mcp]] in odd.toml", a.Tool)
	case slices.Contains(g.terms.Servers[i].Reads, a.Tool), !a.Changes && g.terms.Servers[i].Trust:
		return nil
	case g.terms.ReadOnly:
		return Refuse("read_only_contract", "%s may not change anything, and %s may change something; a person can list the tool in [[mcp]] reads in odd.toml", g.terms.sessionName(), a.Tool)
	}
	return g.refusePermit(Action{})
}
