#!/bin/sh
# The MCP inspector's CLI as odd's client: tools, answers, resources and prompts.
# Needs npm and the network.
#
#   testscripts/interop/mcp-inspector.sh [ODD]     ODD is bin/odd if left out
set -eu
odd=$(realpath "${1:-bin/odd}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset ODD_ANCHOR
"$odd" demo "$work/shop" >"$work/demo.log" 2>&1
cd "$work/shop"

failed=0
inspect() { npx -y @modelcontextprotocol/inspector@2.12.0 --cli "$@"; }
# want PATTERN ARGUMENTS…: what the inspector prints has the pattern.
want() {
	pattern=$1
	shift
	inspect "$@" >"$work/out" 2>&1 || true # it fails where a tool says no, which is a pattern here
	if grep -q -- "$pattern" "$work/out"; then
		echo "ok    $pattern"
	else
		echo "FAIL  want $pattern"
		cat "$work/out"
		failed=1
	fi
}

want '"compile_persona"' "$odd" mcp --method tools/list
inspect "$odd" mcp --method tools/list --strict >"$work/out" 2>&1 || true
if grep -qiE '^ *(warning|error)|"error":' "$work/out"; then # not the members "warnings" and "errors" of a schema
	echo 'FAIL  the schemas of the tools have warnings'
	grep -iE -A3 '^ *(warning|error)|"error":' "$work/out"
	failed=1
else
	echo 'ok    0 warnings'
fi
want '"confidence"' "$odd" mcp --method tools/call --tool-name search --tool-arg query=shore
want '"path": "roles/shore-lead.md"' "$odd" mcp --method tools/call --tool-name get --tool-arg atom=shore-lead
want 'refused \[read-only\]' "$odd" mcp --method tools/call --tool-name task_propose --tool-arg title=x
want 'IDENTITY' "$odd" mcp --method tools/call --tool-name anchor --tool-arg stage=identity --tool-arg role=shore-lead --tool-arg "working_dir=$PWD"
want 'query: is missing' "$odd" mcp --method tools/call --tool-name search --tool-arg type=role
want 'odd://atom/shore-lead' "$odd" mcp --method resources/list
want '{+id}' "$odd" mcp --method resources/templates/list
want 'text/markdown' "$odd" mcp --method resources/read --uri odd://atom/shore-lead
want '"shore-lead"' "$odd" mcp --method prompts/list
want 'You work as shore-lead' "$odd" mcp --method prompts/get --prompt-name shore-lead

exit "$failed"
