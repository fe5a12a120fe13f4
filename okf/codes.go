package okf

// The codes of every finding. Codes says what each is about.
const (
	codeFrontmatter = "okf-frontmatter"
	codeType        = "okf-type"
	codeReserved    = "okf-reserved"

	codeBOM         = "odd-bom"
	codeTooBig      = "odd-too-big"
	codeUnreadable  = "odd-unreadable"
	codeSymlink     = "odd-symlink"
	codeVersion     = "odd-okf-version"
	codeID          = "odd-id"
	codeDuplicateID = "odd-duplicate-id"
)
