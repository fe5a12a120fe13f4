package cmd

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/verify"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// landWait and landTries are how long a write that needs no confirmation waits
// for its turn behind other writers: about twenty seconds in all.
const (
	landWait  = 50 * time.Millisecond
	landTries = 400
	landTold  = 10 // after so many a person is told what it waits for
)

// writeOrStage calls writeBy, or stageChanges where --no-commit asks for it; with --dry-run it only builds.
func (w *workspace) writeOrStage(c *cli.Context, by committer, build func(*view) (repo.Changes, string, error)) (repo.OID, error) {
	switch {
	case c.Bool("dry-run"):
		v, err := w.readBoard(c.Context, false)
		if err == nil {
			_, _, err = build(v)
		}
		return "", err
	case c.Bool("no-commit"):
		return "", w.stageChanges(c.Context, build)
	}
	return w.writeBy(c.Context, by, build)
}

// committer makes a commit of changes on a tree, in somebody's name.
type committer func(v *view, ctx context.Context, parents []repo.OID, tree repo.OID, ch repo.Changes, msg string) (repo.OID, error)

func (v *view) byMachine(ctx context.Context, parents []repo.OID, tree repo.OID, ch repo.Changes, msg string) (repo.OID, error) {
	return v.repo.MakeOn(ctx, parents, tree, ch, v.machineIdentity(), msg)
}

// writeBy makes a commit that needs no typed confirmation, as by makes it, and lands it. When
// somebody else was first it looks at the board again and builds anew, so that writers at the
// same time lose nothing and double nothing.
func (w *workspace) writeBy(ctx context.Context, by committer, build func(*view) (repo.Changes, string, error)) (repo.OID, error) {
	for try := 0; ; try++ {
		oid, err := w.writeOnce(ctx, by, build)
		if err == nil || try == landTries || !(errors.Is(err, repo.ErrMoved) || errors.Is(err, repo.ErrBusy)) {
			return oid, err
		}
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if try == landTold {
			talk(w.env, "waiting for another command that writes: %v", err)
		}
		w.env.Sleep(landWait)
	}
}

func (w *workspace) writeOnce(ctx context.Context, by committer, build func(*view) (repo.Changes, string, error)) (repo.OID, error) {
	v, err := w.readBoard(ctx, true)
	if err != nil {
		return "", err
	}
	ch, msg, err := build(v)
	if err != nil || len(ch) == 0 {
		return "", err
	}
	tree, err := v.repo.TreeOID(v.tip, "")
	if err != nil {
		return "", err
	}
	oid, err := by(v, ctx, []repo.OID{v.tip}, tree, ch, msg)
	if err != nil {
		return "", err
	}
	return oid, v.line.Land(ctx, v.tip, oid)
}

// checkTree refuses before anybody confirms a merge of paths that the work tree could not take.
func (v *view) checkTree(ctx context.Context, act string, paths []string) error {
	if head, err := v.repo.Branch(); err != nil || head != v.line.Name() || len(paths) == 0 {
		return err
	}
	if half := v.repo.Unmerged(ctx); len(half) > 0 {
		return refuse("unmerged", "%s: a git merge is not finished: resolve the conflict in %s, then git add and git commit; or git merge --abort", act, firstOf(half))
	}
	dirty, err := v.repo.Dirty(ctx, paths...)
	if err == nil && len(dirty) > 0 {
		err = refuse("dirty", "%s: %s has uncommitted changes; commit it, or run git stash -u", act, firstOf(dirty))
	}
	return err
}

// landPersonal commits changes to the board as the person and lands them. The
// signature is checked before any ref moves.
func (v *view) landPersonal(ctx context.Context, parents []repo.OID, tree repo.OID, ch repo.Changes, msg string, also ...repo.RefUpdate) (repo.OID, error) {
	oid, err := v.signCommit(ctx, parents, tree, ch, msg)
	if err != nil {
		return "", err
	}
	err = v.line.Land(ctx, v.tip, oid, also...)
	at, none := v.repo.Ref(v.line.Ref)
	if errors.Is(err, repo.ErrMoved) || err != nil && none == nil && v.line.Remote == "" && at != v.tip && at != oid { // the work tree has moved too
		return "", refuse("moved", "%s moved meanwhile; nothing was done, run the command again", v.line.Name())
	}
	return oid, err
}

func (v *view) commitFiles(ctx context.Context, ch repo.Changes, msg string) (repo.OID, error) {
	tree, err := v.repo.TreeOID(v.tip, "")
	if err != nil {
		return "", err
	}
	return v.landPersonal(ctx, []repo.OID{v.tip}, tree, ch, msg)
}

func (v *view) treeWith(ctx context.Context, at repo.OID, ch repo.Changes) (fs.FS, error) {
	tree, err := v.repo.TreeOID(at, "")
	if err == nil {
		tree, err = v.repo.WriteTree(ctx, tree, ch)
	}
	if err != nil {
		return nil, err
	}
	return v.repo.Tree(tree)
}

