package cmd

import (
	"bytes"
	"errors"
	"path"
	"path/filepath"
	"strings"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/reconcile"
)

// maxEmission is the most odd reconcile reads of one file: sixteen times what a
// session may say in atoms of ordinary size.
const maxEmission = 16 << 20

// readEmissions reads every file, or stdin for "-". The error of malformed ones
// is a *reconcile.Malformed that lists them all.
func readEmissions(env Env, files []string) ([]reconcile.Incoming, error) {
	var in []reconcile.Incoming
	var bad []okf.Problem
	for _, name := range files {
		b, err := readEmission(env, name)
		if err != nil {
			return nil, err
		}
		if name == "-" {
			name = "stdin"
		}
		more, ps, err := parseEmission(filepath.ToSlash(name), b)
		if err != nil {
			return nil, err
		}
		in, bad = append(in, more...), append(bad, ps...)
	}
	if len(bad) > 0 {
		return nil, &reconcile.Malformed{Problems: bad}
	}
	return in, nil
}

func readEmission(env Env, name string) ([]byte, error) {
	b, err := readInput(env, name, maxEmission)
	if err != nil {
		return nil, err
	}
	if len(b) > maxEmission {
		return nil, refuse("malformed", "%s: more than %d bytes; split it", name, maxEmission)
	}
	return b, nil
}

// parseEmission reads an atom file, which starts with its fence, or an emission.
func parseEmission(name string, b []byte) ([]reconcile.Incoming, []okf.Problem, error) {
	if bytes.HasPrefix(bytes.TrimPrefix(b, []byte("\ufeff")), []byte("---")) {
		a, err := okf.Parse(path.Base(name), b)
		var p okf.Problem
		if errors.As(err, &p) {
			p.Path = name
			return nil, []okf.Problem{p}, nil
		}
		return []reconcile.Incoming{{Atom: a, At: name + ":1"}}, nil, err
	}
	e, ps := session.Parse(b)
	for i := range ps {
		ps[i].Path = name
	}
	switch {
	case len(ps) > 0:
		return nil, ps, nil
	case e.Outcome != session.Completed:
		return nil, nil, refuse("incomplete", "%s: %s; odd merges only the output of a completed session", name, declared(e))
	case e.Change != nil:
		return nil, nil, refuse("change", "%s: the output changes files that are not atoms, and odd reconcile takes atoms only", name)
	}
	var in []reconcile.Incoming
	for _, a := range e.Atoms {
		in = append(in, reconcile.Incoming{Atom: a.Atom, Base: a.Base, At: strings.Replace(a.At, session.Source, name, 1)})
	}
	return in, nil, nil
}

// declared says how an emission ended that did not complete.
func declared(e session.Emission) string {
	if e.Failure == session.Silent {
		return e.Detail
	}
	parts := []string{"the session declares " + string(e.Outcome)}
	for _, s := range []string{e.Failure, e.Detail} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, ": ")
}
