package acp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/exec"
	"github.com/odd-cli/odd/reconcile/policy"
)

// maxFile bounds a file that is read for the agent.
const maxFile = 8 << 20

// refusal is an error as the agent is told it. An error of the file system is told
// without the name of the call that failed.
func refusal(err error) error {
	if err == nil {
		return nil
	}
	var in *fs.PathError
	if errors.As(err, &in) {
		err = fmt.Errorf("%s: %w", in.Path, in.Err)
	}
	return &sdk.RequestError{Code: -32603, Message: session.Shown(err.Error())}
}

// missing is the protocol's answer for a file that is not there. Agents match its words
// to tell that a file is new.
func missing(name string) error {
	return &sdk.RequestError{Code: -32002, Message: session.Shown("Resource not found: " + name), Data: map[string]any{"uri": (&url.URL{Scheme: "file", Path: name}).String()}}
}

// ReadTextFile implements the protocol's client.
func (c *client) ReadTextFile(_ context.Context, p sdk.ReadTextFileRequest) (sdk.ReadTextFileResponse, error) {
	text, err := c.read(p)
	c.act("fs/read_text_file", c.short(p.Path), p, err)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return sdk.ReadTextFileResponse{}, missing(p.Path)
	}
	return sdk.ReadTextFileResponse{Content: text}, refusal(err)
}

// short is a path as it is told: below the tree where it lies there.
func (c *client) short(name string) string { return strings.TrimPrefix(name, c.desk.Tree+"/") }

func (c *client) read(p sdk.ReadTextFileRequest) (string, error) {
	rel, err := c.inTree(p.Path)
	if err != nil {
		return "", err
	}
	root, err := os.OpenRoot(c.desk.Tree)
	if err != nil {
		return "", err
	}
	defer root.Close()
	f, err := root.OpenFile(filepath.FromSlash(rel), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return "", policy.Refuse("path_outside_repo", "%q is no plain file", p.Path)
	}
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(b) > maxFile {
		err = fmt.Errorf("%q is over %d MiB", p.Path, maxFile>>20)
	}
	if err != nil {
		return "", err
	}
	return lines(strings.ToValidUTF8(string(b), "\uFFFD"), p.Line, p.Limit), nil
}

// inTree is the path of a file that may be read, below the tree.
func (c *client) inTree(name string) (string, error) {
	for _, top := range []string{c.desk.Tree, exec.FollowLinks(c.desk.Tree)} {
		rel, err := filepath.Rel(top, filepath.Clean(name))
		if err != nil || !filepath.IsAbs(name) || !filepath.IsLocal(rel) {
			continue
		}
		rel = filepath.ToSlash(rel)
		return rel, c.r.Permits(policy.Action{Kind: policy.Read, Paths: []string{rel}})
	}
	return "", policy.Refuse("path_outside_repo", "%q is no absolute path of a file below the tree", name)
}

// lines are those from one, counted from 1, and so many.
func lines(text string, from, most *int) string {
	if from == nil && most == nil {
		return text
	}
	all := strings.SplitAfter(text, "\n")
	if from != nil {
		all = all[min(max(*from-1, 0), len(all)):]
	}
	if most != nil {
		all = all[:min(max(*most, 0), len(all))]
	}
	return strings.Join(all, "")
}

// WriteTextFile implements the protocol's client.
func (c *client) WriteTextFile(_ context.Context, p sdk.WriteTextFileRequest) (sdk.WriteTextFileResponse, error) {
	c.acting.Lock()
	defer c.acting.Unlock()
	err := c.write(p)
	c.act("fs/write_text_file", c.short(p.Path), p, err)
	return sdk.WriteTextFileResponse{}, refusal(err)
}

func (c *client) write(p sdk.WriteTextFileRequest) error {
	if !filepath.IsAbs(p.Path) {
		return policy.Refuse("bad_arguments", "%q is not absolute", p.Path)
	}
	rel, err := exec.Within(c.desk.Tree, c.desk.Tree, p.Path)
	if err != nil {
		return err
	}
	if err := c.r.Permits(policy.Action{Kind: policy.Write, Paths: []string{rel}}); err != nil {
		return err
	}
	root, err := os.OpenRoot(c.desk.Tree)
	if err != nil {
		return err
	}
	defer root.Close()
	if dir := path.Dir(rel); dir != "." {
		if err := root.MkdirAll(filepath.FromSlash(dir), 0o755); err != nil {
			return err
		}
	}
	f, err := root.OpenFile(filepath.FromSlash(rel), os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o644)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, p.Content)
	return errors.Join(err, f.Close())
}
