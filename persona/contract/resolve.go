package contract

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Resolve resolves the call, or returns every refusal. With refusals, the Contract is as
// complete as possible, so that --dry-run can show it.
//
// Defaults for what the call leaves out:
//
//   - The role follows from the mode, or is the only role of the profile. A profile that may
//     be validator and observer is a validator on audit and an observer elsewhere.
//   - The surface follows from the role: synthesis ledger for an explorer, conversation for
//     a planner and a general, code output for a builder and a resolver, audit for a
//     validator, the stream for an observer.
//   - The engagement is the only one of the surface, or agent.
//   - The voice is the persona's if there is one, or neutral.
//   - The artifact is that of the handoffs.
//
// The profile's settings for the surface replace those of the table.
func Resolve(c Call, w World) (Contract, Refusals) {
	r := resolver{call: c, world: w}
	r.setPersonas()
	r.setRole()
	r.setMode()
	r.setSurface()
	r.setOutput()
	r.applyOverride()
	r.checkRoles()
	r.checkHandoffs()
	r.setArtifact()
	r.setTools()
	r.setServers()
	r.noteRare()
	slices.Sort(r.out.Notes)
	r.out.Notes = slices.Compact(r.out.Notes)
	return r.out, r.no
}

// resolver is one resolution in progress.
type resolver struct {
	call  Call
	world World
	row   RoleRow
	known bool // row is set
	out   Contract
	no    Refusals
}

func (r *resolver) refuse(code, way, format string, args ...any) {
	r.no = append(r.no, Refusal{Code: code, Message: fmt.Sprintf(format, args...), Way: way})
}

func (r *resolver) add(no Refusal) { r.no = append(r.no, no) }

func (r *resolver) addNote(format string, args ...any) {
	r.out.Notes = append(r.out.Notes, fmt.Sprintf(format, args...))
}

// unknownRefusal returns the refusal of a name that is not in its list.
func unknownRefusal(err error) Refusal {
	u := new(Unknown)
	if !errors.As(err, &u) {
		return Refusal{Code: "unknown-name", Message: err.Error()}
	}
	return Refusal{Code: u.Refused(), Message: fmt.Sprintf("unknown %s %q", u.What, u.Name), Way: u.Way()}
}

func wayOf(err error) string { return unknownRefusal(err).Way }

// setPersonas finds the profile and those of the participants.
func (r *resolver) setPersonas() {
	r.out.WorkRole = r.call.WorkRole
	if r.call.Persona != "" {
		r.out.Persona = r.findPersona(r.call.Persona)
	}
	for _, ref := range r.call.Participants {
		p := r.findPersona(ref)
		if p == nil || p == r.out.Persona || slices.Contains(r.out.Participants, p) {
			continue
		}
		r.out.Participants = append(r.out.Participants, p)
	}
	slices.SortFunc(r.out.Participants, func(a, b *Profile) int { return strings.Compare(a.Ref(), b.Ref()) })
}

func (r *resolver) findPersona(ref string) *Profile {
	p, err := r.world.Roster.Find(ref)
	no := new(NoProfile)
	if errors.As(err, &no) {
		r.refuse(no.Code, no.Way, "%s", no.Message)
		return nil
	}
	_, version := splitRef(ref)
	if n := p.usageNote(version > 0); n != "" {
		r.addNote("%s", n)
	}
	return p
}

// setRole reads the role, or derives it from the rest of the call.
func (r *resolver) setRole() {
	role, err := r.askedRole()
	if err != nil {
		r.add(unknownRefusal(err))
		return
	}
	if role == DetectionOnly {
		role = r.detectionRole()
		r.addNote("the role detection-only is deprecated; read as %s", role)
	}
	if role == "" {
		if role = r.impliedRole(); role == "" {
			r.refuse("role-missing", "name one with --contract-role: "+roleNames(Roles()), "no contract role, and none follows from the call")
			return
		}
	}
	r.out.Role = role
	if c := r.customRole(role); c != nil {
		r.row, r.known = c.asRow(), true
		return
	}
	r.row, r.known = roleRow(role)
}

