package okf

// The codes of all findings. Codes explains each.
const (
	codeFrontmatter = "okf-frontmatter"
	codeType        = "okf-type"
	codeReserved    = "okf-reserved"

	codeAttributes   = "odd-merge-union"
	codeConverted    = "odd-converted"
	codeConflict     = "odd-conflict"
	codeBOM          = "odd-bom"
	codeTooBig       = "odd-too-big"
	codeUnreadable   = "odd-unreadable"
	codeSymlink      = "odd-symlink"
	codeName         = "odd-file-name"
	codeVersion      = "odd-okf-version"
	codeID           = "odd-id"
	codeDuplicateID  = "odd-duplicate-id"
	codeDuplicateURI = "odd-uri-duplicate"
	codeSamePath     = "odd-path-same"

	codeConfidenceWord = "odd-confidence-word"
	codeUnproven       = "odd-confidence-verified"
	codeActor          = "odd-actor-near-miss"
	codeProvenance     = "odd-provenance"
	codeOutdated       = "odd-verified-outdated"
	codeSourceGone     = "odd-source-gone"
	codeSourceChanged  = "odd-source-changed"
	codeSourceMoved    = "odd-source-moved"

	codeIndex = "odd-index-stale"

	codeKey      = "odd-key-near-miss"
	codeTypeWord = "odd-type-near-miss"

	codeOwns       = "odd-edge-owns"
	codeEdgeShape  = "odd-edge-shape"
	codeUnknown    = "odd-edge-unknown-target"
	codeDomain     = "odd-edge-domain"
	codeSelf       = "odd-edge-self"
	codeAsymmetric = "odd-supersedes-asymmetric"
	codeCycle      = "odd-supersedes-cycle"
	codeLive       = "odd-supersedes-live"
	codeLink       = "odd-link-broken"

	codeOwnerless = "odd-process-ownerless"
	codeOrphan    = "odd-artifact-orphan"
	codeIdle      = "odd-role-no-process"

	codeStatus        = "odd-status"
	codeStale         = "odd-stale"
	codeStaleDate     = "odd-stale-date-only"
	codeTimestamp     = "odd-legacy-timestamp"
	codeCitations     = "odd-legacy-citations"
	codeCanonMissing  = "odd-canon-missing-required"
	codeCanonEnum     = "odd-canon-invalid-enum"
	codeCanonType     = "odd-canon-type-mismatch"
	codeCanonContrary = "odd-canon-contradictory"
)

// Code is one kind of finding.
type Code struct {
	Name     string   `json:"name"`
	Severity Severity `json:"severity"` // the usual one; a few findings are milder
	About    string   `json:"about"`
}

// Codes lists every finding of Load, Check and CheckSources. The first three are the rules
// of OKF v0.2 §11, which alone decide whether a bundle conforms.
func Codes() []Code {
	return []Code{
		{codeFrontmatter, Error, "an atom's file must be UTF-8 text that begins with front matter: YAML keys between two --- lines"},
		{codeType, Error, "the front matter must have a type (a warning for a document that has the keys of canon)"},
		{codeReserved, Error, "index.md and log.md must have no front matter (the index.md at the top only okf_version), and the headings of log.md must be dates"},
		{codeConflict, Error, "a file has git's conflict marks, or its merge is not finished"},
		{codeConverted, Warn, "git attributes would store a file as other bytes than odd writes, so odd does not write it"},
		{codeAttributes, Info, "git attributes do not tell git to keep both sides' lines when two clones append to one file"},
		{codeBOM, Error, "a file starts with a byte order mark"},
		{codeTooBig, Error, "a file is too large and is not read"},
		{codeUnreadable, Error, "a file or folder cannot be read"},
		{codeSymlink, Error, "the bundle contains a symbolic link or a special file, which odd does not follow"},
		{codeName, Error, "the name of a file or folder is not UTF-8, so odd does not read it"},
		{codeVersion, Info, "the bundle declares another version of OKF"},
		{codeID, Error, "an id is not a text that can be a name"},
		{codeDuplicateID, Error, "two files have one id"},
		{codeDuplicateURI, Error, "two files have one uri"},
		{codeSamePath, Warn, "two paths differ only in upper and lower case, or in how an accent is written, so macOS and Windows keep one of the files"},
		{codeConfidenceWord, Error, "confidence is not inferred, asserted or verified, so it counts as inferred"},
		{codeUnproven, Error, "confidence says verified, but no person verified the atom, so it counts as asserted"},
		{codeActor, Warn, "a name looks like a person's and is not written human:NAME, so it does not count as a person"},
		{codeProvenance, Warn, "generated or verified names nobody, or a source has no resource"},
		{codeOutdated, Warn, "the atom was generated again after it was last verified"},
		{codeKey, Warn, "odd does not know a key, and its name is nearly that of one that odd knows"},
		{codeTypeWord, Warn, "odd does not know a type, and its name is nearly that of one that odd knows"},
		{codeSourceGone, Warn, "the file that an atom was read from is gone, and no other file has the text"},
		{codeSourceChanged, Warn, "the file that an atom was read from no longer has the text that the atom cites; compare the two and correct the atom, or say with odd knowledge confirm that it holds"},
		{codeSourceMoved, Info, "the text that an atom cites stands on other lines now, or its file has another name"},
		{codeIndex, Warn, "an index.md lists what is not there, or lacks an atom"},
		{codeOwns, Error, "there is no edge `owns`; write `owner` in the process instead"},
		{codeEdgeShape, Warn, "an edge must be a name or a list of names"},
		{codeUnknown, Warn, "an edge names an atom that does not exist"},
		{codeDomain, Warn, "an edge connects types that it is not meant for"},
		{codeSelf, Warn, "an edge leads to its own atom"},
		{codeAsymmetric, Warn, "one atom says supersedes, and the other does not say superseded_by, or the other way round"},
		{codeCycle, Error, "atoms supersede (replace) each other in a circle"},
		{codeLive, Info, "a superseded atom does not have status: deprecated"},
		{codeLink, Warn, "a link leads to no file of the bundle"},
		{codeOwnerless, Warn, "a process has no owner (a note where confidence is inferred)"},
		{codeOrphan, Warn, "no process produces this artifact (a note where confidence is inferred)"},
		{codeIdle, Warn, "a role that is no draft owns no process (a note where confidence is inferred)"},
		{codeStatus, Warn, "status is not draft, stable or deprecated"},
		{codeStale, Warn, "the date in stale_after has passed"},
		{codeStaleDate, Warn, "stale_after has no time with a time zone, so it is ignored"},
		{codeTimestamp, Warn, "the key timestamp is OKF v0.1; write generated.at"},
		{codeCitations, Warn, "a Citations section is OKF v0.1; write the key sources"},
		{codeCanonMissing, Error, "a canon (reference) document with a uri or without a type lacks a required key"},
		{codeCanonEnum, Warn, "a key of a canon document has a value that is not allowed"},
		{codeCanonType, Error, "a key of a canon document has a value of the wrong type"},
		{codeCanonContrary, Error, "a canon document says public: false and exposure: public"},
	}
}
