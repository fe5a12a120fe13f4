package okf

// The codes of every finding. Codes says what each is about.
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

	codeConfidenceWord = "odd-confidence-word"
	codeUnproven       = "odd-confidence-verified"
	codeActor          = "odd-actor-near-miss"
	codeProvenance     = "odd-provenance"
	codeOutdated       = "odd-verified-outdated"

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

// Codes lists every finding that Load and Check can make. The first three are
// the rules of OKF v0.2 §11 and alone decide whether a bundle conforms.
func Codes() []Code {
	return []Code{
		{codeFrontmatter, Error, "a concept file is UTF-8 text that opens with one closed, parseable YAML mapping"},
		{codeType, Error, "the block has a type that is text and not empty"},
		{codeReserved, Error, "index.md has no frontmatter (at the root: okf_version alone); log.md has none and its headings are dates"},
		{codeConflict, Error, "a file holds two versions that git could not merge, or its merge is not finished"},
		{codeConverted, Warn, "attributes make git store what odd writes as other bytes, so that odd does not write it"},
		{codeAttributes, Info, "git is not told to keep the lines of both clones where both add to one file"},
		{codeBOM, Error, "a file starts with a byte order mark"},
		{codeTooBig, Error, "a file is over the size limit and is not read"},
		{codeUnreadable, Error, "a file or folder cannot be read"},
		{codeSymlink, Error, "a symlink or special file is in the bundle; it is not followed"},
		{codeName, Error, "a file or folder has a name that is not UTF-8; what is in it is not read"},
		{codeVersion, Info, "the bundle declares another version of OKF"},
		{codeID, Error, "an id is not text, or not a name"},
		{codeDuplicateID, Error, "two files have one id"},
		{codeDuplicateURI, Error, "two files have one uri"},
		{codeConfidenceWord, Error, "confidence is none of inferred, asserted, verified; it counts as inferred"},
		{codeUnproven, Error, "confidence claims verified and no person verified; it counts as asserted"},
		{codeActor, Warn, "an actor looks like a person and is not written human:NAME, so it does not count as one"},
		{codeProvenance, Warn, "generated or verified names nobody, or a source has no resource"},
		{codeOutdated, Warn, "the atom was generated again after it was last verified"},
		{codeOwns, Error, "there is no owns edge; the process names its owner"},
		{codeEdgeShape, Warn, "an edge is neither a name nor a list of names"},
		{codeUnknown, Warn, "an edge names an atom that is not there"},
		{codeDomain, Warn, "an edge joins types it is not meant for"},
		{codeSelf, Warn, "an edge leads to its own atom"},
		{codeAsymmetric, Warn, "supersedes and superseded_by do not answer each other"},
		{codeCycle, Error, "atoms supersede each other in a circle"},
		{codeLive, Info, "a superseded atom is not deprecated"},
		{codeLink, Info, "a link leads to no file in the bundle"},
		{codeOwnerless, Warn, "a process has no owner"},
		{codeOrphan, Warn, "no process produces an artifact"},
		{codeIdle, Warn, "a role owns no process"},
		{codeStatus, Warn, "status is none of draft, stable, deprecated"},
		{codeStale, Warn, "stale_after has passed"},
		{codeStaleDate, Warn, "stale_after is not an instant with an offset and is ignored"},
		{codeTimestamp, Warn, "timestamp is OKF v0.1; v0.2 has generated.at"},
		{codeCitations, Warn, "a Citations section is OKF v0.1; v0.2 has sources"},
		{codeCanonMissing, Error, "a canon document with a uri lacks a required key"},
		{codeCanonEnum, Warn, "a canon key has a value outside its vocabulary"},
		{codeCanonType, Error, "a canon key has a value of the wrong type"},
		{codeCanonContrary, Error, "a canon document is public: false and exposure: public"},
	}
}