// askedRole returns the role that the call names: a role of canon, or one that the profile
// composes.
func (r *resolver) askedRole() (Role, error) {
	if r.call.Role == "" {
		return "", nil
	}
	if p := r.out.Persona; p != nil && p.Custom != nil && foldName(p.Custom.Name) == foldName(string(r.call.Role)) {
		return Role(p.Custom.Name), nil
	}
	return ParseRole(string(r.call.Role))
}

func (r *resolver) customRole(role Role) *Custom {
	if p := r.out.Persona; p != nil && p.Custom != nil && Role(p.Custom.Name) == role {
		return p.Custom
	}
	return nil
}

// detectionRole returns the role that detection-only means on the call's surface.
func (r *resolver) detectionRole() Role {
	if s, err := ParseSurface(string(r.call.Surface)); err == nil && s != Audit {
		return Observer
	}
	return Validator
}

// impliedRole returns the role of a call that names none.
func (r *resolver) impliedRole() Role {
	mode, _ := parseMode(string(r.call.Mode))
	if row, ok := modeRow(mode); ok {
		return row.Role
	}
	p := r.out.Persona
	switch {
	case p == nil:
		return ""
	case len(p.Roles) == 0 && p.Custom != nil:
		return Role(p.Custom.Name)
	case len(p.Roles) == 1:
		return p.Roles[0]
	case len(p.Roles) == 2 && slices.Contains(p.Roles, Validator) && slices.Contains(p.Roles, Observer):
		return r.detectionRole()
	}
	return ""
}

func (r *resolver) setMode() {
	var asked Mode
	if r.call.Mode != "" {
		m, err := parseMode(string(r.call.Mode))
		if err != nil {
			r.add(unknownRefusal(err))
		}
		asked = m
	}
	if !r.known {
		return
	}
	r.out.Mode = r.row.Mode
	switch {
	case asked == "" || asked == r.row.Mode:
	case r.row.Mode == "":
		r.refuse("mode-mismatch", "leave the mode out, or take the role "+roleOf(asked), "%s has no mode, and the call says %s", r.out.Role, asked)
	default:
		r.refuse("mode-mismatch", "leave the mode out, or take the role "+roleOf(asked), "%s works in %s, and the call says %s", r.out.Role, r.row.Mode, asked)
	}
}

func roleOf(m Mode) string {
	row, _ := modeRow(m)
	return string(row.Role)
}

// setSurface applies the profile's settings to the row of the surface, and sets the
// engagement.
func (r *resolver) setSurface() {
	name := r.row.Surface
	if r.call.Surface != "" {
		s, err := ParseSurface(string(r.call.Surface))
		if err != nil {
			r.add(unknownRefusal(err))
			return
		}
		name = s
	}
	row, ok := surfaceRow(name)
	if !ok {
		return
	}
	r.out.Surface = row.SurfaceRule
	if p := r.out.Persona; p != nil {
		if set, ok := p.Surfaces[name]; ok {
			r.out.Surface = set.applyTo(row.SurfaceRule)
			if why := whyUnmet(set.OutputSchema, r.row); why != "" {
				r.refuse("schema-unmet", "take output_schema out of the profile", "%s: surface_profiles.%s.output_schema is %s; %s", p.Ref(), name, set.OutputSchema, why)
			}
		} else if len(p.Surfaces) > 0 {
			r.addNote("%s says nothing of %s; the table's settings hold", p.Ref(), name)
		}
	}
	r.setEngagement(row)
}

// whyUnmet explains why no session of a role answers in a schema; "" if one does.
func whyUnmet(schema string, row RoleRow) string {
	switch {
	case schema == "" || schema == row.Schema:
		return ""
	case row.Schema == "":
		return "a " + string(row.Role) + " delivers no structured output"
	}
	return "a " + string(row.Role) + " can only answer in " + row.Schema
}

