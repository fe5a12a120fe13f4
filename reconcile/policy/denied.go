package policy

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// denial is one row of the deny table: programs that no machine runs, or runs
// with these words, whatever the policy allows. A row without words denies the
// program as a whole.
type denial struct {
	code     string
	programs string // names, lower case; a closing * stands for any ending
	words    string // operands: one of these among the first two
	why, fix string
}

var denials = []denial{
	{"command_privilege", "sudo su doas pkexec runuser gosu setpriv passwd chpasswd chsh visudo useradd userdel usermod groupadd adduser machinectl nsenter unshare chroot", "",
		"switches to another user's rights", "do it with your own rights, or ask a person"},
	{"command_device", "mkfs* mke2fs fdisk sfdisk gdisk parted wipefs mkswap swapon swapoff mount umount losetup blkdiscard hdparm cryptsetup", "",
		"works on whole disks", "leave it out"},
	{"command_destroys", "shred srm wipe", "",
		"destroys a file beyond recovery", "remove the file with git rm, which history can undo"},
	{"command_schedule", "crontab at batch systemctl launchctl service initctl rc-service schtasks systemd-run", "",
		"starts programs after the session has ended", "leave it out"},
	{"command_power", "shutdown reboot halt poweroff init telinit", "", "stops the machine", "leave it out"},
	{"command_installer", "npx bunx uvx pnpx apt apt-get aptitude yum dnf zypper pacman apk brew port snap flatpak dpkg rpm nix-env choco winget scoop emerge easy_install", "",
		"fetches and runs other people's code", "work with what is installed, or ask a person"},
	{"command_installer", "pip pip2 pip3* pipx gem cpan cpanm luarocks cabal opam conda mamba micromamba helm", "install uninstall update upgrade run inject download wheel",
		"fetches and runs other people's code", "name the dependency in its file and let a person review it"},
	{"command_installer", "npm pnpm yarn bun deno", "install i in isntall add update upgrade up link global exec x dlx create init uninstall remove rm un audit",
		"fetches and runs other people's code", "name the dependency in its file and let a person review it"},
	{"command_installer", "uv poetry pdm pipenv rye hatch bundle composer cargo dotnet mix stack", "add install update require tool run-script pip sync remove upgrade",
		"fetches and runs other people's code", "name the dependency in its file and let a person review it"},
	{"command_installer", "go", "get install", "fetches and builds other people's code", "name the dependency in go.mod and let a person review it"},
	{"command_publish", "npm pnpm yarn cargo poetry flit gem twine docker podman mvn gradle dotnet nuget vsce", "publish push upload deploy login",
		"publishes to other machines", "leave publishing to a person"},
	{"command_publish", "gh glab hub", "pr release repo api secret workflow run issue auth variable ruleset ssh-key gpg-key extension mr",
		"acts on the forge in a person's name", "leave it to a person"},
	{"command_evaluated", "eval source . alias enable osascript bind complete", "",
		"runs text as a command, which cannot be checked", "write the command itself"},
	{"command_terminal", "script tmux screen socat expect unbuffer dtach abduco zellij byobu ttyrec asciinema reptyr ttyd gotty tmate " +
		"xterm* uxterm urxvt* rxvt* gnome-terminal konsole kitty alacritty wezterm foot x-terminal-emulator xdotool ydotool wtype", "",
		"gives what it runs a terminal, where a person is asked", "run the program itself"},
	{"command_terminal", "ssh slogin autossh sshpass mosh rsh rlogin", "", "starts a session that nobody sees an agent in, perhaps on this machine", "run the program itself, or ask a person"},
	{"command_debugger", "gdb* lldb* gcore rr dlv", "", "steers other programs, such as the shell of a person", "print what you need, or write a test"},
	{"command_human_act", "ssh-add ssh-agent gpg-agent gpg-connect-agent", "", "uses the keys of a person", "leave it to a person"},
	{"command_human_act", "ssh-keygen", "sign", "signs in the name of a person", "leave it to a person"},
	{"command_kills", "killall pkill killall5", "", "kills processes by name, including those of others", "kill a process that you started by its pid"},
}

