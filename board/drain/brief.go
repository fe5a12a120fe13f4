package drain

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/agent"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/board/overview"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/board/risk"
	"github.com/odd-cli/odd/board/state"
	"github.com/odd-cli/odd/journal/memory"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona"
	"github.com/odd-cli/odd/persona/audit"
	"github.com/odd-cli/odd/persona/invoke"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/reconcile/lint"
	"github.com/odd-cli/odd/reconcile/policy"
)

// briefInput gathers what the session is told. Canon and persona come from the board
// branch; the inputs from the base the session works on.
func (a attempt) briefInput(req session.Request) invoke.Input {
	d, c, t, now := a.d, a.c, a.c.task, a.d.authority()
	in := invoke.Input{
		Run: d.Run, Attempt: t.Attempts, Role: t.Role,
		Limits: invoke.Limits{Turns: req.MaxTurns, Timeout: req.Timeout, MaxAtoms: req.MaxAtoms, Cap: now.mergeOptions(d.By).Cap.String()},
		Task:   invoke.Task{ID: string(t.ID), Title: t.Title, Kind: t.Kind, Body: taskBody(t), Acceptance: t.Acceptance, Blob: t.Blob},
		Inputs: inputFiles(req.Files, t.Inputs), Before: a.earlierAttempts(),
		Contract: a.bound.Contract, Handoffs: a.bound.handoffs, Artifacts: artifactFiles(a.bound, req.Files, now.cfg.Root),
		Watching: d.Watch != nil, Offered: now.toolsFor(t),
	}
	in.Task.Goal, in.Task.GoalText = now.goalOf(t)
	if !isOffBoard(t) {
		in.Task.Path = now.pathOf(t.Path)
	}
	rules := audit.Rules{Graph: now.graph, Root: now.cfg.Root}
	if !slices.Contains(in.Offered, "get") {
		in.Prompts = rules.Prompts(a.bound.Contract)
	}
	in.Canon = rules.Canon()
	in.Context, in.Memory = a.briefContext()
	if t.Role != "" {
		role := a.persona
		role.Root = now.cfg.Root
		in.Persona = role.Markdown(now.graph, false)
		for _, it := range append([]persona.Item{role.Role}, role.Items...) {
			in.Compiled = append(in.Compiled, invoke.Ref{Path: now.pathOf(it.Path), Blob: it.Blob})
		}
		in.Knowledge, in.Canon = now.knowledgeOfRole(role, in.Canon)
	}
	in.Preferences = now.listPreferences(t)
	in.Related = now.findRelated(t, in.Knowledge, in.Canon, in.Preferences)
	for _, list := range [][]invoke.Ref{in.Knowledge, in.Canon, in.Preferences, in.Related} {
		for i := range list {
			list[i].More = now.howToReadMore(list[i], in, req)
		}
	}
	if now.changesFiles(t) {
		in.Change = now.askedChange(c, req.Files)
	}
	for _, no := range firstOf(a.declines, mostDeclined) {
		in.Declined = append(in.Declined, string(no.ID)+": "+no.String())
	}
	if c.reserved > 0 {
		in.Limits.CostUSD = c.reserved.String()
	}
	return in
}

// mostDeclined is how many declined atoms a brief names.
const mostDeclined = 50

// knowledgeOfRole returns the texts that a role works by: its atoms, and canon, the part nearest to the role first.
func (s *snapshot) knowledgeOfRole(p persona.Persona, canon []invoke.Ref) (knowledge, nearest []invoke.Ref) {
	for _, a := range p.Texts(s.graph) {
		r := invoke.Ref{Path: s.pathOf(a.Path), Blob: a.Blob, Title: cmp.Or(a.Title, string(a.ID)), Text: a.Body()}
		if i := slices.IndexFunc(canon, func(c invoke.Ref) bool { return c.Path == r.Path }); i >= 0 {
			nearest, canon = append(nearest, canon[i]), slices.Delete(slices.Clone(canon), i, i+1)
			continue
		}
		knowledge = append(knowledge, r)
	}
	return knowledge, append(nearest, canon...)
}

// howToReadMore returns how a session reads the whole of a document of the board, "" where it cannot.
func (s *snapshot) howToReadMore(r invoke.Ref, in invoke.Input, req session.Request) string {
	name := s.pathBelow(r.Path)
	a, _ := s.graph.Find(name)
	b, err := fs.ReadFile(req.Files, r.Path)
	switch {
	case a == nil || in.Contract.Strict:
		return ""
	case err != nil || okf.BlobID(b) != r.Blob: // the session works on another branch than the board's
		return fmt.Sprintf("; git show %s:%s prints the whole", s.tip, r.Path)
	case slices.Contains(in.Offered, "get"):
		return fmt.Sprintf("; the tool get reads the whole, by the name %s", a.ID)
	}
	return fmt.Sprintf("; read the whole in your working tree at this path, or with odd get %s", a.ID)
}

