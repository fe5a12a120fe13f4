package config

import (
	"errors"
	"fmt"
	"slices"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/persona/contract"
)

// named is a setter of one of a list of names, however it is spelled: case, "_"
// and "-" do not count.
func named[T ~string](at func(*Config) *T, all func() []T) func(*Config, string, node) error {
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

// servers reads the names of the [[mcp]] tables and reserves the rest.
func servers(c *Config, part string, n node) error {
	if err := reserved(isTables)(c, part, n); err != nil {
		return err
	}
	tables, _ := n.value.([]map[string]any)
	for _, t := range tables {
		name, _ := t["name"].(string)
		switch {
		case word(name) != nil:
			return errors.New("a server without a name; write name = \"files\" in each [[mcp]] table")
		case slices.Contains(c.Servers, name):
			return fmt.Errorf("server %q stands twice; give each its own name", name)
		}
		c.Servers = append(c.Servers, name)
	}
	return nil
}
