package contract

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// checkHandoffs checks the handoffs against what the role reads. An override waives the
// transitions between two modes that it combines, but never the journal entry.
func (r *resolver) checkHandoffs() {
	r.out.Handoffs = sortBy(r.call.Handoffs, func(h Handoff) string { return h.Path + " " + h.ID })
	r.out.Handoffs = slices.CompactFunc(r.out.Handoffs, func(a, b Handoff) bool { return a.Path == b.Path && a.ID == b.ID && a.Blob == b.Blob })
	if !r.known {
		return
	}
	given, named := 0, map[string]string{}
	for _, h := range r.out.Handoffs {
		if r.checkHandoff(h) {
			given++
		}
		r.addTaint(h.Tainted)
		r.checkFindings(h, named)
	}
	if r.row.Needs && given == 0 && !slices.ContainsFunc(r.row.Reads, r.isCollapsed) {
		r.refuse("handoff-missing", "hand in the "+r.row.Reads[0].describe()+" handoff of the session before, or declare an override",
			"%s is downstream and was handed nothing it may read", r.out.Role)
	}
}

// checkFindings refuses two handoffs with a finding of the same name: a remedy could not
// say which one it answers, and one remedy would pass for both.
func (r *resolver) checkFindings(h Handoff, named map[string]string) {
	var twice []string
	for id := range h.Findings {
		if other := named[id]; other != "" {
			twice = append(twice, id+" ("+other+")")
			continue
		}
		named[id] = cmp.Or(h.Path, h.ID)
	}
	if len(twice) > 0 && r.row.Bound == "findings" {
		slices.Sort(twice)
		r.refuse("findings-collide", "odd agent handoff merge joins them into one", "%s names findings that another handoff names too: %s", cmp.Or(h.Path, h.ID), strings.Join(twice, ", "))
	}
}

// checkHandoff checks one handoff and reports whether the role reads its transition.
func (r *resolver) checkHandoff(h Handoff) bool {
	pair := Pair{h.From, h.To}
	name := cmp.Or(h.Path, h.ID)
	if !slices.ContainsFunc(Transitions(), func(t Transition) bool { return t.Pair == pair }) {
		r.refuse("handoff-wrong-transition", "mend from and to", "%s: %s is not a transition that is handed over", name, pair.describe())
		return false
	}
	reads := slices.Contains(r.row.Reads, pair)
	switch {
	case r.row.Mode == "": // general and observer read anything and need nothing
		if len(h.Missing) > 0 {
			r.addNote("%s lacks %s", name, strings.Join(h.Missing, ", "))
		}
		return true
	case !reads && !r.isCollapsed(pair):
		r.refuse("handoff-wrong-transition", "hand in one of "+joinOr(mapSlice(r.row.Reads, Pair.describe)), "%s is %s, which %s may not read", name, pair.describe(), r.out.Role)
		return false
	case len(h.Missing) > 0 && !r.isCollapsed(pair):
		r.refuse("handoff-incomplete", "complete it, or send it back", "%s lacks %s", name, strings.Join(h.Missing, ", "))
	}
	if h.Journal == "" {
		r.refuse("journal-missing", "add the journal entry of the transition; no override waives it", "%s: no journal entry tells of %s", name, pair.describe())
	}
	return reads
}

// isCollapsed reports a transition between two modes that the override combines.
func (r *resolver) isCollapsed(p Pair) bool {
	return slices.Contains(r.out.Modes, p.From) && slices.Contains(r.out.Modes, p.To)
}

func (p Pair) describe() string {
	return cmp.Or(string(p.From), "nothing") + " to " + cmp.Or(string(p.To), "nothing")
}

// addTaint adds the reasons of a taint to the contract, each once.
func (r *resolver) addTaint(why string) {
	have := strings.Split(r.out.Tainted, "; ")
	for one := range strings.SplitSeq(why, "; ") {
		if one != "" && !slices.Contains(have, one) {
			have = append(have, one)
		}
	}
	r.out.Tainted = strings.Trim(strings.Join(have, "; "), "; ")
}