// toolsFor returns the tools that every substrate has which may run a session for t.
func (s *snapshot) toolsFor(t board.Task) []string {
	chain := s.agentChain(t)
	return slices.DeleteFunc(agent.Tools(chain[0]), func(tool string) bool {
		return slices.ContainsFunc(chain, func(c config.Config) bool { return !slices.Contains(agent.Tools(c), tool) })
	})
}

// briefContext returns what there is to know before asking anybody, and the files it comes
// from. A board that neither asks for a lease nor has anything of the slow loop, nor
// a lesson for a task that changes files, has none; nor has a session with a fresh
// context.
func (a attempt) briefContext() ([]byte, []invoke.Ref) {
	s, err := a.d.authority().readGovernance()
	if err != nil || a.bound.Strict {
		return nil, nil
	}
	lessons := a.findLessons()
	if !a.d.at.requiresLease() && len(s.Gates) == 0 && len(s.Decisions) == 0 && !s.Facts.Present && len(s.Buffer.Proposals) == 0 && len(lessons) == 0 {
		return nil, nil
	}
	m := a.d.at.readMemory(s)
	m.Lessons = lessons
	c, err := m.Context("") // what became of this task's own attempts stands in a part of its own
	if err != nil {
		a.d.say("the agent gets no context: " + err.Error())
		return nil, nil
	}
	var from []invoke.Ref
	for _, f := range []struct {
		name string
		text []byte
	}{{gate.LeasePath, s.LeaseFile}, {gate.DecisionsPath, s.Decisions}} {
		if f.text != nil {
			from = append(from, invoke.Ref{Path: a.d.at.pathOf(f.name), Blob: okf.BlobID(f.text)})
		}
	}
	if a.bound.Mode != "" {
		c = c.Unquoted()
	}
	return []byte(c.Markdown()), from
}

// findLessons returns what the changes before came to, for a task that asks for one: the
// files it may change that they went wrong on, and then the latest of them all.
func (a attempt) findLessons() []string {
	t := a.c.task
	if !a.d.at.changesFiles(t) {
		return nil
	}
	past, err := a.d.at.state.Trials(a.d.Now(), a.d.at.cfg.ReviewTTL)
	if err != nil {
		a.d.say("the agent gets no lessons from earlier work: " + err.Error())
	}
	m := risk.Past(past, a.d.at.cfg, a.d.Now())
	var out []string
	for _, r := range m.Careful(m.Files(func(f string) bool { return policy.MatchAnyGlob(t.Paths, f) }), 0) {
		out = append(out, r.String())
	}
	return append(firstOf(out, 3), memory.Lessons(past, a.d.Now())...)
}

func taskBody(t board.Task) string {
	if t.Atom == nil {
		return ""
	}
	return string(t.Atom.Body())
}

// artifactFiles returns the files a session judges or mends: what the proposal it was
// given writes, as it writes it, and what the contract names besides. Where that
// is a folder, a session with a fresh context is given what it may see of it.
func artifactFiles(b bound, base fs.FS, root string) []invoke.File {
	var out []invoke.File
	if b.built != nil {
		base = b.built.Files
		for _, p := range b.built.Paths {
			out = append(out, inputFiles(base, []string{p.Path})...)
		}
	}
	if b.Artifact == "" { // and not the repository's root
		return out
	}
	for _, f := range inputFiles(invoke.View(b.Contract, base, root), []string{b.Artifact}) {
		if !slices.ContainsFunc(out, func(have invoke.File) bool { return have.Path == f.Path }) {
			out = append(out, f)
		}
	}
	return out
}

// earlierAttempts returns what became of the task's earlier attempts, newest first. It returns
// nothing if an attempt had another mode, because the reasons do not say which attempt they
// are about.
func (a attempt) earlierAttempts() []string {
	t := a.c.task
	before := overview.Attempts(t)
	if len(before) == 0 && t.Attempts < 2 || !recordsOf(a.d.repo, a.d.at).isOnlyMode(t, a.bound.Mode) {
		return nil
	}
	return append(before, a.failedCheck()...)
}

// failedCheck returns the check that the attempt before failed, and the end of what it printed
// as its run keeps it, without secrets. Artifacts of runs may be pruned: the newest that can be read counts.
func (a attempt) failedCheck() (out []string) {
	t := a.c.task
	t.Attempts--
	stories, _ := a.d.at.state.Stories(func(o *state.Op) bool { return o.Task == string(t.ID) }) // a damaged ledger is told where it is judged
	for _, s := range slices.Backward(stories) {
		was, err := pipeline.ReadDossier(a.readKept(s.Op().Run, path.Join(ArtifactDir(t), s.Op().ID, "op.json")))
		if err != nil {
			continue
		}
		if c, tail, failed := was.Failing(); failed {
			out = []string{"the check that failed: " + c.Says}
			for _, line := range tail {
				out = append(out, "it printed: "+line)
			}
		}
		break
	}
	return out
}

