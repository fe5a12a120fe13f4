#!/bin/sh
# Real agents drain tasks against a loopback stand-in for their model, which obeys in the
# first four tasks and disobeys in the others. Prints a table of agent, task and outcome.
# Needs npm, node and the network for their packages; no account. A client that cannot be
# had is skipped by name.
#
#   testscripts/interop/agents.sh [ODD [CLIENT…]]     ODD is bin/odd if left out; CLIENT is one
#                                                  or more of claude claude-acp opencode gemini codex
#   NPM_HOME keeps the packages, TASKS takes some of the tasks
set -eu
odd=$(realpath "${1:-bin/odd}")
[ $# -eq 0 ] || shift
here=$(dirname "$(realpath "$0")")
work=$(mktemp -d)
home=${NPM_HOME:-$work/npm}
model=
trap 'if [ -n "$model" ]; then kill "$model"; fi; rm -rf "$work"' EXIT
unset ODD_ANCHOR ODD_RUN ODD_TASK
tasks=${TASKS:-new-file edit mend heed wrong-path no-finish lost-tool question}

# installed NAME PACKAGE: the folder of its modules is $at.
installed() {
	at=$home/$1/node_modules
	mkdir -p "$home/$1"
	(cd "$home/$1" && { [ -f package.json ] || npm init -y >/dev/null; } && npm install --silent --no-audit --no-fund "$2" >"$work/npm.log" 2>&1) && return
	echo "skip  $1: $2 cannot be installed: $(tail -1 "$work/npm.log")"
	return 1
}

# The adapter of Claude Code needs node 22, which npm has too.
if [ "$(node -p 'process.versions.node.split(".")[0]')" -lt 22 ] && installed node "node-$(node -p 'process.platform + "-" + process.arch')@22"; then
	PATH=$(echo "$at"/node-*/bin):$PATH
fi
node "$here/model.mjs" "$work/model.log" >"$work/port" &
model=$!
until [ -s "$work/port" ]; do kill -0 "$model"; done
url=http://127.0.0.1:$(cat "$work/port")
export ANTHROPIC_BASE_URL="$url" ANTHROPIC_API_KEY=made-up-key ENABLE_TOOL_SEARCH=false
export OPENAI_BASE_URL="$url/v1" OPENAI_API_KEY=made-up-key CODEX_API_KEY=made-up-key
export GOOGLE_GEMINI_BASE_URL="$url" GEMINI_API_KEY=made-up-key
export PATH="$(dirname "$odd"):$PATH"
"$odd" status --sandbox 2>/dev/null | head -3

# path_of TASK is the one file that the task may change.
path_of() {
	case $1 in
	new-file) echo tool/new.txt ;;
	edit) echo tool/tides.txt ;;
	mend) echo tool/tide.mjs ;;
	heed) echo tool/heed.txt ;;
	wrong-path) echo tool/wrong.txt ;;
	no-finish) echo tool/open.txt ;;
	lost-tool) echo tool/lost.txt ;;
	question) echo tool/question.txt ;;
	esac
}

failed=0
# row CLIENT TASK WANT: what became of the task. WANT is review or blocked.
row() {
	line=$(grep "^play-$2	" "$work/out" || echo "play-$2	missing	")
	got=$(printf '%s\n' "$line" | cut -f2) # echo would make a line of \n
	why=$(printf '%s\n' "$line" | cut -f5 | cut -c1-60)
	ok=ok
	if [ "$got" = review ] && [ "$(git diff --name-only "main...odd/review/play-$2.1" -- . ':!knowledge')" != "$(path_of "$2")" ]; then
		got="review of other files"
	fi
	[ "$got" = "$3" ] || { ok=FAIL failed=1; }
	printf '%s\t%-11s\t%-11s\t%s\t%s\n' "$ok" "$1" "$2" "$got" "$why" >>"$work/table"
}

