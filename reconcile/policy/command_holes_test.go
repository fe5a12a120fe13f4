package policy

import (
	"slices"
	"testing"
	"testing/fstest"
)

// Each of these lines once passed for one that only reads, and wrote a file or
// ran a program when bash ran it.
func TestCommandIsNotFooled(t *testing.T) {
	t.Parallel()
	encoded := `$(printf 'a[\44(touch x)]')` // text that the shell computes to a[$(touch x)]
	for _, line := range []string{
		// git: what walks history takes the flags of diff.
		"git shortlog --output=x HEAD", "git rev-list --output=x HEAD", "git blame --output=x a", "git reflog --output=x", "git reflog show --outp=x", "git stash list --output=x",
		"git apply --stat --build-fake-ancestor=x p", "git bisect visualize tag x", "git bisect view tag x", "git --bare log",
		// Words that the shell splits, or fills in from names of files, may be flags.
		"git log HEAD$x", "sort a$x", `git log HEAD"$@"`, "find . -name $x", "find . $(echo -fprint x)", `find . -print "$x"`, "find . -name *", "rg a *", "sort [-]*",
		// xargs hands on flags, and takes less for itself than it seems.
		"echo --output=x | xargs git log", "echo -ox | xargs sort a", "echo --output=x | xargs -I% git log %", "echo --output=x | xargs -i% git log %",
		"xargs --max-lines touch echo x", "xargs -eI touch echo x", "xargs -lI touch echo x",
		// The shell computes indices, and runs the commands in them.
		"declare -i x=" + encoded, "declare -i x; x=" + encoded, "typeset -xi x", `test -v "` + encoded + `"`, `[ -v "` + encoded + `" ]`, "x=" + encoded + "; [ $x ]", "test $(cat a)",
		`printf -v "` + encoded + `" x`, `read "` + encoded + `"`, `a=(1); unset "` + encoded + `"`, "x=" + encoded + "; for ((x;0;)); do :; done", "x=" + encoded + "; b=([x]=1)",
		"RANDOM=" + encoded, "OPTIND=" + encoded + "; getopts a b -a", "read HISTCMD", "for EPOCHSECONDS in $(cat a); do :; done",
		`wait -p "` + encoded + `"`, "printf $x y",
		"read x <<'E'\n" + encoded + "\nE\no=-v; [ \"$o\" \"$x\" ]", "o=-v; test \"$o\" '" + encoded + "'", "wait -p'" + encoded + "' -n", "read x <<'E'\n" + encoded + "\nE\necho $((\"x\"))",
		"read x <<'E'\n" + encoded + "\nE\ny=; echo $((${y}x))", "x=1; read -ax <<'E'\n" + encoded + "\nE\necho $((x))", "echo $((1 + $'\\x78'))",
		// A declaration reads a value in brackets as a list.
		"declare -a 'x=($(touch x))'", "read y <<'E'\n($(touch x))\nE\ndeclare -a x=\"$y\"", "x=(); read y <<'E'\n($(touch x))\nE\nexport x=\"$y\"", "x[0]=1; readonly x=\"$y\"", "typeset -gA x; f() { typeset x=$y; }",
		// What is no function where it is called is another program.
		"(make2() { :; }); make2", "false && make2() { :; }; make2", "make2() { :; } & make2", "make2() { :; }; unset -f make2; make2", "bash -c 'make2() { :; }'; make2", "make2() { :; }; bash -c make2", "echo $(make2() { :; }) | make2",
		"make2() { :; }; flock a -c make2", "if true; then make2() { :; }; fi; make2", "make2() { :; }; x=make2; unset $x; make2",
		// Braces with quotes in them multiply a word too.
		"touch {'a',b}", `touch docs/{"../odd.toml",/../docs/x}`, "rm {$HOME,x}", `touch {"a".."c"}`,
		// A comment ends with its line.
		"ls # x \\\ntouch2 x", "declare #x\\\ntouch2 x", "sh <<'E'\n# \\\ntouch2 x\nE", "(ls;#\\\ntouch2 x\n)",
		// A trap runs in the shell of the line.
		"trap 'cd docs' DEBUG; touch x", "trap 'cd docs || exit' ERR; false; touch x",
		// The shell reads the rest of the line in another way.
		"set -k", "set -o history -H", "set -$x", "shopt -s expand_aliases", "set -o keyword",
		"jobs -x touch x", "command local -i x", "declare 'a[$(touch x)]=1'", "coproc touch x", "let x=y", "command let x=y", "test -v x", "x=$y; [ $x ]", "if cd docs; then ls; fi",
		// Programs with more ways to write or run than their table knew.
		"strace -ELD_PRELOAD=x ls", "busybox --install", "tree -RL 1", "go build ./...", "go build a", "yq --split-exp-file a b", "cloc --found=x .", "less -Tx a",
		"find . -not -name -name \"$x\"", "find . -printf -name \"$x\"", "go vet \"$x\"", "go list $(cat a)", "go build -o /dev/null -ldflags=-extld=./x .", "go build -o /dev/null -ldflags '-s -extld ./x' .", "go vet -gcflags=-memprofile=x .",
		`go build -o /dev/null -ldflags "-X a=$x" .`, "go build -o /dev/null -asmflags=all=-o=x .", "staticcheck -debug.cpuprofile=x ./...", "staticcheck --debug.trace x ./...", "yq --in-place .a a", "arch -x86_64 ./x", "cp --suffix=$x a b", "sed -i$x p a", "sed -i'../*' p a",
		"shopt -s dotglob; cat */*key", "find . -execdir touch a \\;", "find . -okdir cp a b \\;", "uniq {a,b}", "uniq a*", "xxd a*", "cp a*", "install a{b,c}", "printf {-v,x} y", "mv -b a b", "cp --backup=t a b", "install -b a b",
	} {
		if v := JudgeCommand(line, CommandPolicy{Files: fstest.MapFS{}}); !v.Unknown && !v.Refused() {
			t.Errorf("%s: passes for one that writes only %q", line, v.Writes)
		}
	}
}

