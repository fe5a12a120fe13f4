# A hostile agent: makes one attempt, named by its first argument, and exits
# with 0 when it went through. $2 is the user's home, $3 the repository, $4 the
# port of a server, all outside its desk.
set -u
grandparent() { sed 's/.*) //' "/proc/$PPID/stat" | cut -d' ' -f2; }
case $1 in
write-absolute) echo x >"$2/planted" ;;
write-by-symlink) ln -s "$2/planted" way && echo x >way ;;
write-by-hardlink) ln "$3/odd.toml" way && echo x >>way ;;
swap-a-folder) mv "$3/knowledge" "$TMPDIR/knowledge" ;;
edit-git-config) echo '[core] fsmonitor = ./evil' >>"$3/.git/config" ;;
plant-a-hook) echo '#!/bin/sh' >"$3/.git/hooks/pre-commit" ;;
move-a-ref) echo 0000000000000000000000000000000000000000 >"$3/.git/refs/heads/main" ;;
edit-odd.toml) echo '[sandbox]' >>"$3/odd.toml" ;;
edit-governance) echo 'expires = 2999-01-01' >>"$3/knowledge/governance/lease.toml" ;;
edit-the-ledger) : >"$3/knowledge/ledger/2026-03/run-1.jsonl" ;;
read-the-anchor-key) cat "$3/.git/odd/anchor.key" ;;
read-an-ssh-key) cat "$2/.ssh/id_ed25519" ;;
read-the-environment) test -n "${API_KEY:-}" ;;
read-odd-environment) head -c 1 "/proc/$(grandparent)/environ" | grep -q . ;;
signal-odd) kill -0 "$(grandparent)" ;;
reach-the-network) bash -c "exec 3<>/dev/tcp/127.0.0.1/$4" ;;
open-the-terminal) : </dev/tty ;;
one-huge-file) head -c 3000000 /dev/zero >huge ;;
fill-the-disk) i=0; while :; do i=$((i + 1)); head -c 100000 /dev/zero >"fill$i" || exit 1; done ;;
leave-a-daemon) mkfifo up; (setsid sh -c 'trap "" HUP TERM INT; echo $$ >pid; echo up >up; exec sleep 600' >/dev/null 2>&1 </dev/null &) & read up <up ;;
*) exit 9 ;;
esac 2>/dev/null
