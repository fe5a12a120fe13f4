package testscripts

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/odd-cli/odd/persona/session/modeltest"
)

// landBlows fall on a change that lands on the target by itself, whose session is
// held with a model that odd calls.
var landBlows = []blow{
	{name: "change that lands", scene: "landing", kinds: every, before: modelled, acts: one("", "drain", "--task", "mend"), amid: hours(act{"shop", drainAll, ""}), states: []string{"blocked"}},
	{name: "approve what landed", scene: "landing", kinds: every, before: landed, acts: one("mend", "approve", "mend"), amid: hours(), states: []string{"blocked"}},
	{name: "reject what landed", scene: "landing", kinds: force, before: landed, acts: one("mend", "reject", "mend", "--reason", "the word was right"), states: []string{"blocked"}},
}

// landing is a company whose small changes land by themselves, with one such wanted.
func landing(w *world) {
	w.company()
	w.write("shop/docs/tides.rst", "Tides\n=====\n\nSlack watter.\n")
	w.write("shop/knowledge/tasks/mend.md", "---\ntype: task\nid: mend\ntitle: Mend the tides\nstate: ready\nkind: implement\nrole: shore-lead\npaths: [docs/*.rst]\n---\n")
	w.must("shop", "touch", "-t", "202602010900", "docs/tides.rst") // nobody is at work on it
	w.must("shop", "git", "add", "-A")
	w.must("shop", "git", "commit", "-qm", "a change is wanted")
}

// modelled has the world's sessions held with the model.
func modelled(w *world) {
	w.write("shop/odd.toml", fmt.Sprintf(landToml, w.models, filepath.Base(w.home)))
	w.must("shop", "git", "commit", "-qam", "a model")
}

// landed has the change on the target, by itself.
func landed(w *world) {
	modelled(w)
	w.must("shop", "odd", "drain", "--task", "mend")
	if !strings.Contains(w.read("shop/docs/tides.rst"), "Slack water.") {
		w.failf("the change did not land\n%s", strings.Join(w.story, "\n"))
	}
	w.later(1e9)
}

// landToml is told the model's address and the name of the world. A session costs
// as much as one of tortureAgent's: its last answer counts 175,000 tokens.
const landToml = `[session]
substrate = "openai"
model = "acme-mini"
max_usd = 0.10
[substrate.openai]
base_url = "%s/%s/v1"
[prices."acme-mini"]
input_usd = 0.40
output_usd = 0
[budget]
monthly_usd = 5
[governance]
lease = "off"
[board]
branch = "main"
[pipeline]
auto_apply = true
validate = [["test", "-f", "docs/tides.rst"]]
`

// models serves the model of every world below dir, and returns its address. It
// answers by how much has been said, so that any number of sessions may ask, and
// bills a session with its first answer.
func models(t *testing.T, dir string) string {
	t.Helper()
	recording, err := os.ReadFile(filepath.Join("..", "persona", "session", "openai", "testdata", "land.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	answers := txtar.Parse(recording).Files
	for i := range answers {
		count := `"prompt_tokens":0`
		if i == len(answers)-1 {
			count = fmt.Sprintf(`"prompt_tokens":%d`, billed*10/4)
		}
		answers[i].Data = bytes.ReplaceAll(answers[i].Data, []byte(`"prompt_tokens":100`), []byte(count))
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the caller has gone
		}
		said := min(bytes.Count(body, []byte(`"role":"assistant"`)), len(answers)-1)
		world, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		if said == 0 {
			if err := bill(filepath.Join(dir, world, "bill")); err != nil {
				t.Error(err)
			}
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		modeltest.Read(txtar.Format(&txtar.Archive{Files: answers[said : said+1]})).ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// bill adds a line to a bill.
func bill(name string) error {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString("a session\n")
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}
