package loop

import (
	"strings"

	"github.com/odd-cli/odd/persona/session"
)

// million tokens is what a price is for.
const million = 1_000_000

// priceOf is the price of a model: of its whole name, or else of the longest
// beginning that ends before a sign which sets a version off.
func priceOf(prices map[string]Price, model string) (Price, bool) {
	for name := model; name != ""; {
		if p, ok := prices[name]; ok {
			return p, true
		}
		i := strings.LastIndexAny(name, "-:@")
		if i < 0 {
			break
		}
		name = name[:i]
	}
	return Price{}, false
}

// cost is what an answer cost in micro-USD, rounded up, and whether anybody knows.
func (t *talk) cost(r Reply) (int64, bool) {
	switch p, priced := priceOf(t.o.Prices, r.Model); {
	case t.o.Free:
		return 0, true
	case r.CostKnown:
		return max(r.Cost, 0), r.Cost >= 0
	case priced && r.Tokens != (session.Tokens{}):
		n := r.Tokens
		return up(n.Input*p.Input + n.Output*p.Output + n.CacheRead*p.CacheRead + n.CacheWrite*p.CacheWrite), true
	}
	return 0, false
}

// up is micro-USD of millionths, rounded up.
func up(millionths int64) int64 { return (millionths + million - 1) / million }
