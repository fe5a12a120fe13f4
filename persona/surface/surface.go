// Package surface is what output may look like: the voice, the density and the
// form of what a session says, by the contract's surface.
//
// Every text is tagged: a machine's (parsed by code: paths, ids, enums, JSON,
// frontmatter, commit messages) or a person's. A persona's glyphs never reach a
// machine field, whatever the voice; in a neutral or strict voice they reach
// none. Functional glyphs, which carry a state and not a character, survive
// everywhere. Glyphs are compared by grapheme cluster, with and without U+FE0F,
// and all other Unicode is left as it is.
package surface
