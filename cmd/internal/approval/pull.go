package approval

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/board/review"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/session/exec"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// openPullRequest opens a pull request for what a task proposes, with the evidence as
// its text. Where that cannot be done it prints what it would have done. It merges
// nothing: a person still approves.
func openPullRequest(ctx context.Context, v *workspace.Board, t board.Task, p review.Proposal, asJSON bool) error {
	env := v.Env
	at, err := BindProposal(ctx, v, t, p)
	if err != nil {
		return err
	}
	pr, why, err := pullRequest(ctx, v, t, p, at)
	if err != nil {
		return err
	}
	if why == "" {
		if pr.URL, err = openPR(ctx, v, pr); err != nil {
			return err
		}
		pr.Opened = true
	}
	if why != "" {
		console.Talk(env, "review --pr: no pull request was opened: %s; these commands and this text would open it", why)
	}
	switch {
	case asJSON:
		return console.PrintJSON(env, pr)
	case pr.Opened:
		return console.PrintRows(env, [][]string{{string(t.ID), pr.URL}})
	}
	_, err = fmt.Fprintf(env.Stdout, "git push %s %s:refs/heads/%s\n%s\n\n%s", pr.Remote, p.Commit, pr.Branch, strings.Join(console.QuoteWords(pr.ghArgv("…")), " "), pr.Body)
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
	return []string{cmp.Or(p.gh, "gh"), "pr", "create", "--repo", cmp.Or(p.Repo, "OWNER/NAME"), "--base", p.Base, "--head", p.Branch, "--title", p.Title, "--body", body}
}

// pullRequest returns what is to be opened, and why it cannot be, "" where it can.
func pullRequest(ctx context.Context, v *workspace.Board, t board.Task, p review.Proposal, at LandingSite) (pr pull, why string, err error) {
	base, elsewhere := v.TargetBranch()
	pr = pull{Remote: cmp.Or(v.Config.Remote, "origin"), Base: base, Branch: p.Branch, Commit: p.Commit, Title: secrets.RedactText(console.OneLine("odd: " + cmp.Or(t.Title, string(t.ID)))), gh: v.Env.FindProgram("gh")}
	card, err := ProposalCard(ctx, v, t, p, at, FewFiles)
	if err != nil {
		return pr, "", err
	}
	pr.Body = string(secrets.Redact([]byte(prText(t, p, card, base, elsewhere))))
	url, err := v.Repo.Config(ctx, "remote."+pr.Remote+".url")
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
	by := MadeBy(p.Substrate)
	return fmt.Sprintf("%s proposes this change for the task `%s`; it cost $%s. Only a person can approve it.\n\n%stext\n%s%s\n\n%s\n", strings.ToUpper(by[:1])+by[1:], t.ID, budget.MicroUSD(p.Cost), fence, card, fence, how)
}

// openPR pushes the review branch, unless the remote has it, and opens the pull request.
func openPR(ctx context.Context, v *workspace.Board, p pull) (url string, err error) {
	there, err := v.Repo.RemoteRef(ctx, p.Remote, "refs/heads/"+p.Branch)
	if err == nil && string(there) != p.Commit {
		err = v.Repo.Push(ctx, p.Remote, repo.RefUpdate{Name: "refs/heads/" + p.Branch, Old: there, New: repo.OID(p.Commit)})
	}
	if err != nil {
		return "", err
	}
	dir := cmp.Or(v.Repo.Root(), v.Repo.CommonDir())
	r := exec.Run(ctx, exec.Command{Argv: p.ghArgv(p.Body), Tree: dir, Env: ghEnv(v.Env)})
	said := strings.TrimSpace(string(r.Output))
	if !r.Done || r.Exit != 0 {
		return "", fmt.Errorf("gh pr create: %s%s; %s was pushed, but no pull request was opened", cmp.Or(r.Detail, fmt.Sprintf("exit %d", r.Exit)), console.ReasonSuffix(console.OneLine(said)), p.Branch)
	}
	lines := strings.Split(said, "\n")
	return lines[len(lines)-1], nil
}

// ghEnv returns all that gh sees of the environment.
func ghEnv(e console.Env) []string {
	out := []string{"GH_PROMPT_DISABLED=1", "NO_COLOR=1", "GIT_TERMINAL_PROMPT=0"}
	for _, name := range []string{"PATH", "HOME", "LANG", "LC_ALL", "XDG_CONFIG_HOME", "GH_TOKEN", "GITHUB_TOKEN", "GH_CONFIG_DIR", "HTTPS_PROXY", "NO_PROXY"} {
		if v := e.Getenv(name); v != "" {
			out = append(out, name+"="+v)
		}
	}
	return out
}
