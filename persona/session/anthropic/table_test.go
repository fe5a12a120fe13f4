package anthropic

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/loop"
	"github.com/odd-cli/odd/persona/session/modeltest"
	"github.com/odd-cli/odd/persona/session/sessiontest"
)

func TestSubstrate(t *testing.T) {
	t.Parallel()
	sessiontest.Table(t, func(t *testing.T, s sessiontest.Script) session.Substrate {
		recording := "-- hang --\n"
		if !s.Hangs {
			recording = strings.Repeat("-- stream --\n"+stream(s.Says, s.Cost), 3)
		}
		srv := httptest.NewServer(modeltest.Read([]byte(recording)))
		t.Cleanup(srv.Close)
		return Substrate{Model: "acme", BaseURL: srv.URL, Key: key, Talk: loop.Options{Prices: map[string]loop.Price{"acme": {Output: 1_000_000}}}}
	})
}

// stream is an answer of one text that took so many tokens; negative: nobody
// counted.
func stream(says string, tokens int64) string {
	text, _ := json.Marshal(says)
	start, end := "", ""
	if tokens >= 0 {
		start, end = `"usage":{"input_tokens":0,"output_tokens":1}`, fmt.Sprintf(`,"usage":{"output_tokens":%d}`, tokens)
	} else {
		start = `"id":"m"`
	}
	var b strings.Builder
	for _, e := range []string{
		`{"type":"message_start","message":{"type":"message","role":"assistant","model":"acme","content":[],` + start + `}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":` + string(text) + `}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"}` + end + `}`,
		`{"type":"message_stop"}`,
	} {
		kind, _, _ := strings.Cut(strings.TrimPrefix(e, `{"type":"`), `"`)
		fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", kind, e)
	}
	return b.String()
}
