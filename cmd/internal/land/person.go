package land

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/odd-cli/odd/board/review"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// RefuseAgent refuses what only a person does: an agent that installs its own gate
// could take it out too.
func RefuseAgent(env console.Env, verbName string) error {
	if sign := env.AgentSign(); sign != "" {
		return verb.Refuse("in-session", "%s: an agent's session does not touch its own gate (%s); run it in a terminal of your own", verbName, sign)
	}
	return nil
}

// Confirm shows about to the person at the terminal, and returns who they are once they have typed
// want. With signed it asks nothing, where odd.toml requires a signed commit. It refuses in CI, in
// an agent's session and without a terminal.
func Confirm(ctx context.Context, w *workspace.Clone, about, act, want string, signed bool) (review.Human, error) {
	at := PersonPlace(w)
	p, err := CheckDecider(ctx, w.Repo, act, at)
	if err != nil {
		return review.Human{}, err
	}
	if signed {
		h, err := review.Signed(act, p, at, w.Config.RequireSigned)
		if err == nil {
			console.Talk(w.Env, "%s, signed:\n%s", act, about)
		}
		return h, err
	}
	tty, err := w.Env.TTY()
	if err != nil {
		return review.Human{}, verb.Refuse("unconfirmed", "%s: you must type a confirmation, and there is no terminal; run the command in a terminal", act)
	}
	defer tty.Close()
	if _, err := io.WriteString(tty, w.Env.FoldedLines(about)); err != nil {
		return review.Human{}, verb.Refuse("unconfirmed", "%s: the terminal cannot be written to: %v; run it in another terminal", act, err)
	}
	h, err := console.AwaitAnswer(ctx, tty, func() (review.Human, error) { return review.Confirm(tty, act, want, p, at) })
	NoteDecided(w, w.Env.Now())
	return h, err
}

// CheckDecider returns the person that git's configuration names. It refuses act in CI, in an
// agent's session and under an agent's identity.
func CheckDecider(ctx context.Context, r *repo.Repo, act string, at review.Place) (review.Person, error) {
	who, err := r.Identity(ctx)
	if err != nil {
		return review.Person{}, err
	}
	p := review.Person{Name: who.Name, Email: who.Email}
	return p, review.Allowed(act, p, at)
}

// PersonPlace says what shows here whether a person acts or something else.
func PersonPlace(w *workspace.Clone) review.Place {
	return review.Place{CI: w.Env.InCI(), Session: w.Env.AgentSign(), Agent: review.Person{Name: w.Config.AgentName, Email: w.Config.AgentEmail}}
}

// OpenToDecide is workspace.OpenShared for an act of a person. It refuses places where no person is
// before anything is read.
func OpenToDecide(ctx context.Context, env console.Env, act string) (*workspace.Board, error) {
	w, err := workspace.Open(ctx, env)
	if err != nil {
		return nil, err
	}
	if err := MayDecide(ctx, w, act); err != nil {
		return nil, err
	}
	return w.ReadBoard(ctx, true)
}

// MayDecide refuses act where CheckDecider refuses it here.
func MayDecide(ctx context.Context, w *workspace.Clone, act string) error {
	_, err := CheckDecider(ctx, w.Repo, act, PersonPlace(w))
	return err
}

// CheckActor returns who records an act: their name, for the journal's file, and
// how files name them. CI may keep one, and so may an agent outside of odd, unless only a person
// may. A session of odd's has no such record but what it emits, and what the agent's identity
// wrote would be signed as a person's.
func CheckActor(ctx context.Context, w *workspace.Clone, act string, person bool) (name, by string, err error) {
	at := PersonPlace(w)
	if !person {
		at.CI = false
		if w.Env.Getenv("ODD_RUN") == "" {
			at.Session = ""
		}
	}
	who, err := CheckDecider(ctx, w.Repo, act, at)
	return cmp.Or(who.Name, who.Email), "human:" + who.Email, err
}

