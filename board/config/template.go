package config

import _ "embed"

//go:embed template.toml
var template string

// Template is the odd.toml a new repository starts with: every key with its
// default and what it means, all of them comments except the ones a person
// should decide about. It turns the commitment lease off, which only an
// odd.toml can do; the first commitment gate turns it on.
func Template() []byte { return []byte(template) }
