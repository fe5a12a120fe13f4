package contract

// Resolve resolves the call, or lists every refusal. A Contract comes back with
// refusals too, as far as it could be resolved, so that --dry-run can show it.
func Resolve(c Call, w World) (Contract, Refusals) { return Contract{}, nil }

// Hash is the hex SHA-256 of the contract's canonical JSON: what the ledger keeps.
func (c Contract) Hash() string { return "" }

// Hint is what a heuristic detector noticed. It never refuses anything.
type Hint struct {
	Detector string `json:"detector"` // e.g. "premature-closure"
	At       string `json:"at,omitempty"`
	Message  string `json:"message"`
}