// AsPerson is the Committer in the person's name, with their hooks and signature. It refuses a
// commit with a credential, and one without a signature where odd.toml requires one.
func AsPerson(ctx context.Context, v *workspace.Board, parents []repo.OID, tree repo.OID, ch repo.Changes, msg string) (repo.OID, error) {
	if err := checkCredentials(v.Repo, parents, ch, msg); err != nil {
		return "", err
	}
	oid, err := v.Repo.PersonCommit(ctx, parents, tree, ch, msg)
	if err != nil {
		return "", err
	}
	if err := checkPrompt(v, oid); err != nil {
		return "", err
	}
	why, err := WhyUnsigned(ctx, v, oid)
	if err != nil {
		return "", err
	}
	if why != "" {
		return "", verb.Refuse("signature", "your commit %s; set commit.gpgsign and a key, nothing was done", why)
	}
	return oid, nil
}

// checkCredentials refuses a commit whose message, or what it adds to a file, holds a
// credential: what odd writes for a person holds none either.
func checkCredentials(r *repo.Repo, parents []repo.OID, ch repo.Changes, msg string) error {
	const way = "holds what looks like a credential; say it without, and revoke it if it is real; nothing was done"
	for _, name := range slices.Sorted(maps.Keys(ch)) {
		var before [][]byte
		for _, p := range parents {
			oid, _, err := r.Find(p, name)
			if err != nil {
				return err
			}
			if oid == "" {
				continue
			}
			b, err := r.Blob(oid)
			if err != nil {
				return err
			}
			before = append(before, b)
		}
		if text := secrets.AddedLines(ch[name], before); !bytes.Equal(secrets.Redact(text), text) {
			return verb.Refuse("credential", "%s: what would be written there %s", name, way)
		}
	}
	if secrets.RedactText(msg) != msg {
		return verb.Refuse("credential", "the message of your commit %s", way)
	}
	return nil
}

// promptly is how long after the first moment it tells of an act has to be
// committed: history is read by that, and a commit may be an hour from it.
const promptly = 45 * time.Minute

// NoteDecided keeps the moment that an act tells of as its own, if it is the first.
func NoteDecided(w *workspace.Clone, now time.Time) {
	if w.Decided.IsZero() {
		w.Decided = now
	}
}

// checkPrompt refuses a commit that was made long after what it tells of: the person
// was asked for that long, a hook took it, or the machine slept.
func checkPrompt(v *workspace.Board, oid repo.OID) error {
	c, err := v.Repo.Commit(oid)
	if err != nil || v.Decided.IsZero() {
		return err
	}
	if took := c.Author.When.Sub(v.Decided).Abs(); took > promptly {
		return verb.Refuse("slow", "it took %s from the decision to its commit; nothing is done, run the command again", took.Round(time.Second))
	}
	return nil
}

// WhyUnsigned says what a commit lacks of the signature that the board's odd.toml
// requires, "" for nothing. With allowed_signers the board's file decides who may
// sign, otherwise whom git trusts here.
func WhyUnsigned(ctx context.Context, v *workspace.Board, oid repo.OID) (string, error) {
	if !v.Config.RequireSigned {
		return "", nil
	}
	if v.Config.AllowedSigners == "" {
		ok, _, err := v.Repo.Verify(ctx, oid)
		if err != nil || ok {
			return "", err
		}
		return "carries no signature git trusts here, and odd.toml requires one", nil
	}
	signers, err := fs.ReadFile(v.Files, v.Config.AllowedSigners)
	if errors.Is(err, fs.ErrNotExist) {
		return "", verb.Refuse("signature", "%s: odd.toml names it for who may sign, and the board does not hold it; commit it", v.Config.AllowedSigners)
	}
	if err != nil {
		return "", err
	}
	why, err := v.Repo.VerifyBy(ctx, oid, signers)
	if why != "" {
		why += "; odd.toml requires a key that " + v.Config.AllowedSigners + " gives its author"
	}
	return why, err
}