func (r *resolver) setEngagement(row SurfaceRow) {
	r.out.Engagement = Agent
	if row.Only != "" {
		r.out.Engagement = row.Only
	}
	if r.call.Engagement == "" {
		return
	}
	e, err := parseEngagement(string(r.call.Engagement))
	if err != nil {
		r.add(unknownRefusal(err))
		return
	}
	r.out.Engagement = e
	if row.Only != "" && row.Only != e {
		r.refuse("surface-engagement", "take the engagement "+string(row.Only)+", or another surface", "%s carries no %s: %s", row.Name, e, row.About)
	}
}

// setOutput sets the voice, the deliverable and the freshness.
func (r *resolver) setOutput() {
	r.out.Voice = VoiceNeutral
	if r.out.Persona != nil {
		r.out.Voice = VoicePersona
	}
	if r.call.Voice != "" {
		v, err := parseVoice(string(r.call.Voice))
		if err != nil {
			r.add(unknownRefusal(err))
		}
		r.out.Voice = v
	}
	r.out.Deliverable, r.out.Next, r.out.Bound = r.row.Schema, r.row.Next, r.row.Bound
	r.out.Freshness, r.out.Strict = r.row.Freshness, r.row.Freshness == FreshStrict
}

func (r *resolver) checkRoles() {
	for _, p := range append([]*Profile{r.out.Persona}, r.out.Participants...) {
		if p == nil || r.out.Role == "" || len(p.Roles) == 0 || slices.Contains(p.Roles, r.out.Role) {
			continue
		}
		r.refuse("role-not-allowed", "take one of them, or another persona", "%s may be %s, not %s", p.Ref(), rolesOf(p.Roles), r.out.Role)
	}
}

func rolesOf(list []Role) string {
	return joinOr(mapSlice(list, func(r Role) string { return string(r) }))
}

// setTools decides every tool.
func (r *resolver) setTools() {
	if !r.known {
		return
	}
	s := scope{role: r.row}
	if r.customRole(r.out.Role) != nil {
		s.role = r.toolRole()
	}
	switch {
	case len(r.out.Modes) > 0:
		s.modes, s.union = r.out.Modes, true
	case r.out.Mode != "":
		s.modes = []Mode{r.out.Mode}
	}
	r.out.Mutates = s.canMutate()
	if !r.out.Mutates {
		r.out.Bound = ""
	}
	r.out.Tools = s.chooseTools(r.call.Tools, r.add)
}

// toolRole returns the row of the role that a custom role takes its tools from, with the
// custom role's name and deliverable.
func (r *resolver) toolRole() RoleRow {
	row, _ := roleRow(r.out.Persona.Custom.Tools)
	row.Role, row.Schema, row.Mutates = r.out.Role, r.row.Schema, r.row.Mutates
	return row
}

func (r *resolver) noteRare() {
	if len(r.out.Modes) > 0 {
		r.addNote("rare: modes are collapsed; the journal tells of the start and of the end")
	}
	if v, why := Judge(r.out.Mode, r.out.Role, r.out.Surface.Name, r.out.Engagement); v == Rare {
		for _, reason := range why {
			r.addNote("rare: %s", reason)
		}
	}
}

// Hash returns the hex SHA-256 of the contract's canonical JSON, which the ledger keeps.
// Lists that are sets (participants, servers, handoffs, tools, notes) are sorted first, so
// the order of a call does not matter.
func (c Contract) Hash() string {
	c.Participants = sortBy(c.Participants, (*Profile).Ref)
	c.Handoffs = sortBy(c.Handoffs, func(h Handoff) string { return h.Path + " " + h.ID + " " + h.Blob })
	c.Tools = sortBy(c.Tools, func(t Tool) string { return t.Name })
	c.Servers, c.Notes = slices.Sorted(slices.Values(c.Servers)), slices.Sorted(slices.Values(c.Notes))
	b, err := json.Marshal(c)
	if err != nil {
		panic("unreachable: a contract is plain data: " + err.Error())
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func sortBy[T any](list []T, key func(T) string) []T {
	out := slices.Clone(list)
	slices.SortStableFunc(out, func(a, b T) int { return strings.Compare(key(a), key(b)) })
	return out
}
