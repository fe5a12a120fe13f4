package anchor

import "time"

// Archived is archive/TOKEN.json, what remains of a session.
type Archived struct {
	Version     int        `json:"v"`
	Token       string     `json:"token"`
	Role        string     `json:"role"`
	Tier        Strictness `json:"tier"`
	Mode        Mode       `json:"mode"`
	BoundAt     time.Time  `json:"bound_at"`
	ReleasedAt  time.Time  `json:"released_at"`
	Reason      string     `json:"reason"`
	ContextHash string     `json:"context_hash"`
	Payload     string     `json:"payload_sha256"`
	Anchor      string     `json:"anchor_sha256"`
	Renewals    int        `json:"renewals"`
	By          string     `json:"by,omitempty"`
}

// Release ends a bound session: its record is archived and its permit is gone.
// Of a session that was released already it answers the record that is there.
func (d Desk) Release(token, reason string) (Archived, error) {
	return Archived{}, Refusal(refused("", token).Errors)
}

// Refusal is every problem of a call that gives a value, as one error.
type Refusal []Problem

// Error writes the problems one a line.
func (r Refusal) Error() string {
	s := ""
	for i, p := range r {
		if i > 0 {
			s += "\n"
		}
		s += p.At + ": " + string(p.Code) + ": " + p.Text
	}
	return s
}

// Refused is the first code.
func (r Refusal) Refused() string {
	if len(r) == 0 {
		return ""
	}
	return string(r[0].Code)
}
