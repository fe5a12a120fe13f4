package config

import (
	_ "embed"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"
)

//go:embed template.toml
var template string

//go:embed reference.toml
var reference string

// Template is the odd.toml a new repository starts with: the settings that a person
// should decide about. It turns the commitment lease off, which only an odd.toml can
// do; the first commitment gate turns it on.
func Template() []byte { return []byte(template) }

// Reference is an odd.toml of every key with its default, or an example, and what it
// means. A test holds it to the keys that Parse knows.
func Reference() string { return reference }

// Doc is what the reference says of one key.
type Doc struct {
	Path    []string // the tables above the key, as the reference names them, and the key
	Value   string   // in TOML
	Default bool     // Value is the default; else it is an example
	Means   string
	About   string // of the table, "" where the reference is silent
}

var (
	docTable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:# )?\[+([^\]]+)\]+$`) })
	docKey   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:# )?([a-z_0-9]+) = (.+?) +# (.+)$`) })
	docBare  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:# )?([a-z_0-9]+) = (.+)$`) })
)

// Docs is the reference, key by key, in its order.
var Docs = sync.OnceValue(readDocs)

func readDocs() []Doc {
	var out []Doc
	var table []string
	var about, comment string
	for line := range strings.Lines(reference) {
		line = strings.TrimSuffix(line, "\n")
		m := docKey().FindStringSubmatch(line)
		if m == nil {
			if m = docBare().FindStringSubmatch(line); m != nil {
				m = append(m, "")
			}
		}
		switch head := docTable().FindStringSubmatch(line); {
		case head != nil:
			table, _ = ParseKey(head[1])
			about, comment = comment, ""
		case m != nil:
			d := Doc{Path: append(append([]string{}, table...), m[1]), Value: m[2], Means: m[3], About: about}
			d.Default = isDefault(d.Path, d.Value)
			out = append(out, d)
		case strings.HasPrefix(line, "# "):
			comment = strings.TrimPrefix(comment+" "+line[2:], " ")
		default:
			comment = ""
		}
	}
	return out
}

// isDefault reports whether an odd.toml that sets nothing else means what none means.
func isDefault(path []string, value string) bool {
	c, err := Parse("odd.toml", []byte(toml.Key(path).String()+" = "+value))
	return err == nil && reflect.DeepEqual(c, Default())
}

// Explain is what the reference says of the key at path; false where odd.toml has no such
// key. A part of path that a person chooses, as the name of a lane, is any name.
func Explain(path []string) (Doc, bool) {
	k, known, _ := findKey(path)
	if !known {
		return Doc{}, false
	}
	var found Doc
	about := "" // another table may document the key, but not this table
	for _, d := range Docs() {
		if slices.Equal(d.Path[:len(d.Path)-1], path[:len(path)-1]) {
			about = d.About
		}
		all, _ := matchPattern(k.name, d.Path)
		switch {
		case !all:
		case slices.Equal(d.Path, path):
			return d, true
		case found.Path == nil:
			found = d
		}
	}
	found.Path, found.About = path, about
	return found, true
}

// Below are the keys that the reference lists in the table at path, and in the tables
// below it; none where there is no such table.
func Below(path []string) (out []Doc) {
	for _, d := range Docs() {
		if len(d.Path) > len(path) && slices.Equal(d.Path[:len(path)], path) {
			out = append(out, d)
		}
	}
	return out
}
