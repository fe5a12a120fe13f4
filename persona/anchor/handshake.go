package anchor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

const (
	recordVersion = 1
	pendingFor    = 24 * time.Hour // from identity to proof
	maxTries      = 3              // of a stage: the first and two more
)

// dossier is a handshake and the keys of its file that odd does not know.
type dossier struct {
	Handshake
	extra map[string]json.RawMessage
}

// handshakeKeys are the names of a handshake's keys, and whether it must have them.
func handshakeKeys() map[string]bool {
	keys := map[string]bool{}
	for i, typ := 0, reflect.TypeFor[Handshake](); i < typ.NumField(); i++ {
		name, option, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		keys[name] = option == ""
	}
	return keys
}

// readHandshake reads a token's handshake. A file that is cut short, is no
// object, lacks a key or says what cannot be is an error, never a guess. Names
// count to the letter.
func readHandshake(b []byte, token string) (dossier, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(b, &all); err != nil {
		return dossier{}, fmt.Errorf("not a whole JSON object: %w", err)
	}
	known := map[string]json.RawMessage{}
	for k, needed := range handshakeKeys() {
		v, ok := all[k]
		if ok {
			known[k] = v
		} else if needed {
			return dossier{}, fmt.Errorf("key %q is missing", k)
		}
	}
	maps.DeleteFunc(all, func(k string, _ json.RawMessage) bool { return known[k] != nil })
	r := dossier{extra: all}
	plain, err := json.Marshal(known)
	if err == nil {
		err = json.Unmarshal(plain, &r.Handshake)
	}
	if err != nil {
		return dossier{}, err
	}
	return r, r.sound(token)
}

// sound says what a handshake claims that cannot be.
func (h Handshake) sound(token string) error {
	late := h.Stage == AtContext || h.Stage == AtBound
	switch {
	case h.Version != recordVersion:
		return fmt.Errorf("version %d is not one this odd reads, which is %d", h.Version, recordVersion)
	case h.Token != token:
		return fmt.Errorf("it is of token %q, not of its directory's", h.Token)
	case !late && h.Stage != AtIdentity:
		return fmt.Errorf("stage %q is none", h.Stage)
	case !slices.Contains(trackedModes(), h.Mode):
		return fmt.Errorf("mode %q has no session", h.Mode)
	case !slices.Contains(strictnesses(), h.Strictness):
		return fmt.Errorf("strictness %q is none", h.Strictness)
	case h.lacks():
		return fmt.Errorf("role, constitution_sha256, nonce, created_at or expires_at is empty")
	case late && (h.Bind == nil || h.Arm == nil):
		return fmt.Errorf("stage %s without bind or server_arm", h.Stage)
	case h.Retries["context"] < 0 || h.Retries["proof"] < 0:
		return fmt.Errorf("retries below none")
	}
	return nil
}

// lacks reports a handshake without what every one has.
func (h Handshake) lacks() bool {
	return h.Role == "" || h.ConstSHA256 == "" || h.Nonce == "" || h.CreatedAt.IsZero() || h.ExpiresAt.IsZero()
}

func trackedModes() []Mode       { return []Mode{Full, Express, Lite} }
func strictnesses() []Strictness { return []Strictness{Quick, Default, Deep} }

// bytes is the file: the known keys and the others, sorted.
func (r dossier) bytes() ([]byte, error) {
	known, err := json.Marshal(r.Handshake)
	if err != nil {
		return nil, err
	}
	all := maps.Clone(r.extra)
	if all == nil {
		all = map[string]json.RawMessage{}
	}
	if err := json.Unmarshal(known, &all); err != nil {
		return nil, err
	}
	return pretty(all)
}

// canonical is JSON in one form: keys sorted at every depth, no space, numbers as
// they were written, nothing escaped for HTML.
func canonical(v any) ([]byte, error) {
	b, err := marshalSorted(v, "")
	return bytes.TrimSuffix(b, []byte("\n")), err
}

// pretty is canonical with an indent and a final newline, for files.
func pretty(v any) ([]byte, error) { return marshalSorted(v, "  ") }

func marshalSorted(v any, indent string) ([]byte, error) {
	plain, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(plain))
	d.UseNumber()
	var any any
	if err := d.Decode(&any); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	err = e.Encode(any)
	return out.Bytes(), err
}
