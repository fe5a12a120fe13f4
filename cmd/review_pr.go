package cmd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/board/review"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/session/exec"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// runReviewPR opens a pull request for what a task proposes, with the evidence as
// its text. Where that cannot be done it prints what it would have done. It merges
// nothing: a person still approves.
func runReviewPR(ctx context.Context, env Env, name string, asJSON bool) error {
	if sign := env.agentSign(); sign != "" {
		return refuse("not-a-person", "review --pr %s: an agent may not open pull requests (%s); a person runs this", name, sign)
	}
	v, t, p, err := opening{}.openProposal(ctx, env, name)
	if err != nil {
		return err
	}
	at, err := v.bindProposal(ctx, t, p)
	if err != nil {
		return err
	}
	if at.change, err = v.readJudgement(t, at.landed); err != nil {
		return err
	}
	pr, why, err := v.pullRequest(ctx, t, p, at)
	if err != nil {
		return err
	}
	if why == "" {
		if pr.URL, err = v.openPR(ctx, pr); err != nil {
			return err
		}
		pr.Opened = true
	}
	if why != "" {
		talk(env, "review --pr: no pull request was opened: %s; these commands and this text would open it", why)
	}
	switch {
	case asJSON:
		return printJSON(env, pr)
	case pr.Opened:
		return printRows(env, [][]string{{string(t.ID), pr.URL}})
	}
	_, err = fmt.Fprintf(env.Stdout, "git push %s %s:refs/heads/%s\n%s\n\n%s", pr.Remote, p.Commit, pr.Branch, strings.Join(quoteWords(pr.ghArgv("…")), " "), pr.Body)
	return err
}

// pull is a pull request, opened or not, as --json prints it.
type pull struct {
	Opened bool   `json:"opened"`
	URL    string `json:"url,omitempty"`
	Remote string `json:"remote"`
	Repo   string `json:"repo,omitempty"` // owner/name
	Base   string `json:"base"`
	Branch string `json:"branch"`
	Commit string `json:"commit"`
	Title  string `json:"title"`
	Body   string `json:"body"`

	gh string // the program
}

func (p pull) ghArgv(body string) []string {
	return []string{or(p.gh, "gh"), "pr", "create", "--repo", or(p.Repo, "OWNER/NAME"), "--base", p.Base, "--head", p.Branch, "--title", p.Title, "--body", body}
}

// pullRequest returns what is to be opened, and why it cannot be, "" where it can.
func (v *view) pullRequest(ctx context.Context, t board.Task, p review.Proposal, at landingSite) (pr pull, why string, err error) {
	base, elsewhere := v.targetBranch()
	pr = pull{Remote: or(v.cfg.Remote, "origin"), Base: base, Branch: p.Branch, Commit: p.Commit, Title: secrets.RedactText(oneLine("odd: " + or(t.Title, string(t.ID)))), gh: v.env.findProgram("gh")}
	card, err := v.proposalCard(ctx, t, p, at, fewFiles)
	if err != nil {
		return pr, "", err
	}
	pr.Body = string(secrets.Redact([]byte(prText(t, p, card, base, elsewhere))))
	url, err := v.repo.Config(ctx, "remote."+pr.Remote+".url")
	if err != nil {
		return pr, "", err
	}
	pr.Repo = onGitHub(url)
	switch {
	case url == "":
		why = fmt.Sprintf("the repository has no remote %s", pr.Remote)
	case pr.Repo == "":
		why = fmt.Sprintf("%s is not on GitHub", pr.Remote)
	case pr.gh == "":
		why = "the program gh is not on PATH; install it from cli.github.com and run gh auth login"
	}
	return pr, why, nil
}

var githubURL = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:https://(?:[^/@]+@)?github\.com/|ssh://git@github\.com(?::22)?/|git@github\.com:)([A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+?)(?:\.git)?/?$`)
})

// onGitHub returns the owner/name of a remote on GitHub, "" for any other.
func onGitHub(url string) string {
	if m := githubURL().FindStringSubmatch(url); m != nil {
		return m[1]
	}
	return ""
}

// prText returns the text of the pull request. What a session wrote is a block of
// text in it, so that it can neither call anybody nor pretend to be the rest.
func prText(t board.Task, p review.Proposal, card, base string, elsewhere bool) string {
	fence := "```"
	for strings.Contains(card, fence) {
		fence += "`"
	}
	how := fmt.Sprintf("Do not merge this pull request: `odd approve %s` merges the change into %s.", t.ID, base)
	if elsewhere {
		how = fmt.Sprintf("To accept it, run `odd approve %s`, merge this pull request into %s, then run `odd sync`, which marks the task done.", t.ID, base)
	}
	by := madeBy(p.Substrate)
	return fmt.Sprintf("%s proposes this change for the task `%s`; it cost $%s. Only a person can approve it.\n\n%stext\n%s%s\n\n%s\n", strings.ToUpper(by[:1])+by[1:], t.ID, budget.MicroUSD(p.Cost), fence, card, fence, how)
}

// openPR pushes the review branch, unless the remote has it, and opens the pull request.
func (v *view) openPR(ctx context.Context, p pull) (url string, err error) {
	there, err := v.repo.RemoteRef(ctx, p.Remote, "refs/heads/"+p.Branch)
	if err == nil && string(there) != p.Commit {
		err = v.repo.Push(ctx, p.Remote, repo.RefUpdate{Name: "refs/heads/" + p.Branch, Old: there, New: repo.OID(p.Commit)})
	}
	if err != nil {
		return "", err
	}
	dir := or(v.repo.Root(), v.repo.CommonDir())
	r := exec.Run(ctx, exec.Command{Argv: p.ghArgv(p.Body), Tree: dir, Env: v.env.ghEnv()})
	said := strings.TrimSpace(string(r.Output))
	if !r.Done || r.Exit != 0 {
		return "", fmt.Errorf("gh pr create: %s%s; %s was pushed, but no pull request was opened", or(r.Detail, fmt.Sprintf("exit %d", r.Exit)), reasonSuffix(oneLine(said)), p.Branch)
	}
	lines := strings.Split(said, "\n")
	return lines[len(lines)-1], nil
}

// ghEnv returns all that gh sees of the environment.
func (e Env) ghEnv() []string {
	out := []string{"GH_PROMPT_DISABLED=1", "NO_COLOR=1", "GIT_TERMINAL_PROMPT=0"}
	for _, name := range []string{"PATH", "HOME", "LANG", "LC_ALL", "XDG_CONFIG_HOME", "GH_TOKEN", "GITHUB_TOKEN", "GH_CONFIG_DIR", "HTTPS_PROXY", "NO_PROXY"} {
		if v := e.Getenv(name); v != "" {
			out = append(out, name+"="+v)
		}
	}
	return out
}

// findProgram returns the absolute path of a program on PATH, "" where there is none.
func (e Env) findProgram(name string) string {
	for _, dir := range filepath.SplitList(e.Getenv("PATH")) {
		at := filepath.Join(dir, name)
		if st, err := os.Stat(at); filepath.IsAbs(dir) && err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 {
			return at
		}
	}
	return ""
}

// quoteWords returns words as a shell takes them.
func quoteWords(argv []string) []string {
	out := make([]string, len(argv))
	for i, a := range argv {
		out[i] = a
		if a == "" || strings.ContainsAny(a, " \t\n'\"\\$`&|;<>()*?[]#~!{}…") {
			out[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return out
}
