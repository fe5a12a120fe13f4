package policy

import (
	"slices"
	"strings"
)

// call is one program being run.
type call struct {
	argv []word
	dirs dirs
	from input
}

func (c call) name() string { return c.argv[0].text }

func (c call) texts() []string {
	out := make([]string, len(c.argv))
	for i, a := range c.argv {
		out[i] = a.text
	}
	return out
}

func (c call) with(argv []word) call { return call{argv: argv, dirs: c.dirs, from: c.from} }

// option is one flag of a program, by its letter or its long name.
type option struct {
	name  string // "r", "recursive"
	long  bool   // it stands behind two dashes, and may be shortened
	value word
}

// means reports an option by one of its names. A long one may be shortened.
func (o option) means(names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		return o.name == n || o.long && len(n) > 1 && hasLongFlag(o.name, []string{n})
	})
}

// parsed is an argv taken apart.
type parsed struct {
	options  []option
	operands []word
	dynamic  bool // a word that may be a flag is not known
}

// first is the first operand, no word where there is none.
func (p parsed) first() word {
	if len(p.operands) == 0 {
		return word{}
	}
	return p.operands[0]
}

// options takes an argv apart as getopt does. takes are the letters that have a
// value, long the long names that do.
func (c call) options(takes string, long ...string) parsed {
	var out parsed
	args := c.argv[1:]
	for i := 0; i < len(args); i++ {
		a := args[i]
		out.dynamic = out.dynamic || a.splits
		switch {
		case !a.known && !strings.HasPrefix(a.lead, "-"):
			out.dynamic = out.dynamic || a.lead == ""
			out.operands = append(out.operands, a)
		case !a.known:
			out.dynamic = true
		case a.text == "--":
			out.operands = append(out.operands, args[i+1:]...)
			return out
		case strings.HasPrefix(a.text, "--"):
			name, value, has := strings.Cut(a.text[2:], "=")
			o := option{name: name, long: true, value: knownWord(value)}
			if !has && hasLongFlag(name, long) && i+1 < len(args) {
				i++
				o.value = args[i]
			}
			out.options = append(out.options, o)
		case len(a.text) > 1 && a.text[0] == '-':
			i += out.parseCluster(a.text[1:], takes, args[i+1:])
		default:
			out.operands = append(out.operands, a)
		}
	}
	return out
}

// parseCluster reads letters behind one dash and returns how many words more it took.
func (p *parsed) parseCluster(letters, takes string, rest []word) int {
	for j := range len(letters) {
		o := option{name: letters[j : j+1]}
		took := 0
		if valued := strings.Contains(takes, o.name); valued && j+1 < len(letters) {
			o.value = knownWord(letters[j+1:])
		} else if valued && len(rest) > 0 {
			o.value, took = rest[0], 1
		}
		p.options = append(p.options, o)
		if took > 0 || o.value.text != "" {
			return took
		}
	}
	return 0
}

// hasLongFlag reports whether a long flag, which may be shortened, is one of names.
func hasLongFlag(given string, names []string) bool {
	return given != "" && slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, given) })
}

// option returns the last of the flags of these names.
func (p parsed) option(names ...string) (option, bool) {
	for _, o := range slices.Backward(p.options) {
		if o.means(names...) {
			return o, true
		}
	}
	return option{}, false
}

func (p parsed) has(names ...string) bool {
	_, ok := p.option(names...)
	return ok
}
