package exec

import (
	"encoding/json"
	"math/big"
	"regexp"
	"strconv"

	"github.com/odd-cli/odd/persona/session"
)

// ClassOf is the class of an agent program's failure by its words alone.
func ClassOf(said string) session.Class {
	if m := regexp.MustCompile(`API Error: (\d{3})\b`).FindStringSubmatch(said); m != nil {
		status, _ := strconv.Atoi(m[1])
		return session.ClassOfStatus(status, said)
	}
	if session.Overflows(said) {
		return session.ContextOverflow
	}
	for _, w := range []struct {
		class session.Class
		words string
	}{
		{session.Permanent, `not logged in|/login|invalid api key|authentication|credit balance|unknown option|no conversation found|issue with the selected model`},
		{session.RateLimited, `rate limit|usage limit|hit your limit|limit reached`},
		{session.ConnectionError, `connection error|unable to connect|ECONNREFUSED|ENOTFOUND|ECONNRESET|fetch failed`},
		{session.TimedOut, `timed out|timeout`},
		{session.ServerError, `overloaded|internal server error`},
	} {
		if regexp.MustCompile(`(?i)` + w.words).MatchString(said) {
			return w.class
		}
	}
	return session.TransientTransport
}

// MicroUSD reads a JSON number of dollars, exactly, and rounds it up to the
// micro-dollar. What is beyond the twelfth decimal comes from adding floating-point
// numbers, and is nobody's price. ok is false for what is no amount that one session can cost.
func MicroUSD(raw json.RawMessage) (n int64, ok bool) {
	var lit json.Number
	if len(raw) == 0 || len(raw) > 64 || raw[0] == '"' || json.Unmarshal(raw, &lit) != nil || lit == "" {
		return 0, false
	}
	switch f, err := strconv.ParseFloat(string(lit), 64); {
	case err != nil || f < 0 || f > 1e6:
		return 0, false
	case f < 1e-30: // nothing, or what no API bills
		return 0, true
	}
	v, good := new(big.Rat).SetString(string(lit))
	if !good {
		return 0, false
	}
	if v, good = new(big.Rat).SetString(v.FloatString(12)); !good {
		return 0, false
	}
	v.Mul(v, big.NewRat(1_000_000, 1))
	q, rest := new(big.Int).QuoRem(v.Num(), v.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return q.Int64(), true
}
