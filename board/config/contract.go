package config

import (
	"fmt"
	"slices"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/persona/contract"
)

func nameOf[T ~string](n node, all []T) (T, error) {
	s, err := str(n, word)
	if err != nil {
		return "", err
	}
	return contract.Named(s, all)
}

// kindName is the name of a kind of task.
func kindName(kind string) error {
	_, err := contract.Named(kind, board.Kinds())
	if err == nil && !slices.Contains(board.Kinds(), kind) {
		err = fmt.Errorf("write %q in lower case", kind)
	}
	if err != nil {
		return fmt.Errorf("the kind of task: %w", err)
	}
	return nil
}
