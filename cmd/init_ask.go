package cmd

import (
	"context"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"github.com/odd-cli/odd/board/config"
)

// complete asks a person for what the flags did not say, where there is something to
// begin, and checks all of it before anything is written.
func (o *beginning) complete(ctx context.Context, env Env, files fs.FS, fresh bool) error {
	if !fresh && (o.agent != "" || o.monthly != "") {
		return usage("init: odd.toml is here already; set the agent with odd config set session.substrate NAME, a budget with odd config set budget.monthly_usd USD")
	}
	if fresh && env.asks() && !o.json {
		q := env.questions()
		if len(o.roles) == 0 {
			if err := q.ask(ctx, "who works here? names of roles, with commas", "Keeper", o.takeRoles); err != nil {
				return err
			}
		}
		if len(o.docs) == 0 {
			usual := strings.Join(documents(files), ", ")
			if err := q.ask(ctx, "where are your documents? a folder, a file or *.md", usual, func(s string) error { return o.takeDocs(files, s) }); err != nil {
				return err
			}
		}
		if o.agent == "" {
			if err := q.ask(ctx, "which agent? extract reads documents, offline and free; or claude, acp, anthropic, openai, exec", "extract", o.takeAgent); err != nil {
				return err
			}
		}
		if o.monthly == "" && o.costs() {
			return q.ask(ctx, "what may agents spend in a month, in USD?", "20", o.takeBudget)
		}
		return nil
	}
	for _, err := range []error{o.takeRoles(strings.Join(o.roles, ",")), o.takeDocs(files, strings.Join(o.docs, ",")), o.takeAgent(o.agent), o.takeBudget(o.monthly)} {
		if err != nil {
			return usage("init: %v", err)
		}
	}
	if fresh && o.costs() && o.monthly == "" {
		return usage("init: the agent %s can cost money, and without a budget none starts; add --monthly-usd 20", o.agent)
	}
	return nil
}

// costs reports an agent that can cost money.
func (o *beginning) costs() bool { return o.agent != "" && o.agent != "extract" && o.agent != "replay" }

func (o *beginning) takeRoles(s string) error {
	o.roles = nil
	for name := range strings.SplitSeq(s, ",") {
		name = strings.Join(strings.Fields(name), " ")
		if name == "" {
			continue
		}
		if len(name) > 60 || !regexp.MustCompile(`^[A-Za-z][A-Za-z0-9 _-]*$`).MatchString(name) {
			return fmt.Errorf("role %q: want a name of letters, digits and spaces, at most 60, like Shore lead", name)
		}
		name = strings.ToUpper(name[:1]) + name[1:]
		for _, other := range o.roles {
			if roleID(other) == roleID(name) {
				return fmt.Errorf("role %q is named twice", name)
			}
		}
		o.roles = append(o.roles, name)
	}
	return nil
}

func (o *beginning) takeDocs(files fs.FS, s string) error {
	o.docs = nil
	for p := range strings.SplitSeq(s, ",") {
		p = strings.TrimPrefix(strings.TrimSpace(p), "./")
		if p == "" {
			continue
		}
		clean := strings.TrimSuffix(p, "/")
		if !fs.ValidPath(clean) || clean == "." {
			return fmt.Errorf("documents %q: want a path below the top of the repository, like docs/ or *.md", p)
		}
		found, err := fs.Glob(files, clean)
		if err != nil || len(found) == 0 {
			return fmt.Errorf("documents %q: nothing is there; want a folder, a file or a pattern such as *.md", p)
		}
		if st, err := fs.Stat(files, clean); err == nil && st.IsDir() {
			clean += "/"
		}
		o.docs = append(o.docs, clean)
	}
	return nil
}

func (o *beginning) takeAgent(s string) error {
	o.agent = s
	if s == "" {
		return nil
	}
	if _, err := config.Set("odd.toml", config.Template(), []string{"session", "substrate"}, config.Literal([]string{"session", "substrate"}, []string{s})); err != nil {
		return fmt.Errorf("agent %q: want extract, claude, acp, anthropic, openai, exec or replay", s)
	}
	return nil
}

func (o *beginning) takeBudget(s string) error {
	o.monthly = s
	if _, err := o.settings(); s != "" && err != nil {
		return fmt.Errorf("%q is no amount of dollars; want one like 20 or 12.50", s)
	}
	return nil
}
