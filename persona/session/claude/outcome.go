package claude

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/cage"
	"github.com/odd-cli/odd/persona/session/exec"
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
		return s.crashEmission(err, said)
	}
	e := s.readResult()
	if n := len(s.result.Denied); n > 0 {
		e.Detail = strings.TrimPrefix(e.Detail+fmt.Sprintf("; %d uses of tools were denied", n), "; ")
	}
	return e
}

// crashEmission returns a program that ended without a result.
func (s *stream) crashEmission(err error, said *exec.Talk) session.Emission {
	how := "it ended well"
	if err != nil {
		how = err.Error()
	}
	text := how + said.LastLine()
	class := exec.ClassOf(text)
	if s.limit != "" {
		class, text = session.RateLimited, s.limit+"; "+text
	}
	return broken(class, "claude told no result: "+text)
}

func broken(c session.Class, detail string) session.Emission {
	e := session.Fail(session.Transport, session.Shown(detail))
	e.Class = c
	return e
}

// readResult reads the result.
func (s *stream) readResult() session.Emission {
	r := s.result
	said := strings.Join(append([]string{r.Text}, r.Errors...), "; ")
	switch {
	case r.Subtype == "error_max_turns":
		return session.Fail(session.TurnLimit, "the program used all the turns that were left")
	case r.Subtype == "error_max_budget_usd":
		return session.Fail(session.OverBudget, "the program spent all that was left")
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
		return exec.ClassOf(said)
	}
	return session.ClassOfStatus(status, said)
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
		u.Cost, u.CostKnown = exec.MicroUSD(raw)
	}
	if sub.Free {
		u.Cost, u.CostKnown = 0, true
	}
	return u
}
