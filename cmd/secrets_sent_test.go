package cmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/odd-cli/odd/persona/session/modeltest"
)

// round is one recorded answer of a model that calls tools.
func round(t *testing.T, calls ...[2]any) string {
	t.Helper()
	var list []map[string]any
	for i, c := range calls {
		args, err := json.Marshal(c[1])
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, map[string]any{"index": i, "id": fmt.Sprintf("c%d", i), "type": "function", "function": map[string]any{"name": c[0], "arguments": string(args)}})
	}
	chunk, err := json.Marshal(map[string]any{"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "acme-mini", "choices": []any{
		map[string]any{"index": 0, "delta": map[string]any{"role": "assistant", "content": "", "tool_calls": list}, "finish_reason": "tool_calls"}}})
	if err != nil {
		t.Fatal(err)
	}
	// the recording has KEY stand for the key of the request
	return "-- stream --\ndata: " + strings.ReplaceAll(string(chunk), "KEY", `\u004bEY`) + "\n\n" +
		`data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"acme-mini","choices":[],"usage":{"prompt_tokens":100,"completion_tokens":10,"total_tokens":110}}` + "\n\ndata: [DONE]\n\n"
}

type given map[string]any

// TestPlantedSecretsAreNotSent: a model that is asked for a change of files, by
// an API, is sent no credential, neither of the task nor of a file that it
// reads; those that it writes itself into its calls and into the change are in
// no record, and nothing that a client of MCP or a stream's reader gets has one.
func TestPlantedSecretsAreNotSent(t *testing.T) {
	t.Parallel()
	w := plant(t)
	one := w.lines[8]
	read := []([2]any){{"read_file", given{"path": "docs/secrets.md"}}, {"search_code", given{"query": "e", "path": "docs"}}, {"list_dir", given{"path": "docs"}}, {"get", given{"atom": "pilot"}}}
	said := []([2]any){{"read_file", given{"path": "docs/" + one}}, {"search_code", given{"query": w.all}}, {"nothing_" + one, given{one: w.all}}, {"glob_files", given{one: one}}, {"read_file", given{"path": "docs/tides.rst"}},
		{"edit_file", given{"path": "docs/tides.rst", "old": one, "new": w.all}}}
	finish := [2]any{"finish", given{"outcome": "completed", "detail": one}}
	recording := round(t, read...) + round(t, said...) + round(t, [2]any{"edit_file", given{"path": "docs/tides.rst", "old": "Slack watter.", "new": "Slack water."}}) + round(t, finish) +
		round(t, read...) + round(t, [2]any{"edit_file", given{"path": "docs/tides.rst", "old": "The tide", "new": w.all}}) + round(t, finish)
	model := modeltest.Read([]byte(recording))
	srv := httptest.NewServer(model)
	t.Cleanup(srv.Close)
	w.env.Getenv = func(name string) string { return map[string]string{"HOME": w.env.Temp}[name] }
	files := map[string]string{
		"odd.toml": "[session]\nsubstrate = \"openai\"\nmodel = \"acme-mini\"\nmax_usd = 0.25\n[substrate.openai]\nbase_url = \"" + srv.URL + "/v1\"\n[prices.\"acme-mini\"]\ninput_usd = 0.4\noutput_usd = 1.6\n" +
			"[budget]\nmonthly_usd = 5\n[governance]\nlease = \"off\"\n[persona.floor]\natoms = 0\nprocesses = 0\nguides = 0\n",
		"docs/tides.rst":           "Tides\n=====\n\nSlack watter.\n\nThe tide turns.\n",
		"knowledge/roles/pilot.md": "---\ntype: role\nid: pilot\ntitle: Pilot\nscope_paths: [\"docs/**\"]\n---\n\nSteers.\n\n" + w.all,
	}
	for _, id := range []string{"amend", "betray"} {
		files["knowledge/tasks/"+id+".md"] = fmt.Sprintf("---\ntype: task\nid: %s\ntitle: %q\nstate: ready\nkind: implement\nrole: pilot\npaths: [docs/*.rst]\ninputs: [docs/secrets.md]\nacceptance: [%q]\n---\n\n%s", id, "Read "+w.lines[8], w.lines[9], w.all)
	}
	w.commit(files)
	w.odd("drain", "--task", "amend")
	w.odd("drain", "--task", "betray") // by name: both change one file
	for i, r := range model.Heard() {
		w.leaks(fmt.Sprintf("request %d", i), asked(t, r.Body))
	}
	var ops []struct{ Op string }
	b := w.odd("op", "list", "--all", "--json")
	if err := json.Unmarshal(b, &ops); err != nil || len(ops) != 2 || len(model.Heard()) < 7 {
		t.Fatalf("%v: %s %d requests\n%s", err, b, len(model.Heard()), w.talk)
	}
	for _, o := range ops {
		for _, verbName := range []string{"show", "prompt", "diff", "classify"} {
			w.odd("op", verbName, o.Op)
			w.odd("op", verbName, o.Op, "--json")
		}
	}
	for _, args := range [][]string{{"review"}, {"review", "--json"}, {"review", "amend", "--json"}, {"review", "amend"}, {"review", "amend", "--pr"}, {"review", "betray"}, {"log", "--json"}, {"log"}, {"status"}, {"status", "--json"}, {"journal", "list", "--json"}, {"task", "list"}, {"agent", "handoff", "list", "--json"}, {"gate", "proposals", "--json"}} {
		w.odd(args...)
	}
	w.served()
	w.watched()
	w.env.Getenv = func(string) string { return "" }
	for _, line := range []string{"substrate = %q", "model = %q\nmax_usd = %[1]q", "%q = 1"} {
		w.write("odd.toml", "[session]\n"+fmt.Sprintf(line, one))
		w.odd("drain", "--dry-run")
		w.odd("status", "--json")
	}
	w.kept(20)
}

