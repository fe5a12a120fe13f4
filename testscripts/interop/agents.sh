#!/bin/sh
# Real agents drain a task against a loopback stand-in for their model: the Claude Code
# command line as the substrate claude, and its adapter for the Agent Client Protocol as
# the substrate acp. Needs npm, node and the network for their packages; no account.
#
#   testscripts/interop/agents.sh [ODD]     ODD is bin/odd if left out; NPM_HOME keeps the packages
#                                        CLAUDE_VERSION takes another version
set -eu
odd=$(realpath "${1:-bin/odd}")
here=$(dirname "$(realpath "$0")")
work=$(mktemp -d)
home=${NPM_HOME:-$work/npm}
model=
trap 'if [ -n "$model" ]; then kill "$model"; fi; rm -rf "$work"' EXIT
unset ODD_ANCHOR ODD_RUN ODD_TASK
mkdir -p "$home"
(cd "$home" && { [ -f package.json ] || npm init -y >/dev/null; } &&
	npm install --silent --no-audit --no-fund "@anthropic-ai/claude-code@${CLAUDE_VERSION:-2.1.330}" @zed-industries/claude-code-acp@0.16.2 >"$work/npm.log" 2>&1) || { cat "$work/npm.log"; exit 1; }
claude=$(ls "$home"/node_modules/@anthropic-ai/claude-code-*/claude | head -1)
adapter=$home/node_modules/@zed-industries/claude-code-acp/dist/index.js

node "$here/model.mjs" "$work/model.log" >"$work/port" &
model=$!
until [ -s "$work/port" ]; do kill -0 "$model"; done
ANTHROPIC_BASE_URL=http://127.0.0.1:$(cat "$work/port")
ANTHROPIC_API_KEY=dummy
export ANTHROPIC_BASE_URL ANTHROPIC_API_KEY PATH="$(dirname "$odd"):$PATH"
echo "claude: $("$claude" --version); adapter: $(node -p "require('$home/node_modules/@zed-industries/claude-code-acp/package.json').version"); $("$odd" status --sandbox 2>/dev/null | head -3 | tr '\n' ';')"

failed=0
want() { # FILE PATTERN
	if grep -qE -- "$2" "$1"; then echo "ok    $2"; else echo "FAIL  want $2"; cat "$1"; failed=1; fi
}

# drained NAME ARGV: a task of files, by that substrate.
drained() {
	echo "-- $1: $2"
	"$odd" demo "$work/$1" >"$work/demo.log" 2>&1
	cd "$work/$1"
	cat >odd.toml <<-TOML
		[session]
		substrate = "$1"
		max_usd = 1
		[substrate.$1]
		argv = [$2]
		env = ["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"]
		[sandbox]
		read = ["$home"]
		[toolbox]
		run = [["go", "version"]]
		[budget]
		monthly_usd = 10
		[governance]
		lease = "off"
	TOML
	mkdir tool
	echo spring >tool/tides.txt
	git add -A
	git commit -qm 'an agent'
	"$odd" task add 'List tides' --role shore-lead --kind implement >/dev/null
	sed -i 's/^state: backlog/state: ready\npaths: [tool\/**]/' knowledge/tasks/list-tides.md
	git commit -qam 'a list wanted'
	: >"$work/model.log"
	"$odd" drain >"$work/out" 2>"$work/err" || echo "exit $?"
	cat "$work/out" "$work/err"
	want "$work/out" '^list-tides	review	.*1 file'
	want "$work/err" 'not done'
	git show odd/review/list-tides.1:tool/new.txt >"$work/new" || true
	want "$work/new" '^ebb$'
	if git diff --quiet main~2 odd/review/list-tides.1 -- other.txt odd.toml; then echo 'ok    nothing beside what was asked for'; else echo 'FAIL  more was changed'; failed=1; fi
	grep -ho '"turns":[0-9]*\|"calls":{[^}]*}\|"cost_micro_usd":[0-9]*' knowledge/ledger/*/*.jsonl | sort -u
	grep -aE "^(told|answer)" "$work/model.log" || true
}

drained claude "\"$claude\""
drained acp "\"node\", \"$adapter\""
exit "$failed"
