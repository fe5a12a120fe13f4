package testscripts

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/rogpeppe/go-internal/testscript"
)

// sarifFile is the schema that OASIS publishes of SARIF 2.1.0, Errata 01, as it is:
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json
var sarifFile = filepath.Join("testdata", "schema", "sarif-2.1.0.json")

// sarifSchema reads that file. It is of draft 4, and uses nothing of it that draft 7,
// which the validator knows, has otherwise, but for the name of its id.
var sarifSchema = sync.OnceValues(func() (*jsonschema.Resolved, error) {
	b, err := os.ReadFile(sarifFile)
	if err != nil {
		return nil, err
	}
	b = bytes.Replace(b, []byte("draft-04/schema#"), []byte("draft-07/schema#"), 1)
	b = bytes.Replace(b, []byte("\n  \"id\": "), []byte("\n  \"$id\": "), 1)
	var s jsonschema.Schema
	if err := json.Unmarshal(b, &s); err != nil {
		return nil, err
	}
	return s.Resolve(nil)
})

// asSARIF holds a text to the schema.
func asSARIF(text string) error {
	schema, err := sarifSchema()
	if err != nil {
		return err
	}
	var log any
	if err := json.Unmarshal([]byte(text), &log); err != nil {
		return err
	}
	return schema.Validate(log)
}

// sarif holds the last stdout to the schema of SARIF.
func sarif(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: sarif")
	}
	ts.Check(asSARIF(ts.ReadFile("stdout")))
}

// The schema refuses what is no SARIF, so that what passes says something.
func TestSARIFSchema(t *testing.T) {
	t.Parallel()
	const log = `{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "odd"}}, "results": [{"message": {"text": "x"}, "level": "note",
		"locations": [{"physicalLocation": {"artifactLocation": {"uri": "a.md"}, "region": {"startLine": 1}}}]}]}]}`
	if err := asSARIF(log); err != nil {
		t.Fatal(err)
	}
	for _, wrong := range [][2]string{
		{`"2.1.0"`, `"2.1"`},
		{`"name": "odd"`, `"nom": "odd"`},
		{`"note"`, `"info"`},
		{`"startLine": 1`, `"startLine": 0`},
		{`{"text": "x"}`, `{}`},
		{`"uri": "a.md"`, `"path": "a.md"`},
	} {
		if err := asSARIF(strings.Replace(log, wrong[0], wrong[1], 1)); err == nil {
			t.Errorf("with %s it is SARIF", wrong[1])
		}
	}
}
