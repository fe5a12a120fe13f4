package testscripts

// deed is one command that writes.
type deed struct {
	name   string
	before string // a shell script that makes the repository ready for it, in the demo's
	argv   []string
	answer string // what a person types
	done   string // a shell script that succeeds once it is done
	edits  bool   // it leaves its edits uncommitted
	heal   string // a shell script without which nothing can be asked after it failed
}

// deeds are the commands that write, each from the repository of odd demo.
var deeds = []deed{
	{name: "drain", before: again, argv: []string{"odd", "drain"}, done: "grep -q '^state: review' knowledge/tasks/read-the-handbook.md && git for-each-ref refs/heads/odd/review | grep -q 'handbook\\.[2-9]'"},
	{name: "approve", argv: []string{"odd", "approve", "read-the-handbook", "--verify-atom", "skeg"}, answer: "read-the-handbook", done: "grep -q '^state: done' knowledge/tasks/read-the-handbook.md && test -f knowledge/terms/skeg.md"},
	{name: "reject", argv: []string{"odd", "reject", "read-the-handbook", "--reason", "no"}, answer: "read-the-handbook", done: "grep -q '^state: backlog' knowledge/tasks/read-the-handbook.md"},
	{name: "refresh", argv: []string{"odd", "review", "read-the-handbook", "--refresh"}, done: "git for-each-ref refs/heads/odd/review | grep -q 'handbook\\.[2-9]'"},
	{name: "task", argv: []string{"odd", "task", "add", "Count the crates", "--role", "shore-lead"}, done: "git cat-file -e HEAD:knowledge/tasks/count-the-crates.md"},
	{name: "journal", argv: []string{"odd", "journal", "add", "O", "The gate was closed", "Nobody had the key."}, done: "git grep -q 'gate was closed' HEAD"},
	{name: "reconcile", before: emit, argv: []string{"odd", "reconcile", "../emission"}, done: "odd reconcile ../emission --dry-run | grep -c unchanged | grep -qx 3", edits: true},
	{name: "framing", before: leased, argv: []string{"odd", "gate", "framing", "--reason", "words are wanted"}, answer: "L-0001", done: "odd log | grep -q framing && git grep -q framing HEAD -- knowledge/governance/gates.jsonl"},
	{name: "commitment", before: framed, argv: []string{"odd", "gate", "commitment", "--extend", "2d"}, answer: "L-0001", done: "odd drain --dry-run && git grep -q commitment HEAD -- knowledge/governance/gates.jsonl"},
	{name: "emergency", before: framed + committedTo, argv: []string{"odd", "gate", "emergency", "--reason", "wrong river", "--decision", "Ask again", "--rationale", "it is another", "--tradeoffs", "a day", "--confidence", "high"},
		answer: "L-0001", done: "git grep -q 'wrong river' HEAD -- knowledge/governance/gates.jsonl && ! odd drain --dry-run"},
	{name: "identity", before: editing, argv: []string{"odd", "anchor", "identity", "editor"}, done: "odd anchor ls | grep -q pending"},
	{name: "context", before: editing + opened, argv: shell("exec odd anchor context $(cat ../token) ../bind"), done: "odd anchor ls | grep -q CONTEXT"},
	{name: "proof", before: editing + opened + bound, argv: shell("exec odd anchor proof $(cat ../token) ../proof"), done: "odd anchor verify $(cat ../token)"},
	{name: "release", before: editing + opened + bound + "odd anchor proof $(cat ../token) ../proof\n", argv: shell("exec odd anchor release $(cat ../token)"), done: "! odd anchor ls | grep -q active"},
	{name: "change", before: changing, argv: []string{"odd", "drain"}, done: "grep -q '^state: review' knowledge/tasks/tide-names.md && git for-each-ref refs/heads/odd/review | grep -q names"},
	{name: "merge", before: changing + "odd drain\n", argv: []string{"odd", "approve", "tide-names"}, answer: "tide-names", done: "git cat-file -e HEAD:tool/name.go && odd op list --all | grep -q 'complete: merged'"},
	{name: "invoke", before: exploring, argv: []string{"odd", "agent", "run", "--contract-role", "explorer", "--task", "What does a renter need?"}, done: "ls knowledge/handoffs/run-*"},
	{name: "sync", before: hub, argv: []string{"odd", "sync"}, done: "git cat-file -e HEAD:docs/more.md && test -f docs/more.md"},
	{name: "share", before: hub, argv: []string{"odd", "task", "add", "Count the crates", "--role", "shore-lead"}, done: "git --git-dir=../hub.git cat-file -e main:knowledge/tasks/count-the-crates.md"},
	{name: "init", before: "rm -rf .[a-z]* *", argv: []string{"odd", "init"}, done: "test -z \"$(odd init)\" && test -f knowledge/.gitattributes && test -f odd.toml", heal: "odd init && git add -A && { git diff --cached --quiet || git commit -qm begin; }"},
}

