package okf

import "errors"

// New prints a new file in canonical form (known keys in fixed order, then the
// rest as given) and parses it.
func New(path string, fields []Field, body string) (Atom, error) {
	return Atom{}, errors.New("new: unwritten")
}

// Print is the canonical form of a. Print(Parse(b)) is b for a file that New made.
func Print(a Atom) []byte { return nil }