// inline are interpreters and the flags by which they take a program as text.
var inline = map[string][]string{
	"python": {"c"}, "pypy": {"c"}, "perl": {"e", "E"}, "ruby": {"e"}, "node": {"e", "eval", "p", "print"}, "nodejs": {"e", "eval", "p", "print"}, "php": {"r", "B", "R", "E"},
	"lua": {"e"}, "luajit": {"e"}, "deno": {"eval"}, "bun": {"e", "eval", "p", "print"}, "rscript": {"e"}, "tclsh": {}, "julia": {"e", "E", "eval", "print"}, "elixir": {"e", "eval"}, "erl": {"eval"}, "ghc": {"e"}, "groovy": {"e"},
	"powershell": {"c", "command", "encodedcommand", "ec", "enc"}, "pwsh": {"c", "command", "encodedcommand", "ec", "enc"}, "gdb": {"ex", "x"}, "vim": {"c"}, "vi": {"c"}, "nvim": {"c"}, "ex": {"c"}, "ed": {}, "emacs": {"eval"},
}

// checkDenyTable adds the rows of the deny table that a program trips.
func checkDenyTable(p *program) {
	name := denyTableName(p.name())
	o := p.options("")
	for _, d := range denials {
		if !isListed(d.programs, name) {
			continue
		}
		if d.words == "" {
			p.addHard(d.code, name+" "+d.why, d.fix)
			continue
		}
		for _, n := range verbOperands(p.call, o) {
			if verb := strings.ToLower(n.text); slices.Contains(strings.Fields(d.words), verb) {
				p.addHard(d.code, fmt.Sprintf("%s %s %s", name, verb, d.why), d.fix)
				break
			}
		}
	}
	switch {
	case name == "odd":
		humanAct(p, p.call)
	case (name == "gpg" || name == "gpg2") && o.has("s", "b", "sign", "clear-sign", "clearsign", "detach-sign"):
		p.addHard("command_human_act", name+" signs in the name of a person", "leave it to a person")
	}
	inlineCode(p, name)
}

// humanActs are the verbs and flags of odd that are a person's, below the noun they
// stand under. A test tries every act that only a person may take against them.
var humanActs = map[string]string{
	"gate":      "framing commitment evaluation emergency decide accept reject edit",
	"drain":     "resume",
	"task":      "ready edit",
	"op":        "retry cancel",
	"hook":      "install uninstall",
	"handoff":   "clarify revert skip merge",
	"run":       "--override",
	"review":    "--pr --each",
	"config":    "set unset",
	"knowledge": "confirm",
}

// plainVerbs are verbs of those nouns that are no such act, whatever follows them.
var plainVerbs = map[string]string{"task": "add list show permissions", "op": "list show diff trace prompt watch classify", "gate": "decay", "config": "list explain get", "hook": "run", "handoff": "new check show list", "knowledge": "related backlinks expand path graph index canon"}

// humanAct adds a finding where a call of odd approves, rejects, undoes, or has a noun of
// humanActs and, behind it, one of its verbs. Flags may stand anywhere, and their values
// look like operands; a verb that the line does not tell may be any.
func humanAct(p *program, c call) {
	deny := func(what string) {
		p.addHard("command_human_act", "odd "+what+" may only be run by a person", "leave it to a person")
	}
	operands := c.options("").operands
	flagged := len(c.argv) > 1 && strings.HasPrefix(c.argv[1].lead, "-") // the values of flags look like operands
	for i, noun := range operands {
		name := strings.ToLower(noun.text)
		if (name == "approve" || name == "reject" || name == "undo") && (i == 0 || flagged) {
			deny(name)
			return
		}
		if i == 0 && !noun.known {
			p.addHard("command_human_act", "odd is called with a command that the line does not tell", "write the command itself")
			return
		}
		acts := strings.Fields(humanActs[name])
		at := slices.IndexFunc(c.argv, func(a word) bool { return strings.EqualFold(a.text, name) })
		if len(acts) > 0 && at+1 < len(c.argv) && c.argv[at+1].is(strings.Fields(plainVerbs[name])...) {
			return // what stands right behind the noun is its verb
		}
		for _, n := range append(operands[i+1:], c.argv[at+1:]...) {
			verb, _, _ := strings.Cut(strings.ToLower(n.text), "=")
			if slices.Contains(acts, verb) || len(acts) > 0 && !n.known {
				deny(name + " " + verb)
				return
			}
		}
	}
}

