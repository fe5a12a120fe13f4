package config

import (
	"bytes"
	"fmt"
	"reflect"
	"regexp"
	"sync"
)

// The lines SetLease looks for. A table's header ends the table before it.
var (
	header   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^[ \t]*\[[^\n]*$`) })
	governs  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^[ \t]*\[[ \t]*governance[ \t]*\][^\n]*(\n|\z)`) })
	leaseKey = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^([ \t]*lease[ \t]*=[ \t]*)(?:"[^"\n]*"|'[^'\n]*')`)
	})
)

// SetLease returns odd.toml b with [governance] lease set to value, "off" or
// "required", and every other byte as it was. What it returns is read again: a
// file so unusual that anything else would change is an error, never rewritten.
func SetLease(file string, b []byte, value string) ([]byte, error) {
	before, err := Parse(file, b)
	if err != nil {
		return nil, err
	}
	out := setLease(b, fmt.Sprintf("%q", value))
	after, err := Parse(file, out)
	before.Lease = value
	if err != nil || !reflect.DeepEqual(before, after) {
		return nil, fmt.Errorf("%s: cannot be edited safely; write [governance] on a line of its own and lease = %q below it, commit that and run the gate again", file, value)
	}
	return out, nil
}

func setLease(b []byte, quoted string) []byte {
	at := governs().FindIndex(b)
	if at == nil {
		out := bytes.Clone(b)
		if len(out) > 0 && out[len(out)-1] != '\n' {
			out = append(out, '\n')
		}
		return append(out, "\n[governance]\nlease = "+quoted+"\n"...)
	}
	end := len(b)
	if next := header().FindIndex(b[at[1]:]); next != nil {
		end = at[1] + next[0]
	}
	table := b[at[1]:end]
	if leaseKey().Match(table) {
		table = leaseKey().ReplaceAll(table, []byte("${1}"+quoted))
	} else {
		table = append([]byte("lease = "+quoted+"\n"), table...)
	}
	head := bytes.TrimRight(b[:at[1]], "\n")
	return bytes.Join([][]byte{head, []byte("\n"), table, b[end:]}, nil)
}
