#!/bin/sh
# Three MCP servers as a session has them, held by the kernel where it can: two published
# ones from npm, and odd's own. Needs node, npm and the network.
#
#   testscripts/interop/mcp-servers.sh [ODD]     ODD is bin/odd if left out
set -eu
odd=$(realpath "${1:-bin/odd}")
work=$(realpath "$(mktemp -d)")
trap 'rm -rf "$work"' EXIT
unset ODD_ANCHOR
mkdir "$work/bin" "$work/npm"
ln -s "$odd" "$work/bin/odd"
PATH=$work/bin:$PATH
(cd "$work/npm" && npm install --silent --no-audit --no-fund @modelcontextprotocol/server-filesystem@2026.8.31 @modelcontextprotocol/server-everything@2026.8.31)
at=$work/npm/node_modules/@modelcontextprotocol
odd demo "$work/shop" >"$work/demo.log" 2>&1
cd "$work/shop"
echo "a secret of the machine" >"$work/outside.txt"
cat >>odd.toml <<END
[[mcp]]
name = "shop"
argv = ["odd", "mcp"]
tree = true
read = ["$(dirname "$odd")"]
tools = ["search", "get"]
reads = ["search", "get"]
[[mcp]]
name = "files"
argv = ["node", "$at/server-filesystem/dist/index.js", "."]
tree = true
read = ["$work/npm"]
tools = ["read_text_file", "list_directory", "write_file"]
trust_hints = true
[[mcp]]
name = "every"
argv = ["node", "$at/server-everything/dist/index.js"]
read = ["$work/npm"]
tools = ["*"]
END
odd mcp servers --check

failed=0
# want PATTERN TOOL ARGUMENTS: what the call says has the pattern.
want() {
	odd mcp servers --call "$2" --args "$3" >"$work/out" 2>&1 || true # a refusal is a pattern here
	if grep -q -- "$1" "$work/out"; then
		echo "ok    $2 $3: $(grep -- "$1" "$work/out" | head -1 | cut -c1-120)"
	else
		echo "FAIL  $2 $3: want $1"
		cat "$work/out"
		failed=1
	fi
}
want '"path":"roles/shore-lead.md"' mcp_shop_search '{"query": "shore lead"}'
want 'the rules of this repository' mcp_files_read_text_file '{"path": "odd.toml"}'
want 'ccess denied' mcp_files_read_text_file "{\"path\": \"$work/outside.txt\"}"
want 'EACCES\|ermission denied' mcp_files_write_file '{"path": "x.txt", "content": "x"}'
want 'missing properties.*bad_arguments' mcp_files_read_text_file '{"pth": "odd.toml"}'
want 'is 42' mcp_every_get-sum '{"a": 2, "b": 40}'
want 'image/png, [0-9]* bytes) is left out' mcp_every_get-tiny-image '{}'
want '"temperature"' mcp_every_get-structured-content '{"location": "Chicago"}'
want 'secret_in_arguments' mcp_every_echo "{\"message\": \"ghp_$(printf 'aB3d%.0s' 1 2 3 4 5 6 7 8 9)\"}"
exit "$failed"
