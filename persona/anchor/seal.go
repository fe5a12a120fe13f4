package anchor

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
)

// seal hashes an anchor and signs the hash, where there is a key.
func (a Anchor) seal(key []byte) (Anchor, []byte, error) {
	raw, err := json.Marshal(a)
	if err != nil {
		return a, nil, err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return a, nil, err
	}
	if a.SHA256, err = hashAnchor(all); err != nil {
		return a, nil, err
	}
	if key != nil {
		a.MAC = sign(key, a.SHA256)
	}
	b, err := pretty(a)
	return a, b, err
}

// hashAnchor is the hash of an anchor's file: of the canonical JSON of all its
// keys, known or not, but the hash and the MAC.
func hashAnchor(all map[string]json.RawMessage) (string, error) {
	all = maps.Clone(all)
	delete(all, "anchor_sha256")
	delete(all, "mac")
	b, err := canonical(all)
	return hexSum(b), err
}

// readAnchor reads an anchor's file in the order of a permit's check: whether it
// is JSON, says validated, and says it as the word true.
func readAnchor(b []byte) (Anchor, map[string]json.RawMessage, *Problem) {
	var all map[string]json.RawMessage
	var a Anchor
	if err := json.Unmarshal(b, &all); err != nil {
		return a, nil, &Problem{Code: Damaged, Text: "not a whole JSON object: " + err.Error()}
	}
	switch v, ok := all["validated"]; {
	case !ok:
		return a, nil, &Problem{Code: NotValidated, Text: `it does not say "validated"`, Want: `"validated": true`}
	case string(v) != "true":
		return a, nil, &Problem{Code: NotValidated, Text: "it is not validated", Found: clip(string(v)), Want: `"validated": true`}
	}
	if err := json.Unmarshal(b, &a); err != nil {
		return a, nil, &Problem{Code: Damaged, Text: err.Error()}
	}
	return a, all, nil
}

// genuine says why an anchor was not written by odd for this token.
func (a Anchor) genuine(all map[string]json.RawMessage, token string, key []byte) error {
	sum, err := hashAnchor(all)
	switch {
	case err != nil:
		return err
	case a.Version != recordVersion || a.Permit.Version != recordVersion:
		return fmt.Errorf("version %d is not one this odd reads, which is %d", a.Version, recordVersion)
	case a.SHA256 != sum:
		return errors.New("its bytes are not those that were hashed")
	case !hasValidMAC(key, sum, a.MAC):
		return errors.New("its MAC is not made with this repository's key")
	case a.Token != token || a.Permit.Token != token:
		return fmt.Errorf("it is of token %q, not of its directory's", a.Token)
	}
	return nil
}

// damagedRecord returns the problem of a record at a path, with the way out.
func damagedRecord(code Code, at string, err error) Problem {
	text := strings.TrimPrefix(err.Error(), at+": ")
	return Problem{Code: code, At: at, Text: text + "; it stays locked: `odd anchor identity ROLE` begins again, `odd anchor release TOKEN` or `odd anchor gc` puts this away"}
}
