package jsontree

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for in, at := range map[string]int{"": 0, "{\n \"a\": [\n": 9, "{\"a\": 1,}": 8, "\xe9": 0, "{} {}": 3, "[1e999]": -1, " [ 1 , null ]\n": -1, `{"a":1,"a":2}`: -1} {
		_, err := Parse([]byte(in))
		var no *SyntaxError
		if errors.As(err, &no) != (at >= 0) || at >= 0 && no.Offset != at {
			t.Errorf("%q: %v", in, err)
		}
	}
	n, err := Parse([]byte(`{"a": {"b": 1, "\u0062": 2}, "a": 3}`))
	if m, twice := n.Twice(); err != nil || !twice || m.Name != "b" || m.From != 15 {
		t.Errorf("%v, %+v", err, m)
	}
	if v, ok := n.Get("a"); !ok || v.Kind != '{' || n.Index("c") != -1 {
		t.Errorf("%+v", v)
	}
}

// Every value stands where its node says, and a string says what encoding/json reads.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"a": [1, true, null, "x\ud800", {"b": {}}], "c" : -1.5e3 }`))
	f.Add([]byte("[\"\\\"\",\n[]]"))
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := Parse(b)
		if err != nil {
			return
		}
		var visit func(n Node)
		visit = func(n Node) {
			text := b[n.From:n.To]
			if !json.Valid(text) || !bytes.Equal(bytes.TrimSpace(text), text) {
				t.Fatalf("%q is no value of %q", text, b)
			}
			var s string
			if err := json.Unmarshal(text, &s); n.Kind == '"' && (err != nil || s != n.Text) {
				t.Fatalf("%q reads as %q", text, n.Text)
			}
			for _, m := range n.Members {
				visit(m.Value)
			}
		}
		visit(n)
	})
}