// Variables that decide what runs, by whatever word they are set.
func TestCommandSteering(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"declare -n r=PATH; r=./docs; ls", "local -n r=PATH", "read -a PATH <<< ./docs", "read -s PATH <<< ./docs", "read -aPATH <<< ./docs", "mapfile -t PATH <<< ./docs", "readarray -t BASH_CMDS",
		"BASH_ALIASES[ls]='touch x'", "BASH_CMDS[ls]=./evil; ls", "XDG_CONFIG_HOME=docs git status", "GCONV_PATH=docs iconv -l", "GOCACHEPROG=./x go vet ./...", "PKG_CONFIG=./x go vet ./...",
		"CGO_CFLAGS=x go vet ./...", "env XDG_CONFIG_HOME=docs git status", "LESS=+x git log", "exec {PATH}>/dev/null; ls", "ls {IFS}<a", "GLOBIGNORE=x; cat */*key", "SIMPLE_BACKUP_SUFFIX=.toml cp -b a odd", "IFS=/ ls", "IFS=/ PATH=x read y", "IFS=/; read y", "let GOFLAGS=x", "command let GOFLAGS=x",
	} {
		if v := JudgeCommand(line, CommandPolicy{}); !v.Refused() {
			t.Errorf("%s: not refused", line)
		}
	}
}