// setArtifact sets what the session works on, and refuses an artifact that another session
// works on in another mode.
func (r *resolver) setArtifact() {
	r.out.Artifact = cleanArtifact(r.call.Artifact)
	for _, h := range r.out.Handoffs {
		switch a := cleanArtifact(h.Artifact); {
		case a == "" || a == r.out.Artifact:
		case r.out.Artifact == "":
			r.out.Artifact = a
		case r.row.Mode != "":
			r.refuse("artifact-differs", "work on one artifact a session", "%s is about %s, and the session about %s", cmp.Or(h.Path, h.ID), a, r.out.Artifact)
		}
	}
	if r.known && r.row.NeedsArtifact && r.out.Artifact == "" {
		r.refuse("artifact-missing", "name what is to be judged: --artifact, or artifact in the handoff", "%s without an artifact", r.out.Role)
	}
	for _, b := range r.world.Busy {
		if r.out.Artifact != "" && cleanArtifact(b.Artifact) == r.out.Artifact && !r.canShare(b.Mode) {
			r.refuse("artifact-busy", "wait for it, or work in the same mode", "%s is held in %s by %s", r.out.Artifact, cmp.Or(string(b.Mode), "no mode"), b.Session)
		}
	}
}

// canShare reports whether the session may work on an artifact while another does in mode
// m: both must be in exactly that mode. An observer changes nothing and may look at any
// time.
func (r *resolver) canShare(m Mode) bool {
	if r.out.Role == Observer {
		return true
	}
	return len(r.out.Modes) == 0 && m == r.out.Mode
}

// cleanArtifact returns an artifact in the form that is compared: a path without "./".
func cleanArtifact(artifact string) string {
	artifact = strings.TrimSpace(artifact)
	if artifact == "" || strings.Contains(artifact, "://") {
		return artifact
	}
	return path.Clean(artifact)
}

// isBuiltin reports a server that is odd itself.
func isBuiltin(name string) bool { return foldName(name) == "odd" }

// setServers collects the operational and the requested MCP servers, and those that the
// configuration grants. It never drops an operational server: a session whose persona lacks
// one is refused.
func (r *resolver) setServers() {
	var listed []string
	for _, p := range append([]*Profile{r.out.Persona}, r.out.Participants...) {
		if p == nil {
			continue
		}
		listed = append(listed, p.TaskRelevant...)
		for _, s := range p.Operational {
			r.addOperational(p, s)
		}
	}
	known := append(append(slices.Clone(r.world.Servers), listed...), r.out.Servers...)
	slices.Sort(known)
	for _, asked := range r.call.MCP {
		s, err := parseName("server", asked, slices.Compact(known))
		switch {
		case err != nil:
			r.add(unknownRefusal(err))
		case r.hasServer(s) || isBuiltin(s):
			r.addServer(s)
		case !slices.ContainsFunc(listed, func(l string) bool { return foldName(l) == foldName(s) }):
			r.refuse("server-not-listed", "add it to mcp_servers.task_relevant of the profile", "server %s: no profile of this session lists it as task relevant", s)
		case !r.isConfigured(s):
			r.refuse("server-not-configured", "add [[mcp]] with its name to odd.toml, or leave it out", "server %s is not configured", s)
		case r.out.Strict:
			r.refuse("server-not-listed", "leave it out; the operational servers of the profile stay", "server %s: a session with a fresh context has no server for its task", s)
		default:
			r.addServer(s)
		}
	}
	for _, g := range r.world.Granted {
		if (len(g.Roles) == 0 || slices.Contains(g.Roles, r.out.Role)) && !r.out.Strict && r.out.Role != Validator {
			r.addServer(g.Server)
		}
	}
	slices.Sort(r.out.Servers)
}

func (r *resolver) addOperational(p *Profile, s string) {
	if !isBuiltin(s) && !r.isConfigured(s) {
		r.refuse("server-not-configured", "add [[mcp]] with its name to odd.toml; an operational server is never left out", "%s needs the server %s, which is not configured", p.Ref(), s)
		return
	}
	r.addServer(s)
}

func (r *resolver) isConfigured(s string) bool {
	return slices.ContainsFunc(r.world.Servers, func(have string) bool { return foldName(have) == foldName(s) })
}

func (r *resolver) hasServer(s string) bool {
	return slices.ContainsFunc(r.out.Servers, func(have string) bool { return foldName(have) == foldName(s) })
}

func (r *resolver) addServer(s string) {
	if !r.hasServer(s) {
		r.out.Servers = append(r.out.Servers, s)
	}
}
