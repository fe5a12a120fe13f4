package cage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/odd-cli/odd/persona/session"
)

// Trial is one thing a program tried that it must not do.
type Trial struct {
	What   string `json:"what"`
	Held   bool   `json:"held"`
	Detail string `json:"detail"` // what the kernel answered
}

// Tried is what a machine really holds of a program.
type Tried struct {
	Held   Held    `json:"held"`
	Trials []Trial `json:"trials"`
	// Loopback is how a program held with a network of its own reached a server of
	// its own: "" it did, else what was in the way.
	Loopback string `json:"loopback,omitempty"`
}

// Missing are the trials that went through.
func (t Tried) Missing() (what []string) {
	for _, tr := range t.Trials {
		if !tr.Held {
			what = append(what, tr.What+": "+tr.Detail)
		}
	}
	return what
}

// Try starts odd itself as a program, with no network and best effort, and lets
// it try what a program must not do; then with a network of its own, and lets it
// try that. It works in a directory of its own below temp. The error says that nothing could be tried.
func (c Cage) Try(ctx context.Context, temp string) (Tried, error) {
	if len(c.Self) == 0 {
		return Tried{}, errors.New("there is no keeper to hold a program")
	}
	top, err := os.MkdirTemp(temp, "odd-try-")
	if err == nil {
		defer os.RemoveAll(top)
		top, err = filepath.EvalSymlinks(top)
	}
	if err != nil {
		return Tried{}, err
	}
	d := session.Desk{Tree: filepath.Join(top, "desk"), Home: filepath.Join(top, "desk"), Temp: filepath.Join(top, "desk")}
	outside := filepath.Join(top, "outside")
	err = errors.Join(os.Mkdir(d.Tree, 0o700), os.WriteFile(outside, []byte("secret\n"), 0o600), os.Symlink(outside, filepath.Join(d.Tree, "link")))
	self, no := os.Executable()
	if err = errors.Join(err, no); err != nil {
		return Tried{}, err
	}
	if c.Enforce == Require {
		c.Enforce = BestEffort // tell what is missing instead of refusing
	}
	if l, err := net.Listen("unix", outside+".sock"); err == nil { // else its path is too long, and that is not tried
		defer l.Close()
	}
	p := Program{Argv: append(append([]string{}, c.Self...), outside), path: self, Dir: d.Tree, Desk: d, Read: []string{self}}
	t, left, err := c.tryProgram(ctx, p)
	if err != nil {
		return Tried{}, err
	}
	p.Argv, p.Network = append(append([]string{}, c.Self...), "loopback"), Loopback
	own, _, err := c.tryProgram(ctx, p)
	if err != nil {
		return Tried{}, err
	}
	t.Loopback, t.Trials = own.Loopback, append(t.Trials, own.Trials...)
	switch own.Held.Network {
	case None:
		t.Loopback = strings.Join(own.Held.Missing, "; ")
	case Allow:
		t.Loopback = "it is this machine's, since nothing closes the network"
	}
	detail := "it outlived the program"
	if left > 0 {
		detail = "it was ended with the program"
	}
	t.Trials = append(t.Trials, Trial{"leave a daemon behind", left > 0, detail})
	return t, nil
}

// tryProgram returns what a program that tries says, and how many processes it left behind.
func (c Cage) tryProgram(ctx context.Context, p Program) (t Tried, left int, err error) {
	var out bytes.Buffer
	p.Stdin, p.Stdout = bytes.NewReader(nil), &out
	q, err := c.Start(ctx, p)
	if err != nil {
		return t, 0, err
	}
	if err := q.Wait(); err != nil {
		return t, 0, err
	}
	if err := json.Unmarshal(out.Bytes(), &t); err != nil {
		return t, 0, fmt.Errorf("the program that tried said %q: %w", out.Bytes(), err)
	}
	t.Held = q.Held
	return t, q.left, nil
}

// Demand is the *Unheld of a cage whose Enforce is Require where this machine
// cannot hold a program on that network, which it starts to see; nil otherwise.
func (c Cage) Demand(ctx context.Context, temp string, n Network) error {
	if c.Enforce != Require {
		return nil
	}
	if missing := c.refusedWithoutKeeper(Program{Network: n}); len(missing) > 0 {
		return &Unheld{missing}
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	_, err = c.Run(ctx, Program{Argv: append(append([]string{}, c.Self...), "nothing"), path: self, Dir: temp, Read: []string{self}, Network: n})
	return err
}

func trialOf(what string, err error) Trial {
	switch {
	case err == nil:
		return Trial{what, false, "it went through"}
	case errors.Is(err, fs.ErrPermission):
		return Trial{what, true, "refused"}
	}
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err
	}
	return Trial{what, false, err.Error()}
}

// tryFiles are the trials on files; outside is one that is not the program's.
func tryFiles(outside string) []Trial {
	write := func(at string) error {
		f, err := os.OpenFile(at, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		if err == nil {
			f.Close()
		}
		return err
	}
	_, read := os.ReadFile(outside)
	return []Trial{
		trialOf("write outside", write(outside)),
		trialOf("make a file outside", write(outside+".new")),
		trialOf("write through a symbolic link", write("link")),
		trialOf("read outside", read),
		trialOf("remove outside", os.Remove(outside)),
	}
}
