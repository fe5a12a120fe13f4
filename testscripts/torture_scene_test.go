package testscripts

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// scenes are what blows fall on, each made once and copied for every blow.
var scenes = map[string]func(*world){
	"ready":    func(w *world) { w.company(); w.must("shop", "git", "commit", "-qam", "work is wanted") },
	"review":   review,
	"gated":    gated,
	"anchored": anchored,
	"shared":   shared,
	"landing":  landing,
}

// tortureGit is a git that has the clock of its world.
const tortureGit = `#!/bin/sh
read -r at <"$HOME/now"
GIT_AUTHOR_DATE=${GIT_AUTHOR_DATE:-$at} GIT_COMMITTER_DATE=${GIT_COMMITTER_DATE:-$at} exec %s "$@"
`

// The files of a scene. An agent bills before it says anything.
const (
	tortureToml = `[session]
substrate = "exec"
max_usd = 0.10
[substrate.exec]
argv = ["sh", "./agent/agent.sh"]
env = ["WORLD"]
[budget]
monthly_usd = 5
[governance]
lease = "%s"
[sandbox]
enforce = "off"
[pipeline]
validate = [["test", "-f", "tool/00.txt"]]
[board]
branch = "main"
%s
`
	tortureAgent = "echo $ODD_RUN $ODD_TASK >>$WORLD/bill\n" +
		"test ! -e $WORLD/agent.sh || . $WORLD/agent.sh\n" +
		"case $ODD_TASK in\n" +
		"many) cat agent/change.md ;;\n" +
		"run-*) printf '```json\\n{\"schema\": \"odd.synthesis.1\", \"possibilities\": [\"a tide\"], \"tensions\": [], \"unknowns\": [], \"frames\": []}\\n```\\n\\n' ;;\n" +
		"*) printf '```atom\\n---\\ntype: term\\nid: %s-term\\ntitle: Word\\n---\\n\\nA word.\\n```\\n\\n' $ODD_TASK ;;\n" +
		"esac\n" +
		"printf '```json\\n{\"schema\": \"odd.usage.1\", \"turns\": 1, \"cost_micro_usd\": %d}\\n```\\n\\n' 70000\n" +
		"printf '```json\\n{\"schema\": \"odd.finish.1\", \"outcome\": \"completed\"}\\n```\\n'\n"
	tortureEditor = "---\ntype: role\nid: editor\ntitle: Editor\ncognition: LOGOS\npaths: [\"docs/**\"]\nmust_never: [\"Guess a number\", \"Change what a person verified\"]\n---\n\n# Editor\n"
)

// filed are the tasks of a company, besides the one that odd demo files.
var filed = []string{"read-the-handbook", "alpha", "beta", "many"}

// company is odd demo's, with an agent that costs money and three tasks that are
// ready, one of which changes many files. Nothing of that is committed.
func (w *world) company() { w.companyUnder("off", "") }

func (w *world) companyUnder(lease, board string) {
	w.write(".gitconfig", fmt.Sprintf(gitConfig, filepath.Join(w.home, "none")))
	w.write("tmp/.keep", "")
	git, err := exec.LookPath("git")
	if err != nil {
		w.failf("%v", err)
	}
	w.write("bin/git", fmt.Sprintf(tortureGit, git))
	w.set(w.now)
	w.must("", "odd", "demo", "shop")
	w.write("shop/odd.toml", fmt.Sprintf(tortureToml, lease, board))
	w.write("shop/agent/agent.sh", tortureAgent)
	var files []string
	for i := range manyFiles {
		files = append(files, fmt.Sprintf(`{"file_path": "tool/%02d.txt", "full_content": "%d\n"}`, i, i))
	}
	w.write("shop/agent/change.md", "```change\n{\"schema_version\": \"2b.1\", \"candidates\": [{\"candidate_id\": \"c\", \"rationale\": \"many\", \"files\": ["+
		strings.Join(files, ",\n")+"]}]}\n```\n\n")
	for _, id := range filed[1:] {
		asks := "kind: extract"
		if id == "many" {
			asks = "kind: implement\npaths: [tool/**]"
		}
		w.write("shop/knowledge/tasks/"+id+".md", "---\ntype: task\nid: "+id+"\ntitle: Task "+id+"\nstate: ready\n"+asks+"\nrole: shore-lead\n---\n")
	}
	w.write("shop/knowledge/roles/editor.md", tortureEditor)
	w.must("shop", "git", "add", "-A")
}

func review(w *world) {
	w.company()
	w.must("shop", "git", "commit", "-qam", "work is wanted")
	w.must("shop", drainAll...)
	w.later(1e9)
}

// gated is a company that works under a lease.
func gated(w *world) {
	w.companyUnder("required", "")
	w.must("shop", "git", "commit", "-qam", "work is wanted")
	w.person("shop", "L-0001", "gate", "framing", "--reason", "words are wanted")
}

// anchored is a company where one agent has opened a session, another has proved
// its context, and a third is bound.
func anchored(w *world) {
	w.company()
	w.must("shop", "git", "commit", "-qam", "work is wanted")
	w.write("bind", tortureBind)
	w.write("proof", tortureProof)
	for _, stage := range []string{"opened", "read", "bound"} {
		first, _, _ := strings.Cut(w.must("shop", "odd", "anchor", "identity", "editor"), "\n")
		token := strings.TrimPrefix(first, "IDENTITY ")
		w.write(stage, token)
		if stage != "opened" {
			w.must("shop", "odd", "anchor", "context", token, "../bind")
		}
		if stage == "bound" {
			w.must("shop", "odd", "anchor", "proof", token, "../proof")
		}
	}
}

// What an agent says to bind itself: who it is, then what it means to do.
const (
	identityHead  = "===IDENTITY===\nMETA:\n  TYPE::IDENTITY\n  VERSION::\"5.0\"\n"
	tortureBind   = identityHead + "BIND:\n  ROLE::editor\n  COGNITION::\"LOGOS\"\n  AUTHORITY::\"RESPONSIBLE[the docs]\"\n===END===\n"
	tortureCommit = "COMMIT:\n  ARTIFACT::\"docs/tides.md\"\n  GATE::\"odd check\"\n===END===\n"
	tortureProof  = identityHead + "TENSIONS:\n" +
		"  L1::\"[NO_GUESSING]⇌CTX:docs/start-here.md[noon is a guess]→TRIGGER[ask the harbour]\"\n" +
		"  L2::\"[SOURCES]⇌CTX:docs/start-here.md[noon is a guess]→TRIGGER[ask the harbour]\"\n" + tortureCommit
)

// shared is a company with a hub and four people at it.
func shared(w *world) {
	w.companyUnder("off", "remote = \"origin\"\nremote_timeout = \"8s\"")
	w.must("shop", "git", "commit", "-qam", "the board is shared")
	w.must("", "git", "clone", "-q", "--bare", "shop", "hub.git")
	for _, c := range []string{"ann", "ben", "cy", "dee"} {
		w.must("", "git", "clone", "-q", "file://"+filepath.Join(w.home, "hub.git"), c)
		w.must(c, "git", "config", "user.name", c)
		w.must(c, "git", "config", "user.email", c+"@example.org")
	}
	w.must("", "rm", "-rf", "shop")
}
