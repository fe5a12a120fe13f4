package servers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/persona/session/cage"
	"github.com/odd-cli/odd/persona/session/endpoint"
)

// Agent is a program that starts the servers of its sessions itself, in its own
// cage: what it knows and reaches, they do.
type Agent struct {
	Env     []string     // names of the variables that a person passes on to it
	Network cage.Network // what it reaches
}

// Handed are those of the servers that may be handed to such an agent, and the
// others with the reason, a line each. odd holds none of them then, so there must be
// nothing to hold: no variable that the agent is not given itself, no files that it
// may not read, no narrower network, and no pinned list.
func Handed(all []Spec, a Agent) (out []Spec, kept []string) {
	for _, s := range all {
		var no []string
		for _, name := range append(slices.Clone(s.Env), s.TokenEnv) {
			if name != "" && !slices.Contains(a.Env, name) {
				no = append(no, "the agent is not given "+name+"; a person lists it in the agent's env too")
			}
		}
		if len(s.Read) > 0 {
			no = append(no, "the agent may not read what is listed under read")
		}
		if s.Pin != "" {
			no = append(no, "nobody would hold its list of tools to pin_sha256")
		}
		if len(s.Argv) > 0 && s.Network != cage.Allow && s.Network != a.Network {
			no = append(no, fmt.Sprintf("it would reach what the agent reaches; a person says network = %q if that is right", a.Network))
		}
		if len(no) == 0 {
			out = append(out, s)
		} else {
			kept = append(kept, s.Name+": "+strings.Join(no, "; "))
		}
	}
	return out, kept
}

// Own is odd's own server over the bundle in a tree, for such an agent: odd is the
// program's path. Its tools change nothing.
func Own(odd, tree string) Spec {
	return Spec{Name: "odd", Argv: []string{odd, "-C", tree, "mcp"}, Tools: strings.Fields("search get related expand why compile_persona context board_list")}
}

// Called is odd's name of a tool that an agent calls as mcp__SERVER__TOOL, or as other
// agents write that: SERVER_TOOL, mcp.SERVER.TOOL, or "TOOL (SERVER MCP Server)". ok is
// false where that is no tool that a person lets be used, of one of the servers.
func Called(all []Spec, name string) (tool string, ok bool) {
	for _, s := range all {
		for _, form := range []struct{ before, after string }{
			{"mcp__" + s.Name + "__", ""}, {"mcp." + s.Name + ".", ""}, {s.Name + "_", ""}, {"", " (" + s.Name + " MCP Server)"},
		} {
			own, is := strings.CutPrefix(name, form.before)
			own, ends := strings.CutSuffix(own, form.after)
			if is && ends && own != "" && !strings.ContainsAny(own, " \n") && s.Allows(own) {
				return toolName(s.Name, own), true
			}
		}
	}
	return "", false
}

// Callable are the tools of a server as such an agent is told of them: those that a
// person lists, or the server as a whole. A name that its list of tools could not hold
// as one is left out.
func (s Spec) Callable() []string {
	if slices.Contains(s.Tools, Every) {
		return []string{"mcp__" + s.Name}
	}
	var out []string
	for _, tool := range s.Tools {
		if strings.ContainsAny(tool, " ,():*") {
			continue
		}
		out = append(out, "mcp__"+s.Name+"__"+tool)
	}
	return out
}

// Token is the bearer token for the URL of the spec, "" for none.
func (s Spec) Token(environ []string) string {
	if s.TokenEnv == "" {
		return ""
	}
	return endpoint.Variable(environ, s.TokenEnv)
}
