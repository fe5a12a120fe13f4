// Package review holds what waits for a person: the proposal of a task in review, what it is
// bound to, and the only way to set a task to done.
//
// Read takes a proposal from the run's ledger. The ledger names the proposal commit, the base
// commit and, for every path, the blob before and after. An approval is bound to these blobs.
// The board may change meanwhile, but the proposal and the paths that it writes may not.
//
// Approve and Reject need a Human, and only Confirm and Signed make one. board/drain may not
// import this package, so nothing that an agent's run executes can set done (invariant 3).
//
// The package is pure: it takes values and returns the files to commit. The caller makes the
// commit with the person's own identity, signing and hooks.
package review

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/odd-cli/odd/journal/refusal"
	"github.com/odd-cli/odd/okf"
)

// Person is who asks, according to their git configuration.
type Person struct{ Name, Email string }

// Human is a person who has confirmed one act. The zero Human is nobody.
type Human struct{ person Person }

// By returns the actor string of OKF v0.2 §7: "human:" and the git e-mail address.
func (h Human) By() string { return "human:" + h.person.Email }

// Place is where a human act was asked for, as far as odd can tell.
type Place struct {
	CI      bool   // a CI run
	Session string // what shows that an agent asks, "" for nothing
	Agent   Person // the configured agent identity
}

// refuse is the error of a human act that is not allowed: not-a-person, unconfirmed, moved, state, branch
// or signature.
func refuse(code, format string, args ...any) error { return refusal.New(code, format, args...) }

// Allowed refuses an act in CI, in an agent's session and under the agent's identity.
func Allowed(act string, p Person, at Place) error {
	switch {
	case at.CI:
		return refuse("not-a-person", "%s: only a person may do this, and this is CI; run it in a terminal on your own machine", act)
	case at.Session != "":
		return refuse("not-a-person", "%s: refused inside an agent's session (%s); leave it to a person, in a terminal of their own", act, at.Session)
	case strings.EqualFold(p.Email, at.Agent.Email):
		return refuse("not-a-person", "%s: git user.email is the agent's address, %s; set your own with git config user.email YOU@EXAMPLE.ORG", act, at.Agent.Email)
	case p.Email == "" || strings.ContainsAny(p.Email, " \t\n,{}[]\"'#"):
		return refuse("not-a-person", "%s: git user.email %q is empty or has characters that odd cannot record; set it with git config user.email YOU@EXAMPLE.ORG", act, p.Email)
	}
	return nil
}

// Confirm asks on the terminal for the exact text want and returns the Human who typed it.
// It refuses any other text and a terminal that ends.
func Confirm(tty io.ReadWriter, act, want string, p Person, at Place) (Human, error) {
	if err := Allowed(act, p, at); err != nil {
		return Human{}, err
	}
	if _, err := fmt.Fprint(tty, okf.Visible(fmt.Sprintf("%s as %s <%s>\ntype %s to confirm: ", act, p.Name, p.Email, want))); err != nil {
		return Human{}, refuse("unconfirmed", "%s: the terminal cannot be written to: %v; run it in another terminal", act, err)
	}
	got, err := bufio.NewReader(io.LimitReader(tty, 1024)).ReadString('\n')
	if strings.TrimSpace(got) != want {
		if err != nil && strings.TrimSpace(got) == "" {
			_, _ = fmt.Fprintln(tty) // the prompt's line has not ended
			return Human{}, refuse("unconfirmed", "%s: nothing was typed, so nothing was done; run it again and type %s", act, want)
		}
		return Human{}, refuse("unconfirmed", "%s: you typed %q instead of %q, so nothing was done; run it again", act, strings.TrimSpace(got), want)
	}
	return Human{p}, nil
}

// Signed returns the Human of a commit that will be signed, for teams that require
// signatures. The caller verifies the signature before any ref moves.
func Signed(act string, p Person, at Place, required bool) (Human, error) {
	if !required {
		return Human{}, refuse("unconfirmed", "%s: --yes works only where odd.toml has [governance] require_signed = true; run it in a terminal without --yes", act)
	}
	if err := Allowed(act, p, at); err != nil {
		return Human{}, err
	}
	return Human{p}, nil
}