# drained CLIENT SUBSTRATE ARGV ENV: all tasks, by that client.
drained() {
	echo "-- $1: $3"
	"$odd" demo "$work/$1" >"$work/demo.log" 2>&1
	cd "$work/$1"
	cat >odd.toml <<-TOML
		[session]
		substrate = "$2"
		max_usd = 1
		[substrate.$2]
		argv = [$3]
		env = [$4]
		[sandbox]
		read = ["$home"]
		[toolbox]
		run = [["node", "--test"]]
		[budget]
		monthly_usd = 100
		[governance]
		lease = "off"
	TOML
	mkdir tool .claude
	echo '{"permissions": {"defaultMode": "default"}}' >.claude/settings.json
	cp "$here/opencode.json" .
	echo spring >tool/tides.txt
	echo 'export const rise = (a, b) => a - b;' >tool/tide.mjs
	cat >tool/tide.test.mjs <<-'JS'
		import assert from "node:assert";
		import test from "node:test";
		import { rise } from "./tide.mjs";
		test("the sea rises", () => assert.equal(rise(1, 2), 3));
	JS
	git add -A
	git commit -qm 'an agent'
	for t in $tasks; do
		"$odd" task add "Play $t" --role shore-lead --kind implement --path "$(path_of "$t")" --accept "The model plays $t." >/dev/null 2>>"$work/$1.err"
		sed -i 's/^state: backlog/state: ready/' "knowledge/tasks/play-$t.md"
	done
	git commit -qam 'tasks'
	: >"$work/model.log"
	"$odd" drain --max-tasks 9 >"$work/out" 2>>"$work/$1.err" || true
	before=$failed
	for t in $tasks; do
		case $t in
		wrong-path | question | no-finish) row "$1" "$t" blocked ;;
		heed) row "$1" "$t" "${5:-review}" ;;
		*) row "$1" "$t" review ;;
		esac
	done
	if [ "$failed" != "$before" ]; then cat "$work/$1.err" "$work/model.log"; fi
}

for client in ${*:-claude claude-acp opencode gemini codex}; do
	case $client in
	claude)
		installed claude "@anthropic-ai/claude-code@${CLAUDE_VERSION:-2.1.330}" || continue
		drained claude claude "\"$(ls "$at"/@anthropic-ai/claude-code-*/claude | head -1)\"" '"ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "ENABLE_TOOL_SEARCH"'
		;;
	claude-acp)
		installed claude-acp @agentclientprotocol/claude-agent-acp@0.101.0 || continue
		drained claude-acp acp "\"node\", \"$at/@agentclientprotocol/claude-agent-acp/dist/index.js\"" '"ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "ENABLE_TOOL_SEARCH"'
		;;
	opencode)
		installed opencode opencode-ai@1.18.33 || continue
		drained opencode acp "\"$(ls "$at"/opencode-*/bin/opencode | head -1)\", \"acp\"" '"OPENAI_API_KEY", "OPENAI_BASE_URL"'
		;;
	gemini)
		installed gemini @google/gemini-cli@0.61.0 || continue
		drained gemini acp "\"node\", \"$at/@google/gemini-cli/bundle/gemini.js\", \"--acp\", \"--skip-trust\", \"--approval-mode\", \"auto_edit\", \"-m\", \"gemini-2.5-flash\"" '"GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"'
		;;
	codex)
		installed codex @openai/codex@0.169.0 || continue
		# It asks nobody before it acts: what it wrote elsewhere blocks its change.
		drained codex exec "\"$(ls "$at"/@openai/codex-*/vendor/*/bin/codex | head -1)\", \"exec\", \"--skip-git-repo-check\", \"--dangerously-bypass-approvals-and-sandbox\", \"-c\", \"openai_base_url=\\\"$url/v1\\\"\", \"-m\", \"gpt-5.1-codex\", \"-\"" '"CODEX_API_KEY"' blocked
		;;
	*)
		echo "skip  $client: no such client"
		;;
	esac
done
echo '== agent, task, outcome'
cat "$work/table"
exit "$failed"
