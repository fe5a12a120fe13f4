package drain

import (
	"bytes"
	"context"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/persona/session"
)

// What an op taught is read once a drain, and again where other bytes tell of it.
func TestPastIsReadOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid, forDocs)
	w.answer = func(context.Context, session.Request) (session.Emission, error) {
		e := delivers(1, "# A\n")
		e.Atoms = []session.Atom{term("x"), term("x")}
		return e, nil
	}
	w.must()
	d := drain{Options: w.o, repo: w.repo, at: w.fresh()}
	first, err := d.past()
	if err != nil || len(first) != 1 || first[0].Well || first[0].Why != string(pipeline.RuleRefused) {
		t.Fatalf("%+v, %v", first, err)
	}
	files := d.at.files
	d.at.files = fstest.MapFS{} // there is nothing left to read
	again, err := d.past()
	if diff := cmp.Diff(first, again); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}

	// The same file without its last record, the op's ending.
	for name, f := range d.at.sums {
		b, err := fs.ReadFile(files, "knowledge/"+name)
		if err != nil {
			t.Fatal(err)
		}
		for !bytes.HasSuffix(b, []byte(`"v":1}`+"\n")) || bytes.Contains(b, []byte(`"kind":"op_end"`)) {
			b = b[:1+bytes.LastIndexByte(b[:len(b)-1], '\n')]
		}
		d.at.sums[name] = summed{"other", f.Sum}
		d.at.files = fstest.MapFS{"knowledge/" + name: &fstest.MapFile{Data: b}}
	}
	if got, err := d.past(); err != nil || len(got) > 0 {
		t.Errorf("of other bytes: %+v, %v", got, err)
	}
}
