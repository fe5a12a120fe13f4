package toolbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/reconcile/lint"
	"github.com/odd-cli/odd/reconcile/policy"
)

// writeTools are the tools that change files on the desk.
func writeTools() []entry {
	p := param{name: "path", kind: isText, must: true, about: "the file, from the top of the repository"}
	tool := func(name, about, grant string, kind policy.Kind, do func(context.Context, *call) (string, error), params ...param) entry {
		return entry{Tool: Tool{Name: name, Description: about, Mutates: true}, kind: kind, path: "path", grant: grant, do: do, params: append([]param{p}, params...)}
	}
	return []entry{
		tool("edit_file", "Replaces one piece of a file that was read. The old text must stand in it exactly once.", "edit", policy.Write, editFile,
			param{name: "old", kind: isText, must: true, most: mostEmitted, about: "the text to be replaced, with enough around it to stand there once"},
			param{name: "new", kind: isText, must: true, most: mostEmitted, about: "what stands there instead"}),
		tool("write_file", "Writes a whole file: a new one, or one that was read.", "write", policy.Write, writeFile,
			param{name: "text", kind: isText, must: true, most: mostEmitted, about: "all of it"}),
		tool("delete_file", "Deletes a file that was read.", "write", policy.Write, deleteFile),
	}
}

// whyUnread says why the session does not know the file as it is now, "" where it
// does or where there is none.
func (c *call) whyUnread() string {
	b, _, err := c.b.tree.readFile(c.at, mostHeld)
	var f *failure
	switch {
	case errors.As(err, &f) && f.code == "missing":
		return ""
	case err != nil:
		return err.Error()
	}
	c.b.mu.Lock()
	known, read := c.b.read[c.at]
	c.b.mu.Unlock()
	switch {
	case known == hashHex(b), c.b.isInBrief(c.at, b):
		return ""
	case read:
		return c.at + " has changed since it was read; read it again"
	}
	return c.at + " is there and was not read; read it first"
}

// mostHeld bounds a file that is compared or put back.
const mostHeld = 64 << 20

// isInBrief reports a file whose text is in the brief as it still is.
func (b *Box) isInBrief(p string, content []byte) bool {
	for _, g := range b.o.Request.Given {
		if g == p && b.tree.files != nil {
			base, _, err := loadFrom(b.tree.files, p, mostHeld)
			return err == nil && hashHex(base) == hashHex(content)
		}
	}
	return false
}

func editFile(_ context.Context, c *call) (string, error) {
	s, err := c.readText(c.at)
	if err != nil {
		return "", err
	}
	was, now := c.args.getText("old"), c.args.getText("new")
	switch n := strings.Count(s, was); {
	case was == "" || was == now:
		return "", failWith("bad_arguments", "old: want a text that differs from new")
	case n != 1:
		return "", failWith("not_once", "old: stands in %s %d times, want once; %s", c.at, n, map[bool]string{true: "read the file again", false: "give more of what is around it"}[n == 0])
	}
	return c.writeChecked([]byte(strings.Replace(s, was, now, 1)))
}

func writeFile(_ context.Context, c *call) (string, error) {
	return c.writeChecked([]byte(c.args.getText("text")))
}

// writeChecked writes a file, reads it again, and puts back what was there where it differs.
func (c *call) writeChecked(after []byte) (string, error) {
	if len(after) > c.b.o.Limits.FileBytes {
		return "", failWith("too_large", "%s would be %d bytes, at most %d", c.at, len(after), c.b.o.Limits.FileBytes)
	}
	t := c.b.tree
	before, mode, err := t.readFile(c.at, mostHeld)
	var f *failure
	if errors.As(err, &f) && f.code == "missing" {
		before, mode = nil, 0o644
	} else if err != nil {
		return "", err
	}
	if err := t.writeFile(c.at, after, mode); err != nil {
		return "", asMissing(c.at, err)
	}
	if err := c.confirmWritten(before, after, mode); err != nil {
		return "", err
	}
	c.b.noteRead(c.at, after)
	c.b.noteChanged(c.at)
	return fmt.Sprintf("%s: %d bytes before, %d after, sha256 %s%s", c.at, len(before), len(after), hashHex(after), c.lintWarnings(before, after)), nil
}