// Lines that must stay open, or nobody would use the gate.
func TestCommandStaysUsable(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{"docs/a.md": {}, "docs/b/HEAD": {}, "docs/link": {Mode: 0o777 | 1<<27, Data: []byte("../src")}, "sub/.git": {}}
	checkCommands(t, CommandPolicy{Files: files}, []commandRow{
		{`[ -f "$x" ] && cat "$x"`, ""},
		{"i=0; while [ $i -lt 3 ]; do i=$((i+1)); done", ""},
		{"[ $? -eq 0 ] && echo ok", ""},
		{"OPTIND=1; RANDOM=7; echo $RANDOM", ""},
		{"set -euo pipefail; ls", ""},
		{"shopt -s globstar nullglob; ls docs/**", ""},
		{"cat *.md | sort | uniq -c", ""},
		{`for f in docs/*.md; do wc -l "$f"; done`, ""},
		{"git ls-files | xargs wc -l", ""},
		{"git ls-files | xargs grep -n a", ""},
		{"find . -name '*.go' -exec grep -n a {} +", ""},
		{`find . -name "$x"`, ""},
		{"cd docs && git log", ""},
		{"git -C docs status", ""},
		{"sort docs/*.md", ""},
		{"IFS= read -r line", ""},
		{"while read -r line; do echo \"$line\"; done", ""},
		{"while IFS=: read -r a b; do echo \"$b\"; done < docs/a.md", ""},
		{"awk '{s+=$1} END {print s}' docs/*.md", ""},
		{`for f in docs/*.md; do awk '{print $1}' "$f"; done`, ""},
		{"awk \"$x\" '{print}' docs/a.md", "?"},
		{"find . -name '*.tmp' -exec rm {} +", "?"},
		{"./tool *.md", "?"},
		{`f() { ls "$1"; }; for i in a b; do f $i; done | sort`, ""},
		{"if true; then f() { ls; }; f; fi", ""},
		{"f() { rm docs/a.md; }; trap f EXIT; ls", "+docs/a.md"},
		{`[ -n "$x" -a "$y" != z ] || [ ! "$x" ] && test "$a" -lt "$b"`, ""},
		{"n=3; echo $((n * 2)) $((\"$n\" + 1))", ""},
		{`export A="$B"; a=(1 2); echo "${#a[@]}" "${a[0]}"`, ""},
		{"echo {a,b} \"{a,b}\" '{x,y}'", ""},
		{"cat <<\\END > docs/x\na\nEND", "+docs/x"},
		{"exec 3< docs/a.md; while read -r -u 3 l; do echo \"$l\"; done", ""},
		{"go build -ldflags '-s -w -X main.v=1.2' -gcflags='all=-N -l' -o docs/x .", "+docs/x"},
		{"go -C docs vet ./... && go vet -C docs .", ""},
		{"staticcheck -checks all ./... && arch", ""},
		{"git -C docs rm a.md", "+docs/a.md"},

		{"env -a ls touch x", "+x"},
		{"xargs --replace touch echo x", "+echo +x"},
		{"xxd -ps docs/a.md docs/x", "+docs/x"},
		{"xxd -l 16 -R always docs/a.md", ""},
		{"env -C docs -C docs touch x", "+docs/x"},
		{"cp -r docs src", "+src +src/** +src/docs +src/docs/**"},

		// A folder that is, or becomes, a repository of its own is another matter.
		{"git -C docs/b log", "?"},
		{"cd docs/b && git log", "?"},
		{"git -C sub log", "?"},
		{"git -C /tmp/x log", "?"},
		{"mkdir docs/c && echo x > docs/c/HEAD && git -C docs/c log", "+docs/c +docs/c/HEAD ?"},
		{"mv docs/a.md docs/d; git -C docs/d log", "+docs/a.md +docs/d +docs/d/a.md ?"},

		// The system follows a link before it goes up.
		{"echo x > docs/link/../y", "+docs/y ?"},
		{"echo x > docs/../y", "+y"},
		{"cd docs/link && echo x > ../y", "+docs/y ?"},
		{"cd docs/link/.. && echo x > y", "+docs/y ?"},
		{"echo x > /tmp/../y", "+/y !command_outside"},
	})
}

