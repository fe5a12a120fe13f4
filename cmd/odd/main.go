// Command odd hands the real world to package cmd and exits with its code.
package main

import (
	"os"

	"github.com/odd-cli/odd/cmd"
)

func main() {
	cmd.SizeHeap()
	os.Exit(cmd.Main(cmd.OS(), os.Args...))
}
