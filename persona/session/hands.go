package session

import (
	"net/url"
	"slices"
	"strings"

	"github.com/odd-cli/odd/reconcile/policy"
)

// Hands asks leave for what an agent does with tools of its own on a desk: an adapter says which files,
// words or address a call names. The error is a *policy.Refusal.
type Hands struct {
	Desk    Desk
	Permits func(policy.Action) error
}

// Read asks for files and folders, wherever their links lead: the grant judges those of the tree, and
// the desk's other folders are the session's own. A relative name starts in the folder from.
func (h Hands) Read(from string, names ...string) error {
	at := h.Desk.Place()
	for _, name := range names {
		abs, _, err := at.Locate(from, name)
		if err != nil {
			return policy.Refuse("path_outside_repo", "%v; name a file of the tree", err)
		}
		rel, in := at.Below(abs)
		own := slices.ContainsFunc(at.Outside, func(dir string) bool {
			at.Root = dir
			_, ok := at.Below(abs)
			return ok
		})
		switch {
		case !in && !own:
			return policy.Refuse("path_outside_repo", "%q lies outside of the tree; read what is in it", name)
		case in && rel != ".":
			if err := h.Permits(policy.Action{Kind: policy.Read, Paths: []string{rel}}); err != nil {
				return err
			}
		}
	}
	return nil
}

// Write asks for plain files that are written, moved or deleted, and returns where below the tree they
// are, and by which names they are called.
func (h Hands) Write(from string, names ...string) (rel []string, err error) {
	for _, name := range names {
		is, found := h.Desk.Place().File(from, name)
		for _, f := range found {
			return nil, policy.Refuse("path_outside_repo", "%s", strings.TrimSuffix(f.Text+"; "+f.Fix, "; "))
		}
		rel = append(rel, is...)
	}
	if len(names) == 0 {
		return nil, policy.Refuse("bad_arguments", "the call does not name the files that it changes")
	}
	return rel, h.Permits(policy.Action{Kind: policy.Write, Paths: rel})
}

// Run asks for a command. The folders that the call wants it to run in must be the top of the tree.
func (h Hands) Run(argv []string, dirs ...string) error {
	at := h.Desk.Place()
	for _, dir := range dirs {
		abs, _, err := at.Locate(at.Root, dir)
		if rel, _ := at.Below(abs); err != nil || rel != "." {
			return policy.Refuse("command_not_allowed", "a command runs at the top of the tree")
		}
	}
	return h.Permits(policy.Action{Kind: policy.Run, Argv: argv, Longer: true, In: at})
}

// Words are those of a command that an agent gives as a line.
func Words(line string) ([]string, error) {
	argv, err := policy.ParseSimple(line)
	if err != nil {
		const way = "; write one command of plain words"
		return nil, policy.Refuse("command_not_allowed", "%s", strings.TrimSuffix(err.Error(), way)+way)
	}
	return argv, nil
}

// Fetch asks for a page of the web.
func (h Hands) Fetch(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http" {
		return policy.Refuse("bad_arguments", "the call does not name one address of the web")
	}
	return h.Permits(policy.Action{Kind: policy.Fetch, Host: u.Hostname()})
}
