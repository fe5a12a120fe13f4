package config

import "slices"

// Usable are the substrates that a session of this configuration may be of, each
// once: the usual one first.
func (c Config) Usable() []string { return []string{c.Session.Substrate} }

// Costly names a substrate that can cost money, "" where none can: the embedded
// ones cannot, another only where odd.toml says so.
func (c Config) Costly() string {
	i := slices.IndexFunc(c.Usable(), func(name string) bool {
		return name != "extract" && name != "replay" && !c.Substrates[name].Free
	})
	if i < 0 {
		return ""
	}
	return c.Usable()[i]
}

// Free reports that no session can cost money, whatever substrate takes it.
func (c Config) Free() bool { return c.Costly() == "" }
