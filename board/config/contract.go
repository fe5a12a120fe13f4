package config

import (
	"fmt"
	"slices"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/persona/contract"
)

// setNamed returns a setter of one of a list of names, however it is spelled: case, "_"
// and "-" do not count.
func setNamed[T ~string](at func(*Config) *T, all func() []T) func(*Config, string, node) error {
	return func(c *Config, _ string, n node) error {
		v, err := nameOf(n, all())
		if err == nil {
			*at(c) = v
		}
		return err
	}
}

func nameOf[T ~string](n node, all []T) (T, error) {
	s, err := str(n, word)
	if err != nil {
		return "", err
	}
	return contract.Named(s, all)
}

// roleOfKind sets one key of [contract.roles]: which role works tasks of a kind.
func roleOfKind(c *Config, kind string, n node) error {
	if kinds := board.Kinds(); !slices.Contains(kinds, kind) {
		_, err := contract.Named(kind, kinds)
		return fmt.Errorf("the kind of task: %w", err)
	}
	role, err := nameOf(n, contract.RoleNames())
	if err != nil {
		return err
	}
	if c.Contract.Roles == nil {
		c.Contract.Roles = map[string]contract.Role{}
	}
	c.Contract.Roles[kind] = role
	return nil
}
