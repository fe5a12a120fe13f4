package contract

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/odd-cli/odd/okf"
)

// setStandings sets the standing of every profile: from the status of its atom and from
// what supersedes the atom, then from the highest version in force of its name.
func (r *Roster) setStandings(g *okf.Graph) {
	bad := map[*Profile]okf.Problem{}
	for _, p := range r.Profiles {
		a := g.ByID(p.ID)
		p.Standing = parseStanding(a.Status)
		res, err := g.Resolve(string(p.ID))
		if err != nil {
			bad[p] = problemOf(p, "break the circle", "%v", err)
			continue
		}
		for _, by := range res.InForce {
			if by.ID == p.ID {
				continue
			}
			p.Standing, p.SupersededBy = Superseded, string(by.ID)
			if q := r.carriedBy(by.ID); q != nil {
				p.SupersededBy = q.Ref()
			}
		}
	}
	r.dropProfiles(bad)
	for _, p := range r.Profiles {
		top := r.highestInForce(p.Name)
		if top == nil || top.Version <= p.Version || p.SupersededBy != "" {
			continue
		}
		p.SupersededBy = top.Ref()
		if p.Standing == InForce {
			p.Standing = Superseded
		}
	}
}

func parseStanding(status string) Standing {
	switch foldName(status) {
	case "draft":
		return Draft
	case "deprecated", "archived", "closed":
		return Deprecated
	case "superseded":
		return Superseded
	}
	return InForce
}

func (r *Roster) carriedBy(id okf.ID) *Profile {
	for _, p := range r.Profiles {
		if p.ID == id {
			return p
		}
	}
	return nil
}

// highestInForce returns the highest version of a name that is in force; nil if there is
// none.
func (r *Roster) highestInForce(name string) *Profile {
	var top *Profile
	for _, p := range r.Profiles {
		if p.Standing == InForce && foldName(p.Name) == foldName(name) && (top == nil || p.Version > top.Version) {
			top = p
		}
	}
	return top
}

// NoProfile is the error for a persona that cannot be used. Its code is unknown-persona,
// unknown-version, or persona-unreadable for a file that has errors.
type NoProfile struct{ Code, Message, Way string }

// Error names the persona and the way out.
func (e *NoProfile) Error() string { return e.Message + "; " + e.Way }

// Refused returns the reason code.
func (e *NoProfile) Refused() string { return e.Code }

// Find finds a profile by name, name@version (oddie@2, oddie@v2), the uri of its atom with
// or without a version, or the atom's id. A name without a version means the highest
// version in force, or else the highest. If a file cannot be read and may be the requested
// version, Find returns an error, because that one may be in force. The error is a
// *NoProfile.
func (r Roster) Find(ref string) (*Profile, error) {
	for _, p := range r.Profiles {
		if ref != "" && (p.URI == ref || string(p.ID) == ref && string(p.ID) != p.Name) {
			return p, nil
		}
	}
	name, version := splitRef(ref)
	var have []*Profile
	for _, p := range r.Profiles {
		if foldName(p.Name) == foldName(name) || p.URI == name && version > 0 {
			have = append(have, p)
		}
	}
	if u, ok := r.findBroken(ref, name, version); ok {
		return nil, &NoProfile{"persona-unreadable", fmt.Sprintf("persona %s cannot be read: %v", ref, u.problem), "mend the file; odd check lists everything"}
	}
	if len(have) == 0 {
		known := slices.Compact(mapSlice(r.Profiles, func(p *Profile) string { return p.Name }))
		err := &Unknown{What: "persona", Name: ref, Near: nearestNames(name, known), All: known}
		way := err.Way()
		if len(known) == 0 {
			way = "this bundle has no profile; write an atom of type persona"
		}
		return nil, &NoProfile{"unknown-persona", fmt.Sprintf("unknown persona %q", ref), way}
	}
	return pickVersion(have, name, version)
}

// pickVersion returns a version of one name; version 0 means any.
func pickVersion(have []*Profile, name string, version int) (*Profile, error) {
	best := have[len(have)-1]
	for _, p := range have {
		switch {
		case p.Version == version:
			return p, nil
		case p.Standing == InForce:
			best = p
		}
	}
	if version == 0 {
		return best, nil
	}
	return nil, &NoProfile{"unknown-version", fmt.Sprintf("%s has no version %d", name, version), "it has " + joinOr(mapSlice(have, (*Profile).Ref))}
}

// findBroken returns the unreadable profile that ref names or may name.
func (r Roster) findBroken(ref, name string, version int) (unreadable, bool) {
	for _, u := range r.broken {
		named := u.name != "" && foldName(u.name) == foldName(name) && (version == 0 || u.version == 0 || u.version == version)
		if named || ref != "" && (u.uri == ref || string(u.id) == ref) {
			return u, true
		}
	}
	return unreadable{}, false
}

// splitRef splits "oddie@2"; version is 0 if there is none.
func splitRef(ref string) (name string, version int) {
	m := regexp.MustCompile(`^(.+)@v?([0-9]{1,7})$`).FindStringSubmatch(ref)
	if m == nil {
		return ref, 0
	}
	n, err := strconv.Atoi(m[2])
	if err != nil || n == 0 {
		return ref, 0
	}
	return m[1], n
}

// usageNote returns what the user of a profile should know; "" for nothing.
func (p *Profile) usageNote(pinned bool) string {
	how := "not pinned"
	if pinned {
		how = "pinned"
	}
	switch {
	case p.Standing == Draft:
		return p.Ref() + " is a draft"
	case p.SupersededBy != "":
		return fmt.Sprintf("%s (%s) is superseded by %s", p.Ref(), how, p.SupersededBy)
	case p.Standing != InForce:
		return p.Ref() + " is " + string(p.Standing)
	}
	return ""
}
