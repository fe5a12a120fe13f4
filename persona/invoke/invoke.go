// Package invoke makes a session's brief and runs it: compile, brief, session. Drain and, later, odd invoke use it.
package invoke

// Part is one fenced part of a brief.
type Part struct {
	Name string   `json:"name"`
	Text []byte   `json:"-"`
	Blob string   `json:"blob"`           // blob id of Text
	From []string `json:"from,omitempty"` // paths or URIs it was made of
	Cut  int      `json:"cut,omitempty"`  // bytes dropped by the cap
}

// Brief is the text a session starts from, with its manifest.
type Brief struct {
	Text     []byte
	Manifest []Part
}
