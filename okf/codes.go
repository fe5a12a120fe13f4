package okf

// The codes of every finding, with what Codes says of them.
const (
	codeFrontmatter = "okf-frontmatter"
	codeType        = "okf-type"
	codeReserved    = "okf-reserved"

	codeBOM    = "odd-bom"
	codeTooBig = "odd-too-big"
	codeID     = "odd-id"
)
