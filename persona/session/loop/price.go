package loop

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/odd-cli/odd/persona/session"
)

const (
	million   = 1_000_000
	mostToken = 1 << 30 // of one answer; more is no count
	mostCost  = 1e12    // micro-USD of one answer; more is no cost
	perToken  = 3       // bytes of text; prose has more, dense code hardly fewer
)

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

// answerCost is what an answer cost in micro-USD, rounded up, and whether anybody knows.
// An answer of a model without a price has that of the model that was asked.
func (t *talk) answerCost(r Reply, n session.Tokens) (int64, bool) {
	p, priced := priceOf(t.o.Prices, cmp.Or(r.Model, t.o.Model))
	if !priced {
		p, priced = priceOf(t.o.Prices, t.o.Model)
	}
	switch {
	case t.o.Free:
		return 0, true
	case r.CostKnown && r.Cost >= 0:
		return min(r.Cost, mostCost), true
	case priced && n != (session.Tokens{}):
		return roundUp(n.Input*p.Input + n.Output*p.Output + n.CacheRead*p.CacheRead + n.CacheWrite*p.CacheWrite), true
	}
	return 0, false
}

// worstCaseCost is the most that the next answer is expected to cost: the longest there
// may be, and a question of the size it has. 0 where nobody knows a price.
func (t *talk) worstCaseCost() int64 {
	p, priced := priceOf(t.o.Prices, cmp.Or(t.usage.Model, t.o.Model))
	if !priced {
		p, priced = priceOf(t.o.Prices, t.o.Model)
	}
	if t.o.Free || !priced {
		return 0
	}
	return roundUp(t.estimateTokens()*max(p.Input, p.CacheWrite) + int64(t.o.MaxTokens)*p.Output)
}

// estimateTokens is how many tokens the conversation has: as many as the last answer
// told, and what came since by its bytes.
func (t *talk) estimateTokens() int64 {
	if size := t.questionBytes(); t.known > 0 && size >= t.sized {
		return t.known + tokensOf(size-t.sized)
	}
	return tokensOf(t.questionBytes())
}

func tokensOf(bytes int) int64 { return int64((bytes + perToken - 1) / perToken) }

// clampTokens returns counts that a count can be.
func clampTokens(n session.Tokens) session.Tokens {
	in := func(v int64) int64 { return min(max(v, 0), mostToken) }
	return session.Tokens{Input: in(n.Input), Output: in(n.Output), CacheRead: in(n.CacheRead), CacheWrite: in(n.CacheWrite)}
}

// roundUp returns micro-USD of millionths, rounded up.
func roundUp(millionths int64) int64 { return (millionths + million - 1) / million }

func formatDollars(micro int64) string { return fmt.Sprintf("$%d.%06d", micro/million, micro%million) }
