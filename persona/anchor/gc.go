package anchor

import "time"

// Listed is one entry of the state directory, readable or not.
type Listed struct {
	Token   string    `json:"token"` // the entry's name where it is no session
	State   string    `json:"state"` // pending, active or archived
	Role    string    `json:"role,omitempty"`
	Mode    Mode      `json:"mode,omitempty"`
	Stage   Stage     `json:"stage,omitempty"`
	Branch  string    `json:"branch,omitempty"`
	Focus   string    `json:"focus,omitempty"`
	Created time.Time `json:"created_at,omitzero"`
	Expires time.Time `json:"expires_at,omitzero"` // of the handshake, then of the permit
	By      string    `json:"by,omitempty"`
	Problem *Problem  `json:"problem,omitempty"` // why it is locked although it is there
}

// List tells everything in the state directory, pending before active before
// archived, each by token. What does not read is listed with its problem.
func (d Desk) List() ([]Listed, error) { return nil, nil }

// Swept is one entry that GC removed, or left for the reason in Problem.
type Swept struct {
	Token   string   `json:"token"`
	State   string   `json:"state"`
	Why     string   `json:"why,omitempty"`
	Problem *Problem `json:"problem,omitempty"`
}

// GC removes pending sessions older than maxAge or past their end, and active
// ones whose permit ended longer than maxAge ago (they are archived first). The
// age is created_at's, else the directory's own time. What is no session
// directory is left and told. maxAge must be positive.
func (d Desk) GC(maxAge time.Duration) ([]Swept, error) { return nil, nil }
