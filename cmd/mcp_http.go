package cmd

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/mcp"
)

// leastToken is the shortest token that a person may choose, in bytes, and
// lastCalls how long a server that is told to end waits for the calls in hand.
const (
	leastToken = 16
	lastCalls  = 2 * time.Second
)

// serveHTTP serves on the loopback address until ctx is done.
func serveHTTP(ctx context.Context, env Env, s *sdk.Server, port int, tokenEnv string) error {
	token, err := httpToken(env, tokenEnv)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return fmt.Errorf("--http %d: %w; choose another port, or 0 for a free one", port, err)
	}
	where := "the token is " + tokenEnv + "'s"
	if tokenEnv == "" {
		file, err := keepToken(env, l.Addr().(*net.TCPAddr).Port, token)
		if err != nil {
			return errors.Join(err, l.Close())
		}
		defer os.Remove(file)
		where = "the token is in " + file
	}
	talk(env, "mcp: serving http://%s%s; %s", l.Addr(), mcp.Endpoint, where)
	return serveUntil(ctx, mcp.HTTP(s, token), l, lastCalls)
}

// serveUntil serves until ctx is done; then the calls in hand have wait to end.
func serveUntil(ctx context.Context, server interface {
	Serve(net.Listener) error
	Shutdown(context.Context) error
	Close() error
}, l net.Listener, wait time.Duration) error {
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	last, stop := context.WithTimeout(context.WithoutCancel(ctx), wait)
	defer stop()
	if err := server.Shutdown(last); err != nil {
		_ = server.Close() // whoever is still there has had their time
	}
	return ctx.Err()
}

// httpToken is the token of a server: the environment's, or 256 random bits.
func httpToken(env Env, name string) (string, error) {
	if name != "" {
		token := env.Getenv(name)
		if len(token) < leastToken {
			return "", refuse("token", "--token-env %s: holds %d bytes; want %d or more, such as openssl rand -hex 32 makes", name, len(token), leastToken)
		}
		return token, nil
	}
	b := make([]byte, 32)
	if err := env.random(b); err != nil {
		return "", err
	}
	return hex.EncodeToString(b), nil
}

// keepToken writes the token where only its owner reads it and no session may.
func keepToken(env Env, port int, token string) (string, error) {
	r, err := repo.Open(env.Dir, env.Environ)
	if err != nil {
		return "", refuse("no-repository", "there is no git directory to keep the token in; name an environment variable with --token-env")
	}
	dir := filepath.Join(r.CommonDir(), "odd")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	file := filepath.Join(dir, fmt.Sprintf("mcp-%d.token", port))
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(token + "\n")
	return file, errors.Join(err, f.Close())
}
