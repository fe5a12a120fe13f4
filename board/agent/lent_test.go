package agent

import (
	"strings"
	"testing"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/deliver"
	"github.com/odd-cli/odd/persona/session"
)

func TestLends(t *testing.T) {
	t.Parallel()
	cfg := config.Config{
		Substrates: map[string]config.Substrate{"exec": {Env: []string{"SEA_KEY", "SEA_HOME", "SEA_TOKEN_2", "SHORT_KEY"}}, "openai": {API: config.API{KeyEnv: "MODEL_KEY"}}},
		Servers:    []config.Server{{Env: []string{"TIDE_SECRET"}, TokenEnv: "TIDE_TOKEN"}},
		Pipeline:   config.Pipeline{CheckEnv: []string{"NPM_AUTH"}},
	}
	var env []string
	for _, name := range []string{"SEA_KEY", "SEA_HOME", "SEA_TOKEN_2", "MODEL_KEY", "TIDE_SECRET", "TIDE_TOKEN", "NPM_AUTH", "OTHER_KEY", "SSH_AUTH_SOCK"} {
		env = append(env, name+"=value of "+name)
	}
	l := Lent(cfg, append(env, "SHORT_KEY=1234567"))
	for name, want := range map[string]bool{
		"SEA_KEY": true, "SEA_TOKEN_2": true, "MODEL_KEY": true, "TIDE_SECRET": true, "TIDE_TOKEN": true, "NPM_AUTH": true,
		"SEA_HOME":  false,                         // no credential
		"OTHER_KEY": false, "SSH_AUTH_SOCK": false, // lent to nobody
	} {
		text := []byte("<value of " + name + ">")
		hidden := string(l.Hide(text))
		if got := hidden == "<[redacted:"+name+"]>"; got != want || (l.Find(text) == name) != want {
			t.Errorf("%s: %s", name, hidden)
		}
	}
	if l.Find([]byte("1234567")) != "" {
		t.Error("a value as short as a word is looked for")
	}
	l = readCredentials([]string{"A_KEY=a \"quoted\" word", "B_KEY=a \"quoted\" word and more"})
	if got := string(l.Hide([]byte(`{"x":"a \"quoted\" word"} a "quoted" word and more`))); got != `{"x":"[redacted:A_KEY]"} [redacted:B_KEY]` {
		t.Error(got)
	}
}

// What goes anywhere is refused with a value in it; what is said beside it is not.
func TestNothingLentIsKept(t *testing.T) {
	t.Parallel()
	const value = "plain words"
	l := readCredentials([]string{"SEA_KEY=" + value})
	text := "so: " + value + "."
	atom := func(body, path string) session.Emission {
		a, err := okf.Parse(path, []byte("---\ntype: term\nid: tide\n---\n\n"+body+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		return session.Emission{Atoms: []session.Atom{{Atom: a}}}
	}
	for name, e := range map[string]session.Emission{
		"atom": atom(text, "tide.md"), "place": atom("It rises.", value+".md"),
		"change": {Change: &session.Change{Text: []byte(text)}}, "plan": {Plan: &session.Change{Text: []byte(text)}}, "expansion": {Expansion: &session.Change{Text: []byte(text)}},
		"title": {Notes: []session.Note{{Title: text}}}, "note": {Notes: []session.Note{{Content: text}}}, "handoff": {Handoff: text},
		"say": {Says: []deliver.Say{{Text: text}}}, "payload": {Payloads: []session.Payload{{Text: []byte(text)}}}, "missing": {Missing: []string{text}},
		"deliverable": {Deliverable: &deliver.Deliverable{Schema: deliver.SchemaSynthesis, Synthesis: &deliver.Synthesis{Unknowns: []string{text}}}},
	} {
		e.Outcome, e.Usage, e.Raw = session.Completed, session.Usage{Turns: 2, Cost: 3, CostKnown: true}, []byte(text)
		got := l.Clean(e)
		if got.Outcome != session.Failed || got.Failure != LentSecret || !strings.Contains(got.Detail, "SEA_KEY") || got.Usage != e.Usage ||
			l.Find(append(textsOf(got), got.Raw, []byte(got.Detail))...) != "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
	e := session.Emission{Outcome: session.Completed, Raw: []byte(text), Transcript: []byte(text), Detail: text, Proposals: []session.Proposal{{Reason: text}}}
	got := l.Clean(e)
	if got.Outcome != session.Completed || string(got.Raw) != "so: [redacted:SEA_KEY]." || string(got.Transcript) != string(got.Raw) || got.Detail != string(got.Raw) ||
		got.Proposals[0].Reason != got.Detail || e.Proposals[0].Reason != text {
		t.Errorf("%+v", got)
	}
}