// confirmWritten reads what was written again. before is nil for a new file.
func (c *call) confirmWritten(before, after []byte, mode fs.FileMode) error {
	is, _, err := c.b.tree.readFile(c.at, mostHeld)
	if err == nil && hashHex(is) == hashHex(after) {
		return nil
	}
	var back error
	if before == nil {
		back = c.b.tree.removeFile(c.at)
	} else {
		back = c.b.tree.writeFile(c.at, before, mode)
	}
	if back != nil {
		return failWith("not_written", "%s is not as it was written, and what was there could not be put back: %v", c.at, asMissing(c.at, back))
	}
	return failWith("not_written", "%s was not as it was written, and is again as it was", c.at)
}

// noteChanged notes that the session changed a file.
func (b *Box) noteChanged(p string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wrote[p] = true
}

// lintWarnings are what the iron gate will have against the file. It judges the whole
// change later, and bindingly.
func (c *call) lintWarnings(before, after []byte) string {
	v := lint.Judge([]lint.File{{Path: c.at, Before: before, After: after}}, lint.Options{})
	var out strings.Builder
	for i, f := range v.Findings {
		if i == 10 {
			fmt.Fprintf(&out, "\nand %d more", len(v.Findings)-i)
			break
		}
		fmt.Fprintf(&out, "\nwarning: %s; %s [%s, %s]", f.Error(), f.Fix, f.Code, f.Severity)
	}
	return out.String()
}

func deleteFile(_ context.Context, c *call) (string, error) {
	t := c.b.tree
	before, mode, err := t.readFile(c.at, mostHeld)
	if err != nil {
		return "", err
	}
	if !mode.IsRegular() {
		return "", failWith("not_a_file", "%s is no regular file", c.at)
	}
	if err := t.removeFile(c.at); err != nil {
		return "", asMissing(c.at, err)
	}
	var f *failure
	if _, _, err := t.readFile(c.at, mostHeld); !errors.As(err, &f) || f.code != "missing" {
		return "", failWith("not_deleted", "%s is still there", c.at)
	}
	c.b.noteChanged(c.at)
	return fmt.Sprintf("%s: deleted, %d bytes, sha256 was %s", c.at, len(before), hashHex(before)), nil
}

// removeFile takes a regular file away.
func (t tree) removeFile(p string) error {
	dir, err := t.openFolder(path.Dir(p), false)
	if err != nil {
		return err
	}
	defer dir.Close()
	if is, err := dir.Lstat(path.Base(p)); err != nil || !is.Mode().IsRegular() {
		return errors.Join(err, failWith("not_a_file", "%s is no regular file", p))
	}
	return dir.Remove(path.Base(p))
}

// writeFile writes a file beside its place and moves it there, so that a link to
// another file is never written through, and nobody sees half of it.
func (t tree) writeFile(p string, b []byte, mode fs.FileMode) error {
	dir, err := t.openFolder(path.Dir(p), true)
	if err != nil {
		return err
	}
	defer dir.Close()
	name := path.Base(p)
	if is, err := dir.Lstat(name); err == nil && !is.Mode().IsRegular() {
		return failWith("not_a_file", "%s is no regular file", p)
	}
	beside := ".odd-writes-" + hashHex([]byte(p))[:16]
	f, err := dir.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NONBLOCK, mode.Perm()|0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Close()); err == nil {
		err = dir.Rename(beside, name)
	}
	if err != nil {
		_ = dir.Remove(beside)
	}
	return err
}

func askTools() []entry {
	return []entry{{Tool: Tool{Name: "ask_human", Description: "Asks the person who is here, and waits for the answer."}, patient: true, lone: true, do: askHuman,
		params: []param{{name: "question", kind: isText, must: true, about: "one question that can be answered in a few words"}}}}
}

// whyMute says why nobody may be asked, "" where somebody may.
func (b *Box) whyMute() string {
	k := b.o.Request.Contract
	switch {
	case k.Strict:
		return "a session with a fresh context is not answered: say in its handoff what it lacks"
	case k.Role != "" && k.Engagement != contract.Assistant:
		return "under the engagement " + string(k.Engagement) + " nobody is asked: decide, or finish with what is missing"
	case b.o.Request.Ask == nil:
		return "nobody is here to answer"
	}
	return ""
}

func askHuman(ctx context.Context, c *call) (string, error) {
	reply, err := c.b.o.Request.Ask(ctx, showText(c.args.getText("question")))
	if err != nil {
		return "", failWith("no_answer", "%s", err.Error())
	}
	if reply == "" {
		return "", failWith("no_answer", "the answer was empty")
	}
	return reply, nil
}
