package pipeline

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/reconcile/policy"
)

// Words of a path that make it security-sensitive: whole words, or the beginnings
// of words. cancellation_token, authoring.md and token_bucket.go hold none.
var (
	securityWords = []string{"token", "tokens", "cred", "creds", "tls", "ssl", "cert", "certs", "certificate", "certificates", "jwt", "saml", "sso",
		"login", "signin", "acl", "rbac", "hmac", "keyring", "keystore", "permission", "permissions", "privilege", "privileges", "csrf", "sudo"}
	securityStems = []string{"auth", "oauth", "password", "passwd", "credential", "secret", "encrypt", "decrypt", "crypto", "cipher"}
	innocentStems = []string{"author", "secretar", "authentic"}
	guiltyStems   = []string{"authoriz", "authoris", "authentica", "authentici"}
	tokenizers    = []string{"cancellation", "cancel", "bucket", "lex", "lexer", "parse", "parser", "syntax", "ast", "next", "page", "count", "counter",
		"usage", "limit", "budget", "max", "go"}
)

// securityWord is the first word of a path that makes it security-sensitive, "" for
// none. A token is none beside a word that says what other kind of token it is.
func securityWord(p string) string {
	words := slices.Compact(pathWords(strings.TrimSuffix(p, ".go")))
	for i, w := range words {
		begins := func(stems []string) bool {
			return slices.ContainsFunc(stems, func(s string) bool { return strings.HasPrefix(w, s) })
		}
		beside := func(j int) bool { return j >= 0 && j < len(words) && slices.Contains(tokenizers, words[j]) }
		switch {
		case w == "token" || w == "tokens":
			if !beside(i-1) && !beside(i+1) {
				return w
			}
		case slices.Contains(securityWords, w), begins(securityStems) && (!begins(innocentStems) || begins(guiltyStems)):
			return w
		}
	}
	return ""
}

// addSensitive says whether a path is security-sensitive, and whether a person filed
// the task and its scope names that path.
func (p *Profile) addSensitive(file string, f Evidence, pol Policy) {
	word := cmp.Or(securityWord(file), securityWord(policy.FoldPath(file)))
	why := file + " holds the word " + word
	var glob string
	for _, g := range expandFolders(pol.Security) {
		if word == "" && glob == "" && policy.MatchGlob(strings.ToLower(g), policy.FoldPath(file)) {
			glob, why = g, file+" is in "+g
		}
	}
	if word == "" && glob == "" {
		return
	}
	named := slices.ContainsFunc(expandFolders(f.Scope), func(g string) bool { return policy.MatchGlob(g, file) && namesSensitive(g, file, glob) })
	if f.Filed == FiledByPerson && named {
		p.addTouch("security_in_scope", why)
		return
	}
	p.addTouch("touches_security_surface", why)
}

// namesSensitive reports that a glob which matches a sensitive path was written with it in
// mind: the glob is the path, or what is spelled out in it is sensitive for the
// same reason. Whoever wrote ** said nothing about passwords.
func namesSensitive(glob, file, configured string) bool {
	var spelled, prefix []string
	for _, n := range strings.Split(glob, "/") {
		wild := strings.ContainsAny(n, "*?[")
		if !wild {
			spelled = append(spelled, n)
		}
		if !wild && len(prefix)+1 == len(spelled) {
			prefix = spelled
		}
	}
	switch {
	case glob == file:
		return true
	case configured != "":
		return policy.MatchGlob(strings.ToLower(configured), policy.FoldPath(path.Join(prefix...)))
	}
	return securityWord(path.Join(spelled...)) != ""
}
