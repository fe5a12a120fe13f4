#!/bin/sh
# The pages of odd site and odd serve in a headless Chromium: every page and link, the
# console, accessibility by axe-core, the keyboard, search, screenshots, and a board that
# changes while odd drain runs. Then the same of a bundle of 10,000 atoms, where only some
# pages are opened. Needs node, npm, the network for two packages, and a Chromium.
#
#   testscripts/interop/site.sh [ODD]     ODD is bin/odd if left out
#   SHOTS is the folder of the screenshots, CHROMIUM the browser
set -eu
odd=$(realpath "${1:-bin/odd}")
here=$(dirname "$(realpath "$0")")
browser=${CHROMIUM:-}
for name in chromium chromium-browser google-chrome; do
	[ -n "$browser" ] || browser=$(command -v "$name" || true)
done
for need in node npm "${browser:-chromium}"; do
	if ! command -v "$need" >/dev/null; then
		echo "skip  site: there is no $need"
		exit 0
	fi
done
work=$(realpath "$(mktemp -d)")
server=
trap 'if [ -n "$server" ]; then kill "$server"; fi; rm -rf "$work"' EXIT
unset ODD_ANCHOR
mkdir "$work/npm"
(cd "$work/npm" && npm install --silent --no-audit --no-fund playwright-core@1.65.1 axe-core@4.14.1)
shots=${SHOTS:-$(mktemp -d)}

# task ID STATE LINES is a task as a person writes it by hand.
task() {
	printf -- '---\ntype: task\nid: %s\ntitle: %s\nstate: %s\n%s\n---\n\nDo it as the [rule](/policies/weather-limits.md) has it.\n' \
		"$1" "$(echo "$1" | tr - ' ')" "$2" "$3" >"knowledge/tasks/$1.md"
}
"$odd" demo "$work/shop" >"$work/demo.log" 2>&1
cd "$work/shop"
mkdir knowledge/guides
cat >knowledge/guides/first-day.md <<'END'
---
type: guide
id: first-day
title: The first day on the jetty
description: A guide with a table, code, a list and links.
relates_to: [shore-lead]
---

# The first day on the jetty

Read [the limits](/policies/weather-limits.md) first, then type:

```sh
odd search weather --type policy | while read -r line; do echo "a line of code that is longer than a phone is wide: $line"; done
```

| What | Who | When | Where it is written down, in words that are long |
|---|---|---|---|
| open | shore lead | 07:00 | the log of the base station |

- [x] keys
- [ ] a-word-without-any-place-to-break-it-that-is-longer-than-the-screen-of-a-phone-would-be
END
task count-the-life-jackets backlog 'priority: p2'
task paint-the-slipway ready 'priority: p1
kind: extract
role: shore-lead'
task mend-the-crane blocked 'blocked_reason: "the agent left no files; read odd log"'
for n in $(seq 45); do task "inspect-hull-$n" done 'role: shore-lead'; done
cat >odd.toml <<'END'
session = {substrate = "exec"}
substrate.exec = {argv = ["sh", "./agent.sh"], free = true, env = ["GO"]}
governance.lease = "off"
sandbox.enforce = "off"
END
cat >agent.sh <<'END'
cat - "$GO" >/dev/null
printf '```atom\n---\ntype: term\nid: slipway\ntitle: Slipway\n---\nA ramp.\n```\n\n'
printf '```json\n{"schema": "odd.finish.1", "outcome": "completed"}\n```\n'
END
mkfifo "$work/go" # what the agent waits for
git add -A
git commit -qm 'tasks and a guide'

failed=0
"$odd" site --out "$work/public"
node "$here/site.mjs" "$work/npm" "$browser" "$shots/file" "file://$work/public/index.html" || failed=1

"$odd" serve >"$work/address" 2>"$work/serve.log" &
server=$!
until [ -s "$work/address" ]; do kill -0 "$server"; done
GO="$work/go" node "$here/site.mjs" "$work/npm" "$browser" "$shots/serve" "$(cat "$work/address")" "$odd" || failed=1
kill -INT "$server"
wait "$server" || status=$?
server=
if [ "${status:-0}" != 130 ]; then
	echo "FAIL  odd serve ended with ${status:-0}"
	failed=1
fi

for n in $(seq 10000); do
	printf -- '---\ntype: system\nid: hull-%s\ntitle: Hull %s\ndescription: One of many.\nrelates_to: [hull-%s]\n---\n\nIt is close to [another](hull-%s.md).\n' \
		"$n" "$n" $((n % 10000 + 1)) $((n % 7 + 1)) >"knowledge/systems/hull-$n.md"
done
git add -A
git commit -qm 'ten thousand hulls'
"$odd" site --out "$work/public"
PAGES=100 node "$here/site.mjs" "$work/npm" "$browser" "$shots/large" "file://$work/public/index.html" || failed=1
echo "screenshots: $shots"
exit "$failed"
