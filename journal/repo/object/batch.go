package object

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/odd-cli/odd/journal/repo/gitcmd"
)

// batch answers many reads with one `git cat-file --batch` process. It needs no Close: its input is closed when the
// batch is garbage collected or odd exits, and cat-file exits at the end of its input.
type batch struct {
	mu   sync.Mutex
	run  *gitcmd.Runner
	proc *catFile
}

// catFile is one running process. It does not refer to the batch, so that the batch can be collected.
type catFile struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// batchWindow is how many requests are written before the first answer is read. Their lines (41 or 65 bytes each)
// fit into a pipe's 64 KiB, so the writer cannot block while git waits for its answers to be read.
const batchWindow = 512

// readEach reads the objects in order and passes each to fn; an error of fn ends it. A missing object is an error
// that wraps errNoObject. After any error the process is dropped, because unread answers may still be in the pipe.
func (b *batch) readEach(oids []OID, fn func(i int, kind string, data []byte) error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.start(); err != nil {
		return err
	}
	for at := 0; at < len(oids); at += batchWindow {
		if err := b.readWindow(oids, at, min(at+batchWindow, len(oids)), fn); err != nil {
			b.stop()
			return err
		}
	}
	return nil
}

// readWindow reads the objects oids[from:to].
func (b *batch) readWindow(oids []OID, from, to int, fn func(int, string, []byte) error) error {
	var ask strings.Builder
	for _, o := range oids[from:to] {
		ask.WriteString(string(o) + "\n")
	}
	if _, err := io.WriteString(b.proc.in, ask.String()); err != nil {
		return fmt.Errorf("git cat-file: %w", err)
	}
	for i := from; i < to; i++ {
		kind, data, err := b.proc.readAnswer(oids[i])
		if err != nil {
			return err
		}
		if err := fn(i, kind, data); err != nil {
			return err
		}
	}
	return nil
}

// readAnswer reads one "OID kind size" line and the bytes after it.
func (c *catFile) readAnswer(oid OID) (string, []byte, error) {
	head, err := c.out.ReadString('\n')
	if err != nil {
		return "", nil, fmt.Errorf("%s: git cat-file ended: %w", oid, err)
	}
	f := strings.Fields(head)
	if len(f) != 3 {
		return "", nil, fmt.Errorf("%s: %w", oid, errNoObject)
	}
	n, err := strconv.Atoi(f[2])
	if err != nil {
		return "", nil, fmt.Errorf("%s: git cat-file: %w", oid, err)
	}
	data := make([]byte, n+1) // a newline follows the object
	if _, err := io.ReadFull(c.out, data); err != nil {
		return "", nil, fmt.Errorf("%s: git cat-file: %w", oid, err)
	}
	return f[1], data[:n:n], nil
}

// start starts the process unless it runs already.
func (b *batch) start() error {
	if b.proc != nil {
		return nil
	}
	cmd := b.run.Command(context.Background(), gitcmd.Call{Args: []string{"cat-file", "--batch"}, Read: true})
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("git cat-file: %w", err)
	}
	b.proc = &catFile{cmd: cmd, in: in, out: bufio.NewReaderSize(out, 1<<16)}
	runtime.AddCleanup(b, func(c *catFile) { c.close() }, b.proc)
	return nil
}

// stop ends the process if one runs; the next read starts another.
func (b *batch) stop() {
	if b.proc != nil {
		b.proc.close()
		b.proc = nil
	}
}

// close closes the input and reaps the process. It may be called twice.
func (c *catFile) close() {
	c.in.Close()
	go c.cmd.Wait()
}