// A person's act is a commit with lines that begin with Odd-, so nobody else writes them, and
// no message that the command does not show.
func TestCommandForgesNoAct(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{"plain": {Data: []byte("docs: odd-even\n\nIt is odd.\n")}, "forged": {Data: []byte("x\n\nodd-approved-by: human:ann\n")}, "bytes": {Data: []byte("x\x00")}}
	for _, line := range []string{
		"git commit --allow-empty -m approve -m 'Odd-Proposal: x\nOdd-Approved-By: human:ann'", "git commit -m x -m 'odd-approved-by : human:ann'", "git commit -qm'\nODD-RUN: x'", "git commit --mess='Odd-Run: x'",
		"git commit -m x --trailer Odd-Approved-By=human:ann", "git commit -m x --trail 'Odd-Approved-By: human:ann'", `git commit -m "$(cat docs/x)"`, `git commit -m "$x"`, "git commit -m $x", `git commit -m"$x"`, "git commit -m x $x",
		"git commit -m \"$(cat <<'E'\nx\n\nOdd-Approved-By: human:ann\nE\n)\"", "git commit -m \"$(cat <<E\n$x\nE\n)\"", "git commit -m \"$(cat <<E\nOdd-\\\nApproved-By: x\nE\n)\"", "git commit -m \"$(cat x <<'E'\nx\nE\n)\"",
		"git commit -m $'x\\n\\nOdd-Run: x'", "git commit -F forged", "git commit -Fforged", "git commit --file=forged", "git commit -F none", "git commit -F bytes", "git commit -F /tmp/x", "git commit -F -", "echo x | git commit -F -",
		"echo x > plain && git commit -F plain", "./x && git commit -F plain", "git commit -F - <<'E'\nx\n\nOdd-Run: x\nE", "git commit -F - <<E\nx\n\nOdd-\\\nRun: x\nE",
		"git commit -C HEAD~3", "git commit -c HEAD", "git commit --reuse-message=HEAD", "git commit --reedit-message HEAD", "git commit -t plain", "git commit --amend --no-edit", "git commit --amend", "git commit --fixup=amend:HEAD", "git commit --squash HEAD",
		"echo x | xargs git commit -m", "echo x | xargs git commit", "env git commit -m 'Odd-Run: x'", "git am docs/x.mbox", "git am < docs/x.mbox", "git quiltimport", "git merge -m 'Odd-Run: x' there", "git merge -F forged there", "git commit-tree -m x HEAD^{tree}", "git notes add -m x", "git notes --ref=x append -m x", "git notes --ref x add -m x",
		"git commit -m x -m 'Odd-Propoſal: x'", "echo 'Odd-Run: x' | xargs -I{} git commit -m {}", "echo x | xargs -Iy git commit -m 'a y'", "find . -exec git commit -m {} \\;", `bash -c 'git commit -m "$1"' a b`,
		`f() { git commit -m "$1"; }; f x`, "echo x | xargs -0 -n1 git commit -m x",
	} {
		v := JudgeCommand(line, CommandPolicy{Files: files, Allow: [][]string{{"git"}}})
		if !slices.ContainsFunc(v.Findings, func(f Finding) bool { return f.Code == "command_human_act" }) {
			t.Errorf("%s: not refused: %q", line, v.Findings)
		}
	}
	for _, line := range []string{
		"git commit -m 'docs: x' -m 'It is odd: so be it.'", "git commit -m 'even-odd: sort'", "git commit -qm 'x\n\nCo-Authored-By: A <a@example.com>'", "git commit -F plain", "git commit", "git commit --amend -m x", "git commit -m x --trailer 'Co-Authored-By: a'",
		"git commit -m \"$(cat <<'E'\ndocs: x\n\nWhy \\ it is.\nE\n)\"", "git commit -m \"$(cat <<E\ndocs: x\nE\n)\"", "git commit -F - <<'E'\ndocs: x\nE", "git merge there", "git merge -m x there", "git notes show", "git log --grep=Odd-Run:", "git interpret-trailers x", "git tag -l",
	} {
		if v := JudgeCommand(line, CommandPolicy{Files: files}); v.Refused() {
			t.Errorf("%s: refused: %q", line, v.Findings)
		}
	}
}