// verbOperands are the operands that may be a program's verb: the first, and where
// flags come before it, whose values look like operands, the second.
func verbOperands(c call, o parsed) []word {
	n := 1
	if len(c.argv) > 1 && strings.HasPrefix(c.argv[1].lead, "-") || len(o.operands) > 0 && strings.HasPrefix(o.operands[0].lead, "+") {
		n = 2
	}
	if len(o.operands) > 1 && o.operands[1].is("view", "list", "status", "diff", "checks") {
		return nil // what a forge's program only shows
	}
	return o.operands[:min(n, len(o.operands))]
}

func isListed(programs, name string) bool {
	return slices.ContainsFunc(strings.Fields(programs), func(p string) bool {
		prefix, any := strings.CutSuffix(p, "*")
		return p == name || any && strings.HasPrefix(name, prefix)
	})
}

// standardInput are the names of what a program reads anyway.
var standardInput = []string{"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"}

// inlineCode denies an interpreter that is given its program as text, by a flag
// or by its input.
func inlineCode(p *program, name string) {
	flags, ok := inline[strings.TrimRight(name, "0123456789.-")] // without its version
	if !ok {
		return
	}
	module := len(p.argv) > 2 && p.argv[1].is("-m")
	switch {
	case module && p.argv[2].is("pip", "ensurepip", "easy_install", "pipx"):
		p.addHard("command_installer", name+" -m "+p.argv[2].text+" fetches and runs other people's code", "name the dependency in its file and let a person review it")
	case module && p.argv[2].is("pty"):
		p.addHard("command_terminal", name+" -m pty gives what it runs a terminal, where a person is asked", "run the program itself")
	}
	text, script := false, module
	for _, a := range p.argv[1:] {
		if a.is(standardInput...) {
			continue
		}
		if !strings.HasPrefix(a.text, "-") { // what follows is the script's, but for the verb of some
			script, text = true, text || a.is("eval") && slices.Contains(flags, "eval")
			break
		}
		text = text || slices.ContainsFunc(flags, func(f string) bool { return carriesFlag(a.text, f) })
	}
	if text || !script && (p.from.kind == piped || p.from.kind == here) {
		p.addHard("command_inline_code", name+" gets a program as text, which cannot be checked", "write the program to a file and run that")
	}
}

// carriesFlag reports whether an argument is a flag, alone, in a cluster of letters
// or with its value.
func carriesFlag(arg, flag string) bool {
	body := strings.TrimLeft(arg, "-")
	name, _, _ := strings.Cut(body, "=")
	if len(flag) > 1 {
		return strings.EqualFold(name, flag)
	}
	return !strings.HasPrefix(arg, "--") && strings.Contains(body, flag)
}

// deniesDestroying denies removing the repository, the home folder, the root, or
// everything here.
func deniesDestroying(p *program, n word) bool {
	for _, r := range p.places(n.text) {
		all := n.glob && strings.Trim(path.Base(n.text), "*.?[]!") == ""
		if all {
			r = path.Dir(r)
		}
		if all && (isOutside(r) || p.policy.isWholeTree(r)) || n.known && p.policy.isWholeTree(r) {
			p.addHard("command_destroys", fmt.Sprintf("%s would delete everything in %s", p.name(), n.text), "name the files to delete")
			return true
		}
	}
	return false
}
