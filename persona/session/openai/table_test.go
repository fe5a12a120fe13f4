package openai

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/sashabaranov/go-openai"

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
			text, _ := json.Marshal(s.Says)
			one := fmt.Sprintf("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%s},\"finish_reason\":\"stop\"}]}\n\n", text)
			if s.Cost >= 0 {
				one += fmt.Sprintf("data: {\"choices\":[],\"usage\":{\"prompt_tokens\":0,\"completion_tokens\":%d}}\n\n", s.Cost)
			}
			recording = strings.Repeat("-- stream --\n"+one+"data: [DONE]\n\n", 3)
		}
		srv := httptest.NewServer(modeltest.Read([]byte(recording)))
		t.Cleanup(srv.Close)
		return Substrate{Model: "acme", BaseURL: srv.URL + "/v1", Talk: loop.Options{Prices: map[string]loop.Price{"acme": {Output: 1_000_000}}}}
	})
}

// Whatever a server sends, the reply has calls that can be told apart.
func FuzzHear(f *testing.F) {
	f.Add(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}},{"function":{"name":"g"}}]}}],"usage":{"prompt_tokens":-1}}`, `{"choices":[{"finish_reason":"stop"}]}`)
	f.Add(`{"choices":[{"delta":{"tool_calls":[{"index":9,"id":"odd_1_2"},{"index":-1}],"content":"x"}}]}`, `{"choices":[{"delta":{"tool_calls":[{"id":"odd_1_2"}]}}]}`)
	f.Fuzz(func(t *testing.T, one, two string) {
		var a answer
		for _, s := range []string{one, two} {
			var c sdk.ChatCompletionStreamResponse
			if json.Unmarshal([]byte(s), &c) == nil {
				a.takeChunk(c, func(string) {})
			}
		}
		ids := map[string]bool{}
		for _, c := range a.loopReply("m", 1).Message.Calls {
			if c.ID == "" || ids[c.ID] || len(c.Args) == 0 {
				t.Fatalf("%q, %q: %+v", one, two, c)
			}
			ids[c.ID] = true
		}
		if n := a.tokens; min(n.Input, n.Output, n.CacheRead) < 0 {
			t.Fatalf("%+v", n)
		}
	})
}
