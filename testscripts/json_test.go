package testscripts

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/rogpeppe/go-internal/testscript"
)

// outputFile is the schema of what every verb prints with --json: below $defs one for each
// verb, and "error" for what any of them prints where it fails.
var outputFile = filepath.Join("testdata", "schema", "odd.json")

// outputs are the schemas of that file. The scripts hold every --json that odd prints in them
// to these; with -update they add what they see.
var outputs = sync.OnceValue(func() *outputSchema {
	o := &outputSchema{read: map[string]*jsonschema.Resolved{}}
	b, err := os.ReadFile(outputFile)
	if err == nil {
		err = json.Unmarshal(b, &o.all)
	}
	if err != nil {
		panic(err)
	}
	return o
})

type outputSchema struct {
	one  sync.Mutex
	all  jsonschema.Schema
	read map[string]*jsonschema.Resolved // by the name of a schema, once something was held to it
}

// checkOutput holds what odd printed to the schema of its verb.
func (o *outputSchema) checkOutput(args []string, stdout string) error {
	verb := verbOfLine(args)
	if verb == "" || !slices.Contains(args, "--json") || strings.TrimSpace(stdout) == "" {
		return nil
	}
	o.one.Lock()
	defer o.one.Unlock()
	for dec := json.NewDecoder(strings.NewReader(stdout)); dec.More(); {
		var v any
		if err := dec.Decode(&v); err != nil {
			return err
		}
		name := verb
		if m, ok := v.(map[string]any); ok && len(m) == 1 && m["error"] != nil {
			name = "error"
		}
		if *update {
			if o.all.Defs[name] == nil {
				o.all.Defs[name] = &jsonschema.Schema{}
			}
			learnShape(o.all.Defs[name], v)
			continue
		}
		if err := o.validateAs(name, v); err != nil {
			return err
		}
	}
	return nil
}

func (o *outputSchema) validateAs(name string, v any) error {
	if o.read[name] == nil {
		s := &jsonschema.Schema{Ref: "#/$defs/" + strings.ReplaceAll(name, " ", "%20"), Defs: o.all.Defs}
		r, err := s.Resolve(nil)
		if err != nil {
			return err
		}
		o.read[name] = r
	}
	return o.read[name].Validate(v)
}

// verbOfLine returns the verb of a command line, "" where it names none.
func verbOfLine(args []string) string {
	words, longest := "", ""
	for i, a := range args {
		if strings.HasPrefix(a, "-") || i > 0 && args[i-1] == "-C" || a == "odd" && i == 0 {
			continue
		}
		words = strings.TrimSpace(words + " " + a)
		if isVerb(words) {
			longest = words
		}
	}
	return longest
}

// isVerb reports a verb of the tables of which TestEveryVerbIsSomebodys knows that they have all.
func isVerb(words string) bool {
	noun, below := "", words
	if at := strings.LastIndex(words, " "); at >= 0 {
		noun, below = words[:at], words[at+1:]
	}
	return personsActs[words] != "" || noun == "" && slices.Contains(anyones, below) || noun != "" && slices.Contains(strings.Fields(anyonesBelow[noun]), below)
}

