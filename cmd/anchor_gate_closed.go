package cmd

import (
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/odd-cli/odd/okf"
)

// asHook reports whether a command line asks for the gate in its hook form, as
// far as that can be told before the line is read.
func asHook(args []string) bool {
	hook := slices.ContainsFunc(args, func(a string) bool {
		return strings.HasPrefix(a, "-") && strings.HasPrefix(strings.TrimLeft(a, "-"), "hook")
	})
	return hook && slices.Contains(args, "anchor") && slices.Contains(args, "gate")
}

// failClosed turns every end but a decision into exit 2, which a harness takes
// for no: it takes any other code, and a program that a signal ended, for yes.
func failClosed(env Env, run func() int) (code int) {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // a pipe that nobody reads is an error of the write
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintln(env.Stderr, okf.Visible(fmt.Sprintf("odd: anchor gate: a fault of odd: %v", p)))
			code = exitUsage
		}
	}()
	if code = run(); code != exitDone {
		code = exitUsage
	}
	return code
}
