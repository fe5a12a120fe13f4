// Package consoletest has the environment of a command under test.
package consoletest

import (
	"bytes"
	"strings"

	"github.com/odd-cli/odd/cmd/internal/console"
)

// Quiet returns an environment without a terminal, and what is written to its stdout and stderr.
func Quiet() (console.Env, *bytes.Buffer, *bytes.Buffer) {
	var out, talk bytes.Buffer
	return console.Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &talk, Dir: "/", Getenv: func(string) string { return "" }}, &out, &talk
}