// learnShape adds to a schema what it lacks for a value, and requires the keys that every value has. An object whose additionalProperties have a
// schema is a map: its keys are names of things.
func learnShape(s *jsonschema.Schema, v any) {
	typ := ""
	switch v := v.(type) {
	case map[string]any:
		typ = "object"
		if more := s.AdditionalProperties; more != nil && more.Not == nil {
			for _, one := range v {
				learnShape(more, one)
			}
			break
		}
		if s.AdditionalProperties = (&jsonschema.Schema{Not: &jsonschema.Schema{}}); s.Type == "" && s.Types == nil {
			s.Required = slices.Sorted(maps.Keys(v))
		}
		s.Required = slices.DeleteFunc(s.Required, func(key string) bool { _, there := v[key]; return !there })
		for key, one := range v {
			if s.Properties == nil {
				s.Properties = map[string]*jsonschema.Schema{}
			}
			if s.Properties[key] == nil {
				s.Properties[key] = &jsonschema.Schema{}
			}
			learnShape(s.Properties[key], one)
		}
	case []any:
		typ = "array"
		for _, one := range v {
			if s.Items == nil {
				s.Items = &jsonschema.Schema{}
			}
			learnShape(s.Items, one)
		}
	case string:
		typ = "string"
	case float64:
		typ = "number"
	case bool:
		typ = "boolean"
	default:
		typ = "null"
	}
	switch {
	case s.Type == typ || slices.Contains(s.Types, typ):
	case s.Type == "" && s.Types == nil:
		s.Type = typ
	default:
		s.Types = slices.Sorted(slices.Values(append(s.Types, strings.Fields(s.Type+" "+typ)...)))
		s.Type = ""
	}
}

// writeLearned writes the schema with what the scripts added.
func (o *outputSchema) writeLearned(t *testing.T) {
	o.one.Lock()
	defer o.one.Unlock()
	b, err := json.MarshalIndent(&o.all, "", " ")
	if err == nil {
		b = regexp.MustCompile(`\{\s*"type": ("\w+")\s*\}`).ReplaceAll(b, []byte(`{"type": $1}`))
		b = regexp.MustCompile(`"(?:required|type)": \[[^\]]*\]`).ReplaceAllFunc(b, func(list []byte) []byte { return bytes.Join(bytes.Fields(list), []byte(" ")) })
		err = os.WriteFile(outputFile, append(b, '\n'), 0o644)
	}
	if err != nil {
		t.Error(err)
	}
}

// holdOutput fails a script in which odd prints what its schema does not allow.
func holdOutput(ts *testscript.TestScript, args []string, stdout string) {
	if err := outputs().checkOutput(args, stdout); err != nil {
		ts.Fatalf("%s: %v; if that is meant, go test ./testscripts -run TestScript -update adds it to %s", strings.Join(args, " "), err, outputFile)
	}
}

// TestOutputSchema: the schema refuses a key that no verb prints, one that is missing, another type and a verb it lacks,
// so that what passes says something; and the way out of a finding has one name in it.
func TestOutputSchema(t *testing.T) {
	t.Parallel()
	o := outputs()
	o.one.Lock()
	defer o.one.Unlock()
	verb := verbOfLine([]string{"odd", "task", "list", "--json"})
	rowWith := func(key string, value any) []any {
		row := map[string]any{"id": "a", "kind": "fix", "priority": "p1", "state": "ready", "title": "A"}
		if row[key] = value; value == nil {
			delete(row, key)
		}
		return []any{row}
	}
	if err := o.validateAs(verb, rowWith("role", "keeper")); err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []any{rowWith("Role", "keeper"), rowWith("id", 3.0), rowWith("state", nil), "a"} {
		if o.validateAs(verb, wrong) == nil {
			t.Errorf("%v passes as what odd task list prints", wrong)
		}
	}
	if o.validateAs("task lost", nil) == nil {
		t.Error("a verb without a schema passes")
	}
	for _, name := range slices.Sorted(maps.Keys(o.all.Defs)) {
		if name != "error" && !isVerb(name) {
			t.Errorf("%s: odd has no such verb", name)
		}
		eachKey(o.all.Defs[name], func(key string) {
			if strings.ToLower(key) != key || strings.Contains(key, "-") {
				t.Errorf("%s: the key %q; write lower case words with _ between them", name, key)
			}
			if slices.Contains([]string{"hint", "way", "way_out", "remedy"}, key) {
				t.Errorf("%s: the key %q; the way out of a finding is called fix", name, key)
			}
		})
	}
}

func eachKey(s *jsonschema.Schema, do func(key string)) {
	if s == nil {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(s.Properties)) {
		do(key)
		eachKey(s.Properties[key], do)
	}
	eachKey(s.Items, do)
	eachKey(s.AdditionalProperties, do)
}
