package irongate

import (
	"cmp"
	"fmt"
)

// The cost of one operation, in millionths of a US dollar, may not exceed
//
//	0.10 USD × route × complexity × 3, and lies between 0.05 and 5.00 USD.
//
// The factors are in tenths or hundredths so that no rounding is involved. The
// table follows the cost governor of the original, which had no factor for
// moderate and architectural work and so gave them the one for light work:
// moderate gets 1.5, between light and heavy, and architectural 4.5, above
// complex, for it asks for more and not for a third.
const (
	costBase    = 100_000
	costRoom    = 3
	costFloor   = 50_000
	costCeiling = 5_000_000
)

// routeFactors are in hundredths.
func routeFactors() map[string]int64 {
	return map[string]int64{"immediate": 500, "standard": 150, "complex": 400, "background": 50, "speculative": 25}
}

// complexityFactors are in tenths.
func complexityFactors() map[string]int64 {
	return map[string]int64{"trivial": 5, "simple": 8, "light": 10, "moderate": 15, "heavy": 20, "complex": 30, "architectural": 45}
}

// Ceiling returns what one operation of a route and a complexity may cost, in
// millionths of a US dollar. An unknown route counts as speculative and an
// unknown complexity as trivial, the cheapest there are.
func Ceiling(route, complexity string) int64 {
	r := cmp.Or(routeFactors()[route], routeFactors()["speculative"])
	c := cmp.Or(complexityFactors()[complexity], complexityFactors()["trivial"])
	return min(max(costBase*costRoom*r*c/1000, costFloor), costCeiling)
}

// Cost refuses the next call of an operation that has spent what it may. spent
// is in millionths of a US dollar and includes what is reserved for that call.
func Cost(spent int64, route, complexity string) []Finding {
	most := Ceiling(route, complexity)
	if spent <= most && spent >= 0 {
		return nil
	}
	text := fmt.Sprintf("a %s operation on the %s route would cost %.4f USD, more than %.4f", complexity, route, float64(spent)/1e6, float64(most)/1e6)
	if spent < 0 {
		text = fmt.Sprintf("the operation says it has spent %d millionths of a dollar", spent)
	}
	return []Finding{found("cost_ceiling", ByBytes, "", 0, text)}
}
