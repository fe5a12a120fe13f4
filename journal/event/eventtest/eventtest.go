// Package eventtest makes and changes the data of ledger records for tests. It works on
// their JSON, so that a test of a ledger's reader can write anything that a file may hold.
package eventtest

import (
	"encoding/json"
	"fmt"

	"github.com/odd-cli/odd/journal/event"
)

// Data returns the data of a record of that kind with these keys. It panics if no record
// may hold them.
func Data(kind event.Kind, keys map[string]any) event.Data {
	b, err := json.Marshal(map[string]any{"v": 1, "run": "r", "seq": 1, "ts": "2026-01-01T00:00:00Z", "kind": kind, "data": keys})
	if err != nil {
		panic(err)
	}
	records, err := event.Read(append(b, '\n'))
	if err != nil {
		panic(fmt.Sprintf("%s: %v", b, err))
	}
	return records[0].Data
}

// Keys returns the data of a record as in the file.
func Keys(r event.Record) map[string]any {
	keys := map[string]any{}
	if r.Data == nil {
		return keys
	}
	b, err := json.Marshal(r.Data)
	if err == nil {
		err = json.Unmarshal(b, &keys)
	}
	if err != nil {
		panic(err)
	}
	return keys
}

// Set changes one key of the data of r; a nil value removes it.
func Set(r *event.Record, key string, value any) {
	keys := Keys(*r)
	if keys[key] = value; value == nil {
		delete(keys, key)
	}
	r.Data = Data(r.Kind, keys)
}
