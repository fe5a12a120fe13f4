package servers

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/session/cage"
	"github.com/odd-cli/odd/reconcile/policy"
)

// Spec is one server as a person configured it. It holds names of variables and
// never their values.
type Spec struct {
	Name       string          // lower-case letters, digits and "-", at most 24
	Argv       []string        // of a server that speaks on its stdin and stdout; nil where URL is set
	URL        string          // of a server that speaks HTTP; "" where Argv is set
	TokenEnv   string          // the variable that holds the bearer token for URL; "" for none
	Env        []string        // variables that the process of Argv sees besides those of every program
	Network    cage.Network    // what the process of Argv reaches
	Read       []string        // files and folders that the process of Argv may read besides; absolute
	Tree       bool            // the process of Argv starts in the session's tree, which it may read, and not in its own folder
	Pin        string          // the SHA-256 that its list of tools must have; "" takes any
	Tools      []string        // the server's own names of the tools that may be used; ["*"] is every tool
	Reads      []string        // of those, the ones that a person says change nothing
	TrustHints bool            // the server is believed where it says that a tool changes nothing
	Roles      []contract.Role // that may use it; none: every role but those with a fresh context
	Required   bool            // no session that is granted the server begins without it
	Start      time.Duration   // to start and list its tools; 0 is DefaultStart
	Timeout    time.Duration   // of one call; 0 is DefaultTimeout
	MaxBytes   int             // of one message of the server; 0 is DefaultMaxBytes
}

// The defaults and bounds of a Spec.
const (
	DefaultStart    = 15 * time.Second // until its tools are listed
	DefaultTimeout  = 30 * time.Second // of a call
	DefaultMaxBytes = 1 << 20          // of one message
)

// withDefaults returns s with its defaults.
func (s Spec) withDefaults() Spec {
	s.Start, s.Timeout, s.MaxBytes = cmp.Or(s.Start, DefaultStart), cmp.Or(s.Timeout, DefaultTimeout), cmp.Or(s.MaxBytes, DefaultMaxBytes)
	return s
}

// Every is the entry of Spec.Tools that means all tools.
const Every = "*"

// Allows reports a tool, by the server's own name, that a person lets be used.
func (s Spec) Allows(tool string) bool {
	return slices.Contains(s.Tools, tool) || slices.Contains(s.Tools, Every)
}

// Grant is what a session that may use the server may ask of it.
func (s Spec) Grant() policy.Server {
	out := policy.Server{Prefix: toolPrefix(s.Name), Every: s.Allows(Every), Trust: s.TrustHints}
	for _, tool := range s.Tools {
		out.Tools = append(out.Tools, toolName(s.Name, tool))
	}
	for _, tool := range s.Reads {
		out.Reads = append(out.Reads, toolName(s.Name, tool))
	}
	return out
}

// Values are the variables of the spec that are set, as "NAME=value".
func (s Spec) Values(environ []string) []string {
	var out []string
	for _, kv := range environ {
		if name, _, ok := strings.Cut(kv, "="); ok && slices.Contains(s.Env, name) {
			out = append(out, kv)
		}
	}
	return out
}

// For are those of the configured servers that a contract grants, in their order.
// Without a contract there is none. One that reads the tree tells of the work, which a
// fresh context keeps away.
func For(all []Spec, k contract.Contract) []Spec {
	if k.Role == "" {
		return nil
	}
	var out []Spec
	for _, s := range all {
		if slices.ContainsFunc(k.Servers, func(name string) bool { return sameName(name, s.Name) }) && (len(s.Roles) == 0 || slices.Contains(s.Roles, k.Role)) && !(k.Strict && s.Tree) {
			out = append(out, s)
		}
	}
	return out
}

// sameName compares names as contracts do: case, "_" and "-" do not count.
func sameName(a, b string) bool {
	fold := func(s string) string { return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(s)) }
	return fold(a) == fold(b)
}

// mostName is how long a tool's name may be, as every model's API takes it.
const mostName = 64

func toolPrefix(server string) string { return "mcp_" + server + "_" }

// toolName is odd's name of a server's tool, mcp_SERVER_TOOL: of lower-case letters,
// digits, - and _, at most 64 bytes. What is no such character becomes "_", and of a
// name that is too long the end gives way to eight digits of its SHA-256.
func toolName(server, tool string) string {
	name := toolPrefix(server) + strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '_'
	}, tool)
	if len(name) <= mostName {
		return name
	}
	sum := sha256.Sum256([]byte(tool))
	return name[:mostName-9] + "_" + hex.EncodeToString(sum[:4])
}