// signCommit makes the person's commit, and where signatures are required refuses one
// without, before any ref moves.
func (v *view) signCommit(ctx context.Context, parents []repo.OID, tree repo.OID, ch repo.Changes, msg string) (repo.OID, error) {
	if err := v.checkCredentials(parents, ch, msg); err != nil {
		return "", err
	}
	oid, err := v.repo.PersonCommit(ctx, parents, tree, ch, msg)
	if err != nil {
		return "", err
	}
	if err := v.checkPrompt(oid); err != nil {
		return "", err
	}
	why, err := v.whyUnsigned(ctx, oid)
	if err != nil {
		return "", err
	}
	if why != "" {
		return "", refuse("signature", "your commit %s; set commit.gpgsign and a key, nothing was done", why)
	}
	return oid, nil
}

// checkCredentials refuses a commit whose message, or what it adds to a file, holds a
// credential: what odd writes for a person holds none either.
func (v *view) checkCredentials(parents []repo.OID, ch repo.Changes, msg string) error {
	const way = "holds what looks like a credential; say it without, and revoke it if it is real; nothing was done"
	for _, name := range slices.Sorted(maps.Keys(ch)) {
		var before [][]byte
		for _, p := range parents {
			oid, _, err := v.repo.Find(p, name)
			if err != nil {
				return err
			}
			if oid == "" {
				continue
			}
			b, err := v.repo.Blob(oid)
			if err != nil {
				return err
			}
			before = append(before, b)
		}
		if text := addedLines(ch[name], before); !bytes.Equal(secrets.Redact(text), text) {
			return refuse("credential", "%s: what would be written there %s", name, way)
		}
	}
	if secrets.RedactText(msg) != msg {
		return refuse("credential", "the message of your commit %s", way)
	}
	return nil
}

// addedLines returns the lines of a file that none of its earlier texts has, however they end.
func addedLines(now []byte, before [][]byte) []byte {
	had := map[string]bool{}
	for _, b := range before {
		for l := range bytes.Lines(b) {
			had[string(bytes.TrimRight(l, "\r\n"))] = true
		}
	}
	var out []byte
	for l := range bytes.Lines(now) {
		if !had[string(bytes.TrimRight(l, "\r\n"))] {
			out = append(out, l...)
		}
	}
	return out
}

// promptly is how long after the first moment it tells of an act has to be
// committed: history is read by that, and a commit may be an hour from it.
const promptly = 45 * time.Minute

func (w *workspace) noteDecided(now time.Time) {
	if w.decided.IsZero() {
		w.decided = now
	}
}

// checkPrompt refuses a commit that was made long after what it tells of: the person
// was asked for that long, a hook took it, or the machine slept.
func (v *view) checkPrompt(oid repo.OID) error {
	c, err := v.repo.Commit(oid)
	if err != nil || v.decided.IsZero() {
		return err
	}
	if took := c.Author.When.Sub(v.decided).Abs(); took > promptly {
		return refuse("slow", "it took %s from the decision to its commit; nothing is done, run the command again", took.Round(time.Second))
	}
	return nil
}

// whyUnsigned says what a commit lacks of the signature that the board's odd.toml
// requires, "" for nothing. With allowed_signers the board's file decides who may
// sign, otherwise whom git trusts here.
func (v *view) whyUnsigned(ctx context.Context, oid repo.OID) (string, error) {
	if !v.cfg.RequireSigned {
		return "", nil
	}
	if v.cfg.AllowedSigners == "" {
		ok, _, err := v.repo.Verify(ctx, oid)
		if err != nil || ok {
			return "", err
		}
		return "carries no signature git trusts here, and odd.toml requires one", nil
	}
	signers, err := fs.ReadFile(v.files, v.cfg.AllowedSigners)
	if errors.Is(err, fs.ErrNotExist) {
		return "", refuse("signature", "%s: odd.toml names it for who may sign, and the board does not hold it; commit it", v.cfg.AllowedSigners)
	}
	if err != nil {
		return "", err
	}
	why, err := v.repo.VerifyBy(ctx, oid, signers)
	if why != "" {
		why += "; odd.toml requires a key that " + v.cfg.AllowedSigners + " gives its author"
	}
	return why, err
}

// landingCheck returns what is asked before a commit lands: whether this odd may write here,
// by the odd.toml that is there, and whether a rule of odd check forbids the commit.
func (w *workspace) landingCheck() repo.Check {
	rules := verify.NewLanding(w.repo)
	return func(ctx context.Context, line *repo.Line, old, next repo.OID, also []repo.RefUpdate) error {
		settings, err := readSettings(w.repo, old)
		if err == nil {
			err = settings.CheckVersion(w.env.Version)
		}
		if err != nil {
			return err
		}
		return rules.Check(ctx, line, old, next, also)
	}
}

func readSettings(r *repo.Repo, at repo.OID) (config.Config, error) {
	if at == "" {
		return config.Default(), nil
	}
	oid, mode, err := r.Find(at, "odd.toml")
	if err != nil || !strings.HasPrefix(mode, "100") {
		return config.Default(), err
	}
	b, err := r.Blob(oid)
	if err != nil {
		return config.Default(), err
	}
	return config.Parse("odd.toml", b)
}
