package persona

import (
	"fmt"
	"strings"

	"github.com/odd-cli/odd/okf"
)

// WhyNoRole says why a name is not that of a role, "" where it is.
func WhyNoRole(g *okf.Graph, role string) string {
	if a, err := g.Find(role); err == nil && isRole(a.Type) {
		return ""
	}
	roles := Roles(g)
	way := "the roles are " + strings.Join(roles, ", ")
	if near := okf.Nearest(role, roles); near != "" {
		way = "did you mean " + near + "?"
	} else if len(roles) == 0 {
		way = "there is none yet; a role is an atom of type role"
	}
	return fmt.Sprintf("no role %q; %s", role, way)
}

func isRole(typ string) bool { return plainKind(typ) == "role" }

// Roles returns the ids of the atoms of type role.
func Roles(g *okf.Graph) (ids []string) {
	for _, a := range g.OfType(isRole) {
		ids = append(ids, string(a.ID))
	}
	return ids
}
