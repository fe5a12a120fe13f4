package acp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/reconcile/policy"
)

// protocolError returns an error as the agent is told it. An error of the file system is told
// without the name of the call that failed.
func protocolError(err error) error {
	if err == nil {
		return nil
	}
	if in, ok := errors.AsType[*fs.PathError](err); ok {
		err = fmt.Errorf("%s: %w", in.Path, in.Err)
	}
	return &sdk.RequestError{Code: -32603, Message: session.Shown(err.Error())}
}

// ReadTextFile implements the protocol's client, which does not offer it: agents read
// the desk themselves.
func (c *client) ReadTextFile(context.Context, sdk.ReadTextFileRequest) (sdk.ReadTextFileResponse, error) {
	return sdk.ReadTextFileResponse{}, &sdk.RequestError{Code: -32601, Message: "fs/read_text_file is not offered; read the file itself"}
}

// belowTree is a path as it is told: below the tree where it lies there.
func (c *client) belowTree(name string) string { return strings.TrimPrefix(name, c.desk.Tree+"/") }

// WriteTextFile implements the protocol's client.
func (c *client) WriteTextFile(_ context.Context, p sdk.WriteTextFileRequest) (sdk.WriteTextFileResponse, error) {
	c.acting.Lock()
	defer c.acting.Unlock()
	err := c.writeFile(p)
	c.recordAct("fs/write_text_file", c.belowTree(p.Path), p, err)
	return sdk.WriteTextFileResponse{}, protocolError(err)
}

func (c *client) writeFile(p sdk.WriteTextFileRequest) error {
	if !filepath.IsAbs(p.Path) {
		return policy.Refuse("bad_arguments", "%q is not absolute", p.Path)
	}
	paths, err := c.hands().Write(c.desk.Tree, p.Path)
	if err != nil {
		return err
	}
	rel := filepath.FromSlash(paths[0])
	root, err := os.OpenRoot(c.desk.Tree)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll(filepath.Dir(rel), 0o755); err != nil {
		return err
	}
	f, err := root.OpenFile(rel, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o644)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, p.Content)
	return errors.Join(err, f.Close())
}
