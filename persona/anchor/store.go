package anchor

// Place says where sessions are kept.
type Place struct {
	Root string // absolute, there already: the work tree, or the common git directory
	Dir  string // below Root, with slashes: ".hestai/sessions"
	Key  string // absolute path of the key that signs permits; made on first use
}

// Store is a state directory:
//
//	.gitignore                     "*"
//	pending/TOKEN/handshake.json   locked
//	active/TOKEN/handshake.json    bound, stage BOUND
//	active/TOKEN/anchor.json       its anchor and permit
//	archive/TOKEN.json             a released session
type Store struct{ at Place }

// Open names a state directory. It reads and makes nothing: what writes first
// makes the directories.
func Open(at Place) (*Store, error) { return &Store{at}, nil }