// readKept returns a file of a run's artifacts, nil where they were pruned or have none of that name.
func (a attempt) readKept(run, name string) []byte {
	oid, err := a.d.repo.Ref(runRefs + run)
	if err != nil {
		return nil
	}
	id, _, err := a.d.repo.Find(oid, name)
	if err != nil || id == "" {
		return nil
	}
	b, _ := a.d.repo.Blob(id)
	return b
}

// The most files a brief points at, and the most of one file it carries.
const (
	maxInputs    = 500
	maxInputText = 32 << 10
)

// inputFiles returns the files the task names, in order of path: a path, a folder, or a
// pattern of path.Match. Large files are pointers.
func inputFiles(files fs.FS, names []string) []invoke.File {
	var out []invoke.File
	seen := map[string]bool{}
	add := func(name string) {
		if seen[name] || len(out) == maxInputs {
			return
		}
		seen[name] = true
		out = append(out, readInput(files, name)...)
	}
	for _, n := range names {
		for _, root := range matchFiles(files, n) {
			_ = fs.WalkDir(files, root, func(p string, e fs.DirEntry, err error) error {
				if err == nil && e.Type().IsRegular() {
					add(p)
				}
				return nil
			})
		}
	}
	return out
}

// readInput returns a file as a brief has it, a large one as a pointer; nothing if it cannot be read.
func readInput(files fs.FS, name string) []invoke.File {
	b, err := fs.ReadFile(files, name)
	if err != nil {
		return nil
	}
	f := invoke.File{Path: name, Blob: okf.BlobID(b)}
	if len(b) <= maxInputText {
		f.Text = b
	}
	return []invoke.File{f}
}

// matchFiles returns what is there of a path or a pattern of path.Match.
func matchFiles(files fs.FS, pattern string) []string {
	if pattern = path.Clean(pattern); !fs.ValidPath(pattern) {
		return nil
	}
	found, _ := fs.Glob(files, pattern)
	return found
}

func (s *snapshot) askedChange(c *claim, base fs.FS) *invoke.Asked {
	l, law := lint.Limits{}.Filled(), s.cfg.Pipeline
	_, err := fs.Stat(base, "go.mod")
	return &invoke.Asked{
		Paths: c.task.Paths, Root: s.cfg.Root, Base: string(c.base), Commands: commandsOf(law, c.task), GoChecks: err == nil && len(law.Validate) == 0, Files: s.filesMeantBy(c.task, base),
		Limits: fmt.Sprintf("The change may hold %d files of %d bytes each, %d bytes in all.", l.Files, l.FileBytes, l.TotalBytes),
	}
}

// commandsOf returns the commands that are run on a change, as package pipeline runs them: a command of [pipeline]
// verify that validate has too runs once.
func commandsOf(law config.Pipeline, t board.Task) [][]string {
	out := slices.Concat(law.Validate, t.Commands)
	for _, argv := range law.Verify {
		if !slices.ContainsFunc(law.Validate, func(run []string) bool { return slices.Equal(run, argv) }) {
			out = append(out, argv)
		}
	}
	return out
}

// filesMeantBy returns the files of the base that the paths of t mean, in order of path. Those
// that share the most words with t have their text, as far as changeTexts goes; what stands in
// the part of its inputs has none here.
func (s *snapshot) filesMeantBy(t board.Task, base fs.FS) []invoke.File {
	words := topicWords(strings.Join(append([]string{t.Title, taskBody(t)}, t.Acceptance...), "\n"))
	var names []string
	_ = fs.WalkDir(base, ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
		case e.IsDir() && name == s.cfg.Root:
			return fs.SkipDir
		case e.Type().IsRegular() && policy.MatchAnyGlob(t.Paths, name):
			names = append(names, name)
		}
		return nil
	})
	given, score, size := map[string]bool{}, map[string]int{}, 0
	for _, name := range names {
		score[name] = 2 * countWordsIn(name, words)
	}
	slices.SortStableFunc(names, func(a, b string) int { return score[b] - score[a] })
	for _, f := range inputFiles(base, t.Inputs) {
		given[f.Path] = true
	}
	var out []invoke.File
	for _, name := range firstOf(names, maxInputs) {
		for _, f := range readInput(base, name) {
			score[name] += countWordsIn(string(f.Text), words)
			if given[name] || !utf8.Valid(f.Text) {
				f.Text = nil
			}
			size += len(f.Text)
			out = append(out, f)
		}
	}
	slices.SortStableFunc(out, func(a, b invoke.File) int { return score[b.Path] - score[a.Path] })
	for i, room := 0, changeTexts; size > changeTexts && i < len(out); i++ {
		if score[out[i].Path] == 0 || len(out[i].Text) > room {
			out[i].Text = nil
		}
		room -= len(out[i].Text)
	}
	slices.SortFunc(out, func(a, b invoke.File) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// changeTexts is how many bytes of files that a task may change stand in its brief: enough for a
// small task's, and little of what each turn of a session costs. The session reads the rest itself.
const changeTexts = 32 << 10