// asked is what a request says that its model has not said itself.
func asked(t *testing.T, body []byte) []byte {
	t.Helper()
	var all map[string]json.RawMessage
	var said []map[string]any
	if err := json.Unmarshal(body, &all); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(all["messages"], &said); err != nil {
		t.Fatal(err)
	}
	delete(all, "messages")
	out := fmt.Appendf(nil, "%s", all)
	for _, m := range said {
		if m["role"] != "assistant" {
			out = fmt.Appendf(out, "\n%v", m["content"])
		}
	}
	return out
}

// served asks an MCP server for everything that holds a credential.
func (w *plantation) served() {
	w.t.Helper()
	type call struct {
		method string
		params given
	}
	tool := func(name string, args given) call {
		return call{"tools/call", given{"name": name, "arguments": args}}
	}
	one := w.lines[8]
	calls := []call{
		{"initialize", given{"protocolVersion": "2025-06-18", "capabilities": given{}, "clientInfo": given{"name": one, "version": "1"}}},
		tool("get", given{"atom": "pilot"}), tool("get", given{"atom": "amend"}), tool("search", given{"query": "steers"}), tool("context", given{"task": "amend"}),
		tool("board_list", given{}), tool("get", given{"atom": one}), tool("search", given{"query": one, one: one}), tool(one, given{one: one}),
		tool("task_propose", given{"title": one}), {"resources/list", given{}}, {"resources/read", given{"uri": "odd://atom/pilot"}}, {"resources/read", given{"uri": "odd://atom/" + one}},
		{"prompts/list", given{}}, {"prompts/get", given{"name": "pilot", "arguments": given{"inline": "true"}}}, {"prompts/get", given{"name": one}}, {one, given{}},
	}
	var in bytes.Buffer
	for i, c := range calls {
		b, err := json.Marshal(given{"jsonrpc": "2.0", "id": i, "method": c.method, "params": c.params})
		if err != nil {
			w.t.Fatal(err)
		}
		fmt.Fprintf(&in, "%s\n", b)
		if i == 0 {
			in.WriteString(`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n")
		}
	}
	w.env.Stdin = &in
	if b := w.odd("mcp"); bytes.Count(b, []byte(`"jsonrpc"`)) != len(calls) {
		w.t.Errorf("%d answers to %d calls: %s", bytes.Count(b, []byte(`"jsonrpc"`)), len(calls), b)
	}
}

// watched lets an observer read a stream of credentials and tell them.
func (w *plantation) watched() {
	w.t.Helper()
	events := ""
	for i, l := range w.lines {
		b, err := json.Marshal(given{"channel": w.lines[8], "n": i, "text": l})
		if err != nil {
			w.t.Fatal(err)
		}
		events += string(b) + "\n"
	}
	said, err := json.Marshal(given{"schema": "odd.commentary.1", "says": []string{w.lines[8], w.lines[50]}})
	if err != nil {
		w.t.Fatal(err)
	}
	w.commit(map[string]string{
		"odd.toml":     "session = {substrate = \"exec\"}\nsubstrate.exec = {argv = [\"sh\", \"./observer.sh\"], free = true}\nbudget.monthly_usd = 5\ngovernance.lease = \"off\"\n[persona.floor]\natoms = 0\nprocesses = 0\nguides = 0\n",
		"observer.sh":  "cat >/dev/null\ncat \"$(dirname \"$0\")/said.md\"\ncat \"$(dirname \"$0\")/said.md\" >&2\n",
		"said.md":      "```json\n" + string(said) + "\n```\n\n```json\n{\"schema\": \"odd.finish.1\", \"outcome\": \"completed\"}\n```\n",
		"events.jsonl": events,
	})
	for _, form := range [][]string{nil, {"--json"}} {
		if b := w.odd(append([]string{"agent", "observe", "--source", "events.jsonl", "--backpressure", "queue=64", "--role", "pilot"}, form...)...); !bytes.Contains(b, []byte("[redacted:")) {
			w.t.Errorf("the observer said nothing: %s\n%s", b, w.talk)
		}
	}
}
