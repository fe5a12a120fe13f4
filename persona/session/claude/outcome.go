package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/cage"
	"github.com/odd-cli/odd/persona/session/exec"
	"github.com/odd-cli/odd/reconcile/irongate"
)

// outcome is what an invocation came to; err is how the program ended.
func (s *stream) outcome(ctx context.Context, err error, said *exec.Talk) session.Emission {
	var full *cage.Full
	var never *cage.NotStarted
	switch {
	case errors.Is(context.Cause(ctx), errTooLarge):
		return session.Fail(session.TooLarge, fmt.Sprintf("a line of the program's output is over %d MiB", maxLine>>20))
	case session.Interruption(ctx) != "":
		return session.Fail(session.Interruption(ctx), "")
	case errors.As(err, &full):
		return session.Fail(session.DiskFull, err.Error())
	case errors.As(err, &never):
		return broken(session.Permanent, "the program cannot be started: "+err.Error()+"; install it, or set [substrate.claude] argv in odd.toml")
	case s.result == nil:
		return s.crashed(err, said)
	}
	e := s.judged()
	if n := len(s.result.Denied); n > 0 {
		e.Detail = strings.TrimPrefix(e.Detail+fmt.Sprintf("; %d uses of tools were denied", n), "; ")
	}
	return e
}

// crashed is a program that ended without a result.
func (s *stream) crashed(err error, said *exec.Talk) session.Emission {
	how := "it ended well"
	if err != nil {
		how = err.Error()
	}
	text := how + said.LastLine()
	class := classOf(text)
	if s.limit != "" {
		class, text = session.RateLimited, s.limit+"; "+text
	}
	return broken(class, "claude told no result: "+text)
}

func broken(c session.Class, detail string) session.Emission {
	e := session.Fail(session.Transport, shown(detail))
	e.Class = c
	return e
}

// judged reads the result.
func (s *stream) judged() session.Emission {
	r := s.result
	said := strings.Join(append([]string{r.Text}, r.Errors...), "; ")
	switch {
	case r.Subtype == "error_max_turns":
		return session.Fail(session.TurnRefused, "the program used all the turns that were left; raise max_turns or split the task")
	case r.Subtype == "error_max_budget_usd":
		return session.Fail(session.OverBudget, "the program spent all that was left; raise max_usd or the task's budget_usd, or split the task")
	case r.IsError && s.limit != "":
		return broken(session.RateLimited, s.limit+": "+said)
	case r.IsError:
		return broken(s.class(said), fmt.Sprintf("%s: %s", r.Subtype, said))
	case strings.HasPrefix(r.Subtype, "error_"):
		return broken(session.TransientTransport, fmt.Sprintf("%s: %s", r.Subtype, said))
	}
	return session.Read([]byte(r.Text))
}

// class is that of a failure that the API's status names, or else its words.
func (s *stream) class(said string) session.Class {
	status, err := strconv.Atoi(strings.Trim(string(s.result.Status), `"`))
	if err != nil {
		return classOf(said)
	}
	return ofStatus(status, said)
}

func ofStatus(status int, said string) session.Class {
	switch {
	case status == 413, status >= 400 && status < 500 && long().MatchString(said):
		return session.ContextOverflow
	case status == 429:
		return session.RateLimited
	case status == 408, status == 504:
		return session.TimedOut
	case status == 409, status == 425:
		return session.TransientTransport
	case status >= 500:
		return session.ServerError
	}
	return session.Permanent
}

func long() *regexp.Regexp {
	return regexp.MustCompile(`(?i)prompt is too long|context (?:length|window|limit)|too many tokens`)
}

// classOf is the class of a failure by its words alone.
func classOf(said string) session.Class {
	if m := regexp.MustCompile(`API Error: (\d{3})\b`).FindStringSubmatch(said); m != nil {
		status, _ := strconv.Atoi(m[1])
		return ofStatus(status, said)
	}
	for _, w := range []struct {
		class session.Class
		words string
	}{
		{session.ContextOverflow, `prompt is too long|context (?:length|window|limit)`},
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

// maxDetail is how much of what a program says a failure tells.
const maxDetail = 400

// shown is a text of the program as it may be told: on one line, cut, in sight and
// without credentials.
func shown(s string) string {
	s = okf.Visible(strings.Join(strings.Fields(strings.ToValidUTF8(string(irongate.Redact([]byte(s))), "?")), " "))
	r := []rune(s)
	if len(r) > maxDetail {
		return string(r[:maxDetail]) + " …"
	}
	return s
}

// usage is what the invocation cost, as far as it was told.
func (s *stream) usage(sub Substrate) session.Usage {
	u := session.Usage{Turns: max(s.round, 1), Model: s.model}
	if r := s.result; r != nil {
		u.Turns = max(r.Turns, 1)
		u.Tokens = session.Tokens{Input: r.Usage.Input, Output: r.Usage.Output, CacheRead: r.Usage.Read, CacheWrite: r.Usage.Write}
		raw := r.Cost
		if raw == nil {
			raw = r.OldCost
		}
		u.Cost, u.CostKnown = microUSD(raw)
	}
	if sub.Free {
		u.Cost, u.CostKnown = 0, true
	}
	return u
}

// microUSD reads a JSON number of dollars, exactly, and rounds it up to the
// micro-dollar. ok is false for what is no amount that one session can cost.
func microUSD(raw json.RawMessage) (n int64, ok bool) {
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
	v.Mul(v, big.NewRat(1_000_000, 1))
	q, rest := new(big.Int).QuoRem(v.Num(), v.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return q.Int64(), true
}