func shell(script string) []string { return []string{"sh", "-c", script} }

// again sends the task of the demo back for another run.
const again = "ODD_TEST_ANSWER=read-the-handbook odd reject read-the-handbook --reason again --retry"

// What makes a repository ready for the deeds above.
const (
	emit = "say() { printf '```atom\\n---\\ntype: term\\nid: %s\\ntitle: %s\\n---\\n\\n%s\\n```\\n\\n' \"$@\"; }\n" +
		"{ say keel Keel 'The spine of a hull, laid down first.'; say mast Mast 'It carries the sails.'; say boom Boom 'A spar along the foot of one sail.'; } >../emission\n" +
		"printf '```json\\n{\"schema\": \"odd.finish.1\", \"outcome\": \"completed\"}\\n```\\n' >>../emission\n"
	leased      = again + "\nsed -i 's/^lease = .*/lease = \"required\"/' odd.toml && git commit -qam 'a lease is wanted'\n"
	framed      = leased + "ODD_TEST_ANSWER=L-0001 odd gate framing --reason 'words are wanted'\n"
	committedTo = "ODD_TEST_ANSWER=L-0001 odd gate commitment --extend 2d\n"
	editing     = "cat >knowledge/roles/editor.md <<'END'\n" + tortureEditor + "END\ngit add -A && git commit -qm editor\n" +
		"cat >../bind <<'END'\n" + tortureBind + "END\ncat >../proof <<'END'\n" + tortureProof + "END\n"
	opened   = "odd anchor identity editor | sed -n 's/^IDENTITY //p' >../token\n"
	bound    = "odd anchor context $(cat ../token) ../bind\n"
	changing = "cat >odd.toml <<'END'\n" + replayed + "END\nmkdir agent tool && echo 'package tool' >tool/tide.go\ncat >agent/tide-names.md <<'END'\n" + aChange + "END\n" +
		"git add -A && git commit -qm 'a tool of ours'\nodd task add 'Tide names' --role shore-lead --kind implement\n" +
		"sed -i 's/^state: backlog/state: ready\\npaths: [\"tool\\/**\"]/' knowledge/tasks/tide-names.md && git commit -qam 'names wanted'\n"
	replayed = "session = {substrate = \"replay\"}\nsubstrate.replay.file = \"agent\"\ngovernance.lease = \"off\"\npipeline.validate = [[\"test\", \"-f\", \"tool/name.go\"]]\n"
	aChange  = "```change\n{\"schema_version\": \"2b.1\", \"candidates\": [{\"candidate_id\": \"c1\", \"rationale\": \"names\", \"files\": [" +
		"{\"file_path\": \"tool/name.go\", \"full_content\": \"package tool\\n\"}]}]}\n```\n\n```json\n{\"schema\": \"odd.finish.1\", \"outcome\": \"completed\"}\n```\n"
	exploring = "cat >odd.toml <<'END'\n" + replayed + "END\nmkdir agent && cat >agent/explorer.md <<'END'\n" + explored + "END\ngit add -A && git commit -qm 'an explorer'\n"
	explored  = "```json\n{\"schema\": \"odd.synthesis.1\", \"possibilities\": [\"a term\"], \"tensions\": [\"short cards\"], \"unknowns\": [\"who reads it\"], \"frames\": [\"a danger\"]}\n```\n\n```json\n{\"schema\": \"odd.finish.1\", \"outcome\": \"completed\"}\n```\n"
	hub       = "sed -i 's/^# remote = .*/remote = \"origin\"/' odd.toml && git commit -qam shared\ngit clone -q --bare . ../hub.git\n" +
		"git remote add origin file://$(cd .. && pwd)/hub.git && git fetch -q origin && git branch -q -u origin/main\n" +
		"git clone -q file://$(cd .. && pwd)/hub.git ../there && cd ../there && echo more >docs/more.md && git add -A && git commit -qm more && git push -q origin HEAD:main\n"
)
