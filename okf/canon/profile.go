package canon

import (
	"strings"

	"github.com/odd-cli/odd/okf"
)

// checkProfile checks one document for the keys of canon.
func (c *checker) checkProfile(p *page) {
	if !p.block {
		c.add(ruleBlock, 1, "", "canon document without frontmatter; begin it with a block of %s", strings.Join(okf.CanonKeyNames(), ", "))
		return
	}
	for _, f := range okf.CanonFaults(&p.atom) {
		c.add("frontmatter-"+strings.TrimPrefix(f.Code, "odd-canon-"), f.Line, f.Found, "%s", f.Message)
	}
}
