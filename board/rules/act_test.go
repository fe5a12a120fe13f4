package rules

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/event/eventtest"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// fileOf is a file below the bundle that goes from one text to another; "" is none.
func fileOf(t *testing.T, rel, was, is string) *File {
	t.Helper()
	f := &File{Change: repo.Change{Path: "knowledge/" + rel}, Rel: rel}
	for _, v := range []struct {
		text string
		atom **okf.Atom
		mode *string
		oid  *repo.OID
	}{{was, &f.Was, &f.OldMode, &f.Old}, {is, &f.Is, &f.NewMode, &f.New}} {
		if v.text == "" {
			continue
		}
		*v.mode, *v.oid = "100644", repo.OID(okf.BlobID([]byte(v.text)))
		if *v.atom, f.Fault = ParseAtom(rel, []byte(v.text)); f.Fault != nil {
			t.Fatal(f.Fault)
		}
	}
	return f
}

// actOf is a commit of a kind by ann, with these trailers and files.
func actOf(kind Kind, trailers string, files ...*File) *judge {
	c := repo.Commit{OID: "c1", Parents: []repo.OID{"p1"}, Message: "x\n\n" + trailers}
	c.Author.Email, c.Author.When = "ann@example.org", noon
	law := config.Default()
	return &judge{Act: &Act{Commit: c, Kind: kind, Root: "knowledge/", Law: &law, Run: "run-1", Task: "t-1", Files: files}}
}

// said are the messages of a judge's findings.
func (j *judge) said() string {
	var out []string
	for _, f := range j.found {
		out = append(out, f.Message)
	}
	return strings.Join(out, "|")
}

const term, task = "---\ntype: term\nid: x\nconfidence: inferred\n---\nOld.\n", "---\ntype: task\nid: t-1\ntitle: T\nstate: in_progress\npaths: [a]\ntags: [x]\n---\nDo it.\n"

// with replaces a part of a text.
func with(text, old, now string) string { return strings.Replace(text, old, now, 1) }

// TestWhatABoardCommitWrites: a run writes its own journal, proposals and handoffs, the keys
// of its task that are a run's, and a pause.
func TestWhatABoardCommitWrites(t *testing.T) {
	t.Parallel()
	handoff := "---\ntype: handoff\nrun: run-1\n---\n"
	moved := fileOf(t, "tasks/t-1.md", task, with(task, "in_progress", "review"))
	for name, c := range map[string]struct {
		file      *File
		run, task string
		want      string
	}{
		"a ledger":                    {fileOf(t, "ledger/2026-03/run-9.jsonl", "", ""), "run-1", "t-1", ""},
		"its journal":                 {fileOf(t, "journal/2026-03-02-run-1.tsv", "", ""), "run-1", "t-1", ""},
		"its journal without a day":   {fileOf(t, "journal/run-1.tsv", "", ""), "RUN-1", "t-1", "more than its task"},
		"another's journal":           {fileOf(t, "journal/2026-03-02-run-2.tsv", "", ""), "run-1", "t-1", "more than its task"},
		"a journal of a run's name":   {fileOf(t, "journal/xrun-1.tsv", "", ""), "run-1", "t-1", "more than its task"},
		"a journal elsewhere":         {fileOf(t, "terms/run-1.tsv", "", ""), "run-1", "t-1", "more than its task"},
		"its proposals":               {fileOf(t, "proposals/run-1.jsonl", "", ""), "run-1", "t-1", ""},
		"another's proposals":         {fileOf(t, "proposals/run-2.jsonl", "", ""), "run-1", "t-1", "more than its task"},
		"a person's by a run's name":  {fileOf(t, "proposals/ann.jsonl", "", ""), "ann", "t-1", "more than its task"},
		"a pause":                     {fileOf(t, "pause.toml", "", term), "run-1", "t-1", ""},
		"no pause":                    {fileOf(t, "pause.toml", term, ""), "run-1", "t-1", "lifts the pause"},
		"another pause":               {fileOf(t, "pause.toml", term, with(term, "Old", "New")), "run-1", "t-1", "rewrites the pause"},
		"its handoff":                 {fileOf(t, "handoffs/run-1-a.md", "", handoff), "run-1", "t-1", ""},
		"a handoff of no name":        {fileOf(t, "handoffs/a.md", "", handoff), "run-1", "t-1", "does not bear its name"},
		"a handoff that was there":    {fileOf(t, "handoffs/run-1-a.md", handoff, handoff+"x\n"), "run-1", "t-1", "changes a handoff"},
		"a handoff taken away":        {fileOf(t, "handoffs/run-1-a.md", handoff, ""), "run-1", "t-1", "changes a handoff"},
		"a handoff of another run":    {fileOf(t, "handoffs/run-1-a.md", "", with(handoff, "run: run-1", "run: run-2")), "run-1", "t-1", "not a handoff of run-1"},
		"a handoff that is a term":    {fileOf(t, "handoffs/run-1-a.md", "", with(handoff, "handoff", "term")), "run-1", "t-1", "not a handoff of run-1"},
		"its task":                    {moved, "run-1", "t-1", ""},
		"another task":                {moved, "run-1", "t-2", "a board commit of t-2 changes another task"},
		"a sweep":                     {moved, "run-1", "", ""},
		"a sweep of what nobody has":  {fileOf(t, "tasks/t-1.md", with(task, "in_progress", "ready"), with(task, "in_progress", "backlog")), "run-1", "", "a task that nobody holds"},
		"its task and a key of ours":  {fileOf(t, "tasks/t-1.md", task, with(task, "paths: [a]", "paths: [b]")), "run-1", "t-1", "changes the task's key paths"},
		"its task without a key":      {fileOf(t, "tasks/t-1.md", task, with(task, "paths: [a]\n", "")), "run-1", "t-1", "changes the task's key paths"},
		"its task with one more":      {fileOf(t, "tasks/t-1.md", task, with(task, "paths: [a]\n", "paths: [a]\nrole: r\n")), "run-1", "t-1", "changes the task's key role"},
		"its task in other words":     {fileOf(t, "tasks/t-1.md", task, with(task, "Do it", "Do all")), "run-1", "t-1", "changes the task's text"},
		"its task taken away":         {fileOf(t, "tasks/t-1.md", task, ""), "run-1", "t-1", "takes the task away"},
		"a task that is new":          {fileOf(t, "tasks/t-1.md", "", task), "run-1", "t-1", "more than its task"},
		"something else":              {fileOf(t, "terms/x.md", term, with(term, "Old", "New")), "run-1", "t-1", "more than its task"},
		"a program":                   {&File{Change: repo.Change{Path: "knowledge/journal/2026-03-02-run-1.tsv", New: "1", NewMode: "100755"}, Rel: "journal/2026-03-02-run-1.tsv"}, "run-1", "t-1", "a file of mode 100755"},
		"what was a program before":   {&File{Change: repo.Change{Path: "knowledge/journal/2026-03-02-run-1.tsv", New: "1", NewMode: "100755", Old: "0", OldMode: "100755"}, Rel: "journal/2026-03-02-run-1.tsv"}, "run-1", "t-1", ""},
		"a link that was a file once": {&File{Change: repo.Change{Path: "knowledge/pause.toml", New: "1", NewMode: "120000", Old: "0", OldMode: "100644"}, Rel: "pause.toml"}, "run-1", "t-1", "a file of mode 120000"},
	} {
		j := actOf(Board, "")
		j.Run, j.Task = c.run, c.task
		if got := j.whyForbidden(c.file); got == "" != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestWhatAProposalWrites: a proposal has atoms that an agent may write, where they belong.
func TestWhatAProposalWrites(t *testing.T) {
	t.Parallel()
	folder := with(term, "id: x", "id: terms/x")
	for name, c := range map[string]struct {
		file *File
		want string
	}{
		"an atom":               {fileOf(t, "terms/x.md", "", term), ""},
		"by its folder's id":    {fileOf(t, "terms/x.md", "", folder), ""},
		"elsewhere":             {fileOf(t, "terms/y.md", "", term), "where no atom of that id lands"},
		"changed elsewhere":     {fileOf(t, "terms/y.md", term, with(term, "Old", "New")), ""},
		"without an id":         {fileOf(t, "terms/y.md", "", with(term, "id: x\n", "")), ""},
		"no markdown":           {fileOf(t, "terms/x.txt", "", term), "no atom of the bundle"},
		"an index":              {fileOf(t, "terms/Index.md", "", term), "a reserved file"},
		"a log":                 {fileOf(t, "log.md", "", term), "a reserved file"},
		"people's folder":       {fileOf(t, "Canon/x.md", "", term), "where only a person does"},
		"a file of that name":   {fileOf(t, "canon.md", "", with(term, "id: x", "id: canon")), ""},
		"gone":                  {fileOf(t, "terms/x.md", term, ""), "deletes an atom"},
		"people's type":         {fileOf(t, "terms/x.md", "", with(term, "type: term", "type: Principle")), "writes a Principle"},
		"no longer people's":    {fileOf(t, "terms/x.md", with(term, "type: term", "type: canon"), term), "which only a person does"},
		"a task":                {fileOf(t, "tasks/t-1.md", "", with(task, "in_progress", "backlog")), ""},
		"a task with commands":  {fileOf(t, "tasks/t-1.md", "", with(task, "state: in_progress", "state: backlog\ncommands: [[make]]")), "a task with commands"},
		"a task that was there": {fileOf(t, "tasks/t-1.md", task, with(task, "T", "U")), "changes a task"},
	} {
		if got := actOf(Proposal, "").whyForbidden(c.file); got == "" != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	out := &File{Change: repo.Change{Path: "tool/a.go", New: "1", NewMode: "100755"}}
	for trailers, kinds := range map[string][2]string{"": {"of mode 100755", "of mode 100755"}, "Odd-Op: op-1\n": {"", "of mode 100755"}} {
		for i, kind := range []Kind{Proposal, Board} {
			if got := actOf(kind, trailers).whyForbidden(out); got == "" != (kinds[i] == "") || !strings.Contains(got, kinds[i]) {
				t.Errorf("%q, kind %d: %q", trailers, kind, got)
			}
		}
	}
}

// TestWhatSyncAndNobodyWrite: a sync writes its task's approval, and a commit without a run
// at most a new task.
func TestWhatSyncAndNobodyWrite(t *testing.T) {
	t.Parallel()
	done := fileOf(t, "tasks/t-1.md", task, with(task, "in_progress", "done"))
	for name, c := range map[string]struct {
		kind Kind
		task string
		file *File
		want string
	}{
		"a sync":                  {Sync, "t-1", done, ""},
		"of no task":              {Sync, "", done, "names no task in Odd-Task"},
		"of another":              {Sync, "t-2", done, "writes more than its task t-2"},
		"with its tags":           {Sync, "t-1", fileOf(t, "tasks/t-1.md", task, with(task, "[x]", "[y]")), ""},
		"with its attempts":       {Sync, "t-1", fileOf(t, "tasks/t-1.md", task, with(task, "tags", "attempts: 2\ntags")), "the task's key attempts"},
		"with an op's ending":     {Sync, "t-1", fileOf(t, "ledger/2026-03/op-1.jsonl", "", ""), ""},
		"with a run's ledger":     {Sync, "t-1", fileOf(t, "ledger/2026-03/run-1.jsonl", "", ""), "writes more than its task"},
		"nobody's task":           {Stray, "", fileOf(t, "tasks/t-1.md", "", task), ""},
		"nobody's change of it":   {Stray, "", done, "belongs to no run"},
		"nobody's atom":           {Stray, "", fileOf(t, "terms/x.md", "", term), "belongs to no run"},
		"a merge that is its own": {Merge, "", done, "differs from what git makes"},
	} {
		j := actOf(c.kind, "")
		j.Task = c.task
		if got := j.whyForbidden(c.file); got == "" != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestCap: a machine raises no atom above the cap, and verifies nothing in a person's name.
func TestCap(t *testing.T) {
	t.Parallel()
	asserted, verified := with(term, "inferred", "asserted"), with(term, "confidence: inferred", "confidence: verified\nverified: [{by: \"human:ann@example.org\", at: \"2026-01-01T00:00:00Z\"}]")
	stamped := with(term, "confidence: inferred", "confidence: inferred\nverified: [{by: \"human:ann@example.org\", at: \"2026-01-01T00:00:00Z\"}]")
	silent := with(term, "confidence: inferred\n", "")
	for name, c := range map[string]struct {
		kind      Kind
		cap       string
		was, is   string
		want      string
		trailers  string
		checkedBy int
	}{
		"inferred":                 {Board, "inferred", "", term, "", "", 1},
		"as much as may be":        {Board, "asserted", "", asserted, "", "", 1},
		"asserted":                 {Board, "inferred", "", asserted, "makes the atom asserted; agents may set at most inferred", "", 1},
		"a cap of nothing":         {Board, "", "", asserted, "at most inferred", "", 1},
		"a cap that is none":       {Board, "sure", "", asserted, "at most inferred", "", 1},
		"a cap above all":          {Board, "verified", "", asserted, "at most inferred", "", 1},
		"silence of no machine":    {Board, "inferred", "", silent, "asserted by saying nothing of its confidence", "", 1},
		"left as it was":           {Board, "inferred", asserted, with(asserted, "Old", "New"), "at most inferred", "", 1},
		"merged as it was":         {Merge, "inferred", asserted, with(asserted, "Old", "New"), "", "", 1},
		"merged higher":            {Merge, "inferred", term, asserted, "at most inferred", "", 1},
		"a person's, as it was":    {Board, "inferred", verified, with(verified, "Old", "New"), "", "", 1},
		"verified by a person":     {Board, "inferred", term, stamped, "adds verified by human:ann@example.org", "", 1},
		"gone":                     {Board, "inferred", term, "", "", "", 0},
		"a person asserts":         {Person, "inferred", term, asserted, "", "", 0},
		"an approval in one name":  {Person, "inferred", term, stamped, "", "Odd-Approved-By: human:ann@example.org\n", 1},
		"an approval in another's": {Person, "inferred", term, stamped, "an approval by human:bob@example.org adds verified by human:ann@example.org at", "Odd-Approved-By: human:bob@example.org\n", 1},
		"what another approved":    {Person, "inferred", stamped, with(stamped, "Old", "New"), "", "Odd-Approved-By: human:bob@example.org\n", 1},
	} {
		j := actOf(c.kind, c.trailers, fileOf(t, "terms/x.md", c.was, c.is))
		j.Law.Session.Cap = c.cap
		judgeCap(j)
		if got := j.said(); got == "" != (c.want == "") || !strings.Contains(got, c.want) || j.checked != c.checkedBy {
			t.Errorf("%s: %q of %d, want %q", name, got, j.checked, c.want)
		}
	}
	review := with(task, "in_progress", "review")
	done := with(with(review, "review", "done"), "tags: [x]", "tags: [x]\nverified: [{by: \"human:bob@example.org\", at: \"2026-01-01T00:00:00Z\"}]")
	for kind, was := range map[Kind][2]string{Sync: {review, task}, Board: {"", review}} {
		for i, old := range was {
			j := actOf(kind, "", fileOf(t, "tasks/t-1.md", old, done))
			j.checkHumanStamps(j.Files[0])
			if ok := kind == Sync && i == 0; ok != (j.said() == "") {
				t.Errorf("kind %d, after %q: %q", kind, old, j.said())
			}
		}
	}
}

// TestEdges: a machine adds no edge out of the bundle, and says of no role that it owns.
func TestEdges(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ was, is, want string }{
		"inside":            {"", with(term, "id: x", "id: x\nuses: [../systems/y, z, /terms/y.md]"), ""},
		"outside":           {"", with(term, "id: x", "id: x\nuses: ../../y"), "an edge uses to ../../y, which is outside the bundle"},
		"outside from here": {"", with(term, "id: x", "id: x\nuses: /../y"), "outside the bundle"},
		"outside before":    {with(term, "id: x", "id: x\nuses: ../../y"), with(term, "id: x", "id: x\nuses: [../../y, z]"), ""},
		"another outside":   {with(term, "id: x", "id: x\nuses: ../../y"), with(term, "id: x", "id: x\nuses: ../../z"), "../../z"},
		"owns":              {"", with(term, "id: x", "id: x\nowns: y"), `says "owns", which is no edge`},
	} {
		j := actOf(Proposal, "", fileOf(t, "terms/x.md", c.was, c.is), fileOf(t, "terms/y.md", term, ""), &File{Change: repo.Change{Path: "a.go"}})
		j.checkEdges()
		if got := j.said(); got == "" != (c.want == "") || !strings.Contains(got, c.want) || j.checked != 1 {
			t.Errorf("%s: %q of %d, want %q", name, got, j.checked, c.want)
		}
	}
}

// TestDecisionsThatNeedASignature: what a person's commit decides is named, and what decides
// nothing is not.
func TestDecisionsThatNeedASignature(t *testing.T) {
	t.Parallel()
	stamp := "\nverified: [{by: \"human:ann@example.org\", at: \"2026-01-01T00:00:00Z\"}]"
	stamped, own := with(term, "id: x", "id: x"+stamp), with(task, "tags: [x]", "tags: [x]"+stamp)
	endorsed := with(task, "tags: [x]", "tags: [x]\nendorsed: [{by: \"human:ann@example.org\", at: \"2026-01-01T00:00:00Z\", proposal: "+strings.Repeat("a", 40)+"}]")
	top := func(path string) *File { return &File{Change: repo.Change{Path: path, New: "1", NewMode: "100644"}} }
	for name, c := range map[string]struct {
		trailers string
		merge    bool
		file     *File
		want     string
	}{
		"a gate":                      {"Odd-Gate: framing\n", false, top("x"), aGate},
		"a rejection":                 {"Odd-Rejected-By: human:ann@example.org\n", false, top("x"), "a rejection"},
		"a resumption":                {"Odd-Resumed-By: human:ann@example.org\n", false, top("x"), "a resumption"},
		"a task made ready":           {"Odd-Ready-By: human:ann@example.org\n", false, top("x"), "a task made ready"},
		"an approval":                 {"Odd-Approved-By: human:ann@example.org\n", true, top("x"), "an approval"},
		"an approval of nothing":      {"Odd-Approved-By: human:ann@example.org\n", false, nil, "an approval"},
		"a squash that repeats it":    {"Odd-Approved-By: human:ann@example.org\n", false, top("x"), ""},
		"nothing":                     {"", false, fileOf(t, "terms/x.md", term, with(term, "Old", "New")), ""},
		"the configuration":           {"", false, top("odd.toml"), "a change of odd.toml"},
		"who may sign":                {"", false, top("signers"), "a change of signers"},
		"what agents follow":          {"", false, top("AGENTS.md"), "a change of AGENTS.md, which agents follow,"},
		"the end of a pause":          {"", false, fileOf(t, "pause.toml", term, ""), "a resumption"},
		"a pause":                     {"", false, fileOf(t, "pause.toml", "", term), ""},
		"a proposal":                  {"", false, fileOf(t, "proposals/ann.jsonl", "", ""), "a word on proposals"},
		"canon":                       {"", false, fileOf(t, "canon/x.md", "", with(term, "type: term", "type: canon")), "which only people write,"},
		"canon that was":              {"", false, fileOf(t, "terms/x.md", with(term, "type: term", "type: canon"), term), "which only people write,"},
		"an endorsement":              {"", false, fileOf(t, "tasks/t-1.md", task, endorsed), "an endorsement in"},
		"one endorsement less":        {"", false, fileOf(t, "tasks/t-1.md", endorsed, task), ""},
		"a verification":              {"", false, fileOf(t, "terms/x.md", term, stamped), "a verification of"},
		"a change of what is":         {"", false, fileOf(t, "terms/x.md", stamped, with(stamped, "Old", "New")), "which a person verified,"},
		"the end of what is":          {"", false, fileOf(t, "terms/x.md", stamped, ""), "which a person verified,"},
		"a verified task that moves":  {"", false, fileOf(t, "tasks/t-1.md", own, with(own, "in_progress", "review")), ""},
		"a verified task in words":    {"", false, fileOf(t, "tasks/t-1.md", own, with(own, "title: T", "title: U")), "which a person verified,"},
		"wider paths":                 {"", false, fileOf(t, "tasks/t-1.md", task, with(task, "paths: [a]", "paths: [a, b]")), "what the agent of knowledge/tasks/t-1.md may do"},
		"commands":                    {"", false, fileOf(t, "tasks/t-1.md", task, with(task, "paths: [a]", "paths: [a]\ncommands: [[make]]")), "may do"},
		"a new task":                  {"", false, fileOf(t, "tasks/t-1.md", "", with(task, "in_progress", "backlog")), ""},
		"a task made ready in a file": {"", false, fileOf(t, "tasks/t-1.md", task, with(task, "in_progress", "ready")), "a task made ready"},
		"a task made done":            {"", false, fileOf(t, "tasks/t-1.md", task, with(task, "in_progress", "done")), "a task made done"},
		"a task that was ready":       {"", false, fileOf(t, "tasks/t-1.md", with(task, "in_progress", "ready"), with(with(task, "in_progress", "ready"), "title: T", "title: U")), ""},
		"a task made blocked":         {"", false, fileOf(t, "tasks/t-1.md", task, with(task, "in_progress", "blocked")), ""},
	} {
		j := actOf(Person, c.trailers)
		j.Law.AllowedSigners = "signers"
		if c.merge {
			j.Parents = append(j.Parents, "p2")
		}
		if c.file != nil {
			j.Files = []*File{c.file}
		}
		if got := j.describeDecision(); got == "" != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestSensedTask: odd sense files in ready only what [sense] allows, one deviation a row.
func TestSensedTask(t *testing.T) {
	t.Parallel()
	const sensed = "---\ntype: task\nid: mark-a1b2\ntitle: T\ntags: [sensed, mark, found-x]\nconfidence: inferred\ngenerated: {by: odd/1}\nstate: ready\nkind: fix\npriority: p2\nrole: mender\nsignal: code_marks\npaths: [\"src/**\"]\n---\n"
	for name, c := range map[string]struct {
		text, rel string
		ready     []string
		ok        bool
	}{
		"as odd sense files it": {sensed, "tasks/mark-a1b2.md", []string{"junit", "mark"}, true},
		"elsewhere":             {sensed, "tasks/x.md", []string{"mark"}, false},
		"a sensor that waits":   {sensed, "tasks/mark-a1b2.md", []string{"junit"}, false},
		"another role":          {with(sensed, "mender", "builder"), "tasks/mark-a1b2.md", []string{"mark"}, false},
		"other paths":           {with(sensed, "src/**", "**"), "tasks/mark-a1b2.md", []string{"mark"}, false},
		"another kind":          {with(sensed, "kind: fix", "kind: implement"), "tasks/mark-a1b2.md", []string{"mark"}, false},
		"another signal":        {with(sensed, "code_marks", "test_failure"), "tasks/mark-a1b2.md", []string{"mark"}, false},
		"another's words":       {with(sensed, "odd/1", "model/1"), "tasks/mark-a1b2.md", []string{"mark"}, false},
		"another key":           {with(sensed, "kind: fix", "kind: fix\nteam: docs"), "tasks/mark-a1b2.md", []string{"mark"}, false},
		"no task":               {with(sensed, "state: ready", "state: soon"), "tasks/mark-a1b2.md", []string{"mark"}, false},
		"of no sensor":          {with(sensed, "sensed, ", ""), "tasks/mark-a1b2.md", []string{"mark", ""}, false},
	} {
		law := config.Default()
		law.Sense.Ready, law.Sense.Role, law.Sense.Paths = c.ready, "mender", []string{"src/**"}
		if got := isSensed(fileOf(t, c.rel, "", c.text), &law); got != c.ok {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestChangesOfAnOp: an op makes plain files that are not protected, and its proposal is
// what it judged.
func TestChangesOfAnOp(t *testing.T) {
	t.Parallel()
	for modes, ok := range map[string]bool{"100644 100755": true, " 100644": true, "100755 ": true, "100644 120000": false, "120000 100644": false, "160000 ": false} {
		old, now, _ := strings.Cut(modes, " ")
		j := actOf(Proposal, "")
		j.checkPlaces([]*File{{Change: repo.Change{Path: "a.go", OldMode: old, NewMode: now}}})
		if ok != (j.said() == "") {
			t.Errorf("%s: %q", modes, j.said())
		}
	}
	j := actOf(Proposal, "")
	j.Law.Pipeline.Protected = []string{"a/**"}
	if j.checkPlaces([]*File{{Change: repo.Change{Path: "a/b.go", NewMode: "100644"}}, {Change: repo.Change{Path: "b/b.go", NewMode: "100644"}}}); len(j.found) != 1 || j.found[0].Path != "a/b.go" {
		t.Errorf("%v", j.found)
	}
	for name, c := range map[string]struct {
		trailers, task string
		op             pipeline.Op
		outcome        string
		exact          bool
		want           string
	}{
		"no tier":         {"", "t-1", pipeline.Op{ID: "op-1", Task: "t-1", Run: "run-1"}, "op-1", false, "op-1 is proposed with the tier none"},
		"another tier":    {"Odd-Tier: SAFE_AUTO\n", "t-1", pipeline.Op{ID: "op-1", Task: "t-1", Run: "run-1"}, "op-1", false, "the tier of the proposal is SAFE_AUTO, op-1 was judged on none"},
		"another task":    {"", "t-2", pipeline.Op{ID: "op-1", Task: "t-1", Run: "run-1"}, "op-1", false, "the task of the proposal is t-2"},
		"another run":     {"", "t-1", pipeline.Op{ID: "op-1", Task: "t-1", Run: "run-2"}, "op-1", false, "the run of the proposal is run-1"},
		"another outcome": {"", "t-1", pipeline.Op{ID: "op-1", Task: "t-1", Run: "run-1"}, "op-2", false, "the op in the outcome of the proposal is op-2"},
		"another commit":  {"", "t-1", pipeline.Op{ID: "op-1", Task: "t-1", Run: "run-1", Moved: []pipeline.Effect{{New: "c2"}}}, "op-1", true, "the commit of the proposal is c1, op-1 was judged on c2"},
		"another base":    {"", "t-1", pipeline.Op{ID: "op-1", Task: "t-1", Run: "run-1", Moved: []pipeline.Effect{{New: "c1"}}}, "op-1", true, "the base of the proposal is p1"},
	} {
		j := actOf(Proposal, c.trailers)
		j.Task = c.task
		r := event.Record{Kind: event.Outcome, Data: eventtest.Data(event.Outcome, map[string]any{"verdict": "review", "op": c.outcome})}
		if got := j.compareWithOp(c.op, &r, c.exact); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestNewRecord: a ledger's new record is its own run's, written by odd, and its outcome's
// trace is that of the bytes before and of the commit.
func TestNewRecord(t *testing.T) {
	t.Parallel()
	for want, do := range map[string]func(j *judge, l *Line){
		"":                          func(*judge, *Line) {},
		"is a record of run-2 in":   func(_ *judge, l *Line) { l.Record.Run = "run-2" },
		"that another commit than ": func(j *judge, _ *Line) { j.Run = "run-2" },
		"another commit than its":   func(j *judge, _ *Line) { j.Kind = Person },
		"was not written by odd":    func(_ *judge, l *Line) { l.Plain = false },
		"the trace is aa, the byte": func(_ *judge, l *Line) { l.Trace = "bb" },
		"the trace is missing, the": func(_ *judge, l *Line) { l.Record.Trace = "" },
		"the commit's Odd-Trace bb": func(j *judge, _ *Line) { j.Message = "x\n\nOdd-Trace: bb\n" },
		"Odd-Trace missing":         func(j *judge, _ *Line) { j.Message = "x" },
	} {
		j, l := actOf(Board, "Odd-Trace: aa\n"), outcomeAt("knowledge/ledger/2026-03/run-1.jsonl", 3, "t-1")
		l.Plain, l.Trace, l.Record.Trace = true, "aa", "aa"
		do(j, &l)
		j.checkLine(l)
		if got := j.said(); got == "" != (want == "") || !strings.Contains(got, want) || len(j.found) > 1 || want != "" && j.found[0].Line != 3 {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestNamesOfFiles: what a path says of a file.
func TestNamesOfFiles(t *testing.T) {
	t.Parallel()
	for rel, want := range map[string]string{"ledger/2026-03/run-1.jsonl": "run-1", "ledger/run-1.jsonl": "", "ledger/2026-03/x/run-1.jsonl": "", "ledger/2026-03/run-1.json": "", "x/2026-03/run-1.jsonl": "", "ledger/2026-03/.jsonl": ""} {
		if got := LedgerRun(rel); got != want {
			t.Errorf("%s: %q", rel, got)
		}
	}
	for rel, want := range map[string]bool{
		"journal/a.tsv": true, "journal/a.md": false, "journal/x/a.tsv": false, "proposals/a.jsonl": true, "proposals/a.md": false, "governance/gates.jsonl": true, "governance/lease.toml": false,
		"ledger/2026-03/run-1.jsonl": true, "ledger/a.jsonl": true, "ledger/2026-03/a.md": false, "terms/a.jsonl": false,
	} {
		if IsAppendOnly(rel) != want {
			t.Errorf("%s: not %v", rel, want)
		}
	}
	for name, want := range map[string]bool{"run-1.tsv": true, "2026-03-02-run-1.tsv": true, "2026-03-02-run-12.tsv": false, "xrun-1.tsv": false, "run-1.tsv.md": false} {
		if isOwnJournal("RUN-1", name) != want {
			t.Errorf("%s: not %v", name, want)
		}
	}
	for _, c := range []struct {
		old, now string
		want     int
	}{{"a\nb\n", "a\nc\n", 2}, {"a\nb\n", "a\n", 2}, {"a\nb\n", "", 1}, {"a\nb", "a\nbc", 2}, {"a\nb\nc\n", "a\nb\nx\n", 3}} {
		if got := firstDifference([]byte(c.old), []byte(c.now)); got != c.want {
			t.Errorf("%q and %q: line %d, want %d", c.old, c.now, got, c.want)
		}
	}
	if got := ListOthers(map[string]*Claim{"b": nil, "a": nil, "c": nil}, "b"); !slices.Equal(got, []string{"a", "c"}) {
		t.Error(got)
	}
}

// TestFoldsOneMistake: findings of one cause are one, in the earliest commit, of the lowest
// invariant there; it names three other places, and how many more there are.
func TestFoldsOneMistake(t *testing.T) {
	t.Parallel()
	at := func(commit repo.OID, invariant, line int, cause string) Finding {
		return Finding{Commit: commit, Invariant: invariant, Path: "a", Line: line, Message: "m", Cause: cause}
	}
	for name, c := range map[string]struct {
		all  []Finding
		want []string
	}{
		"one each":             {[]Finding{at("c1", 3, 1, ""), at("c1", 3, 2, "")}, []string{"m", "m"}},
		"two of a cause":       {[]Finding{at("c1", 3, 1, "x"), at("c1", 2, 2, "x")}, []string{"m (the same cause: a:1 [invariant 3, c1])"}},
		"of a later commit":    {[]Finding{at("c1", 3, 1, "x"), at("c2", 2, 2, "x")}, []string{"m (the same cause: a:2 [invariant 2, c2])"}},
		"two causes":           {[]Finding{at("c1", 3, 1, "x"), at("c1", 2, 2, "y")}, []string{"m", "m"}},
		"one place twice":      {[]Finding{at("c1", 3, 1, "x"), at("c1", 3, 1, "x")}, []string{"m"}},
		"four places":          {[]Finding{at("c1", 1, 1, "x"), at("c1", 3, 2, "x"), at("c1", 3, 3, "x"), at("c1", 3, 4, "x")}, []string{"m (the same cause: a:2 [invariant 3, c1], a:3 [invariant 3, c1], a:4 [invariant 3, c1])"}},
		"more than four":       {[]Finding{at("c1", 1, 1, "x"), at("c1", 3, 2, "x"), at("c1", 3, 3, "x"), at("c1", 3, 4, "x"), at("c1", 3, 5, "x")}, []string{"m (the same cause: a:2 [invariant 3, c1], a:3 [invariant 3, c1], a:4 [invariant 3, c1], and 1 more)"}},
		"a message of its own": {[]Finding{at("c1", 3, 1, "x"), {Commit: "c1", Invariant: 3, Path: "a", Line: 1, Message: "n", Cause: "x"}}, []string{"m"}},
	} {
		var got []string
		for _, f := range Fold(c.all) {
			got = append(got, f.What())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if own := Fold([]Finding{at("c1", 3, 1, "x"), {Commit: "c1", Invariant: 3, Path: "a", Line: 1, Message: "n", Cause: "x"}})[0].Also; len(own) != 1 || own[0].Message != "n" {
		t.Errorf("%v", own)
	}
	if key := at("c1", 3, 1, "").Key(); key != "c1:3:a" {
		t.Error(key)
	}
}

// TestEndingsOfAnOp: only a person ends an op by a decision, in its own words and file, and
// what waited leaves review with it.
func TestEndingsOfAnOp(t *testing.T) {
	t.Parallel()
	const approve = "Odd-Approved-By: human:ann@example.org\nOdd-Proposal: c9\nOdd-Op: op-1\n"
	moved := []pipeline.Effect{{Ref: "refs/heads/odd/review/t-1.1", New: "c9"}}
	done := waitingTask{id: "t-1", was: board.Review, now: board.Done}
	back := waitingTask{id: "t-1", was: board.Review, now: board.Backlog}
	for name, c := range map[string]struct {
		kind     Kind
		trailers string
		reason   pipeline.Reason
		writer   string
		task     *waitingTask
		want     string
	}{
		"merged":                         {Person, approve, pipeline.Merged, "op-1", &done, ""},
		"merged by sync":                 {Sync, "Odd-Proposal: c9\n", pipeline.Merged, "op-1", &done, ""},
		"merged by a run":                {Board, approve, pipeline.Merged, "op-1", &done, "only a person does"},
		"rejected by sync":               {Sync, approve, pipeline.Rejected, "op-1", &back, "only a person does"},
		"merged in a run's file":         {Person, approve, pipeline.Merged, "run-1", &done, "stands in a file of the op's own"},
		"merged, another":                {Person, with(approve, "c9", "c8"), pipeline.Merged, "op-1", &done, "this commit merges c8"},
		"merged by another":              {Person, with(approve, "ann@", "bob@"), pipeline.Merged, "op-1", &done, "by human:bob@example.org in a commit by ann@example.org"},
		"merged as another op":           {Person, with(approve, "op-1", "op-2"), pipeline.Merged, "op-1", &done, "says it merges op-2"},
		"merged, with a tier":            {Person, approve + "Odd-Tier: BLOCKED\n", pipeline.Merged, "op-1", &done, "with tier BLOCKED"},
		"merged, not done":               {Person, approve, pipeline.Merged, "op-1", &back, "its task is not done"},
		"merged, of no task":             {Person, approve, pipeline.Merged, "op-1", nil, "its task is not done"},
		"rejected":                       {Person, "Odd-Rejected-By: human:ann@example.org\n", pipeline.Rejected, "op-1", &back, ""},
		"rejected by another":            {Person, "Odd-Rejected-By: human:bob@example.org\n", pipeline.Rejected, "op-1", &back, "recorded as rejected, by human:bob@example.org"},
		"rejected and waiting":           {Person, "Odd-Rejected-By: human:ann@example.org\n", pipeline.Rejected, "op-1", &waitingTask{was: board.Review, now: board.Review}, "its task still waits"},
		"cancelled":                      {Person, "", pipeline.CancelledByPerson, "op-1", &back, ""},
		"cancelled in no review":         {Person, "", pipeline.CancelledByPerson, "op-1", &waitingTask{was: board.Backlog, now: board.Backlog}, "does not take t-1 out of review"},
		"expired":                        {Board, "", pipeline.ReviewExpired, "run-1", &back, ""},
		"expired by a person":            {Person, "", pipeline.ReviewExpired, "op-1", &back, "another commit than a run's ends op-1"},
		"expired to ready":               {Board, "", pipeline.ReviewExpired, "run-1", &waitingTask{was: board.Review, now: board.Ready}, "it returns to backlog"},
		"superseded by another":          {Board, "", pipeline.Superseded, "run-1", &waitingTask{was: board.Review, now: board.Review, result: board.Result{Commit: "c7"}}, ""},
		"superseded, waiting with it":    {Board, "", pipeline.Superseded, "run-1", &waitingTask{was: board.Review, now: board.Review, result: board.Result{Commit: "c9"}}, "its task still waits"},
		"superseded, with none in sight": {Board, "", pipeline.Superseded, "run-1", nil, "does not take t-1 out of review"},
	} {
		o := pipeline.Op{ID: "op-1", Task: "t-1", Run: "run-1", From: pipeline.Waiting, Phase: "ended", Reason: c.reason, Moved: moved}
		if got := actOf(c.kind, c.trailers).checkEndedBy(o, c.writer, c.task); got == "" != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	o := pipeline.Op{ID: "op-1", Task: "t-1", From: pipeline.Gate, Reason: pipeline.ReviewExpired}
	if got := actOf(Board, "").checkLeavesReview(o, nil); got != "" {
		t.Errorf("an op that never waited: %q", got)
	}
	for id, ok := range map[string]bool{"op-1": true, "op-2": false, "run-1": false} {
		for kind, is := range map[Kind]bool{Person: ok, Sync: ok, Board: false} {
			r := event.Record{Kind: event.OpEnd, Run: id, Data: event.OpData{Op: "op-1"}}
			if got := actOf(kind, "").isPersonsEnding(r); got != is {
				t.Errorf("kind %d in %s: %v", kind, id, got)
			}
			if r.Kind = event.Op; actOf(kind, "").isPersonsEnding(r) {
				t.Errorf("kind %d in %s: a step is an ending", kind, id)
			}
		}
	}
}

// TestVerifiedBytes: what a person verified is found changed or gone, whoever else it is from.
func TestVerifiedBytes(t *testing.T) {
	t.Parallel()
	stamped := with(term, "id: x", "id: x\nverified: [{by: \"human:ann@example.org\", at: \"2026-01-01T00:00:00Z\"}]")
	moved := fileOf(t, "terms/x.md", stamped, stamped)
	moved.NewMode = "100755"
	for name, c := range map[string]struct {
		kind    Kind
		file    *File
		checked int
		want    string
	}{
		"changed":         {Board, fileOf(t, "terms/x.md", stamped, with(stamped, "Old", "New")), 1, "a commit by odd or an agent changes what human:ann@example.org at 2026-01-01T00:00:00Z verified"},
		"deleted":         {Board, fileOf(t, "terms/x.md", stamped, ""), 1, "deletes what human:ann"},
		"in another mode": {Board, moved, 1, "changes what"},
		"by a person":     {Person, fileOf(t, "terms/x.md", stamped, ""), 0, ""},
		"of a machine":    {Board, fileOf(t, "terms/x.md", term, with(term, "Old", "New")), 1, ""},
		"new":             {Board, fileOf(t, "terms/x.md", "", stamped), 0, ""},
	} {
		j := actOf(c.kind, "", c.file)
		judgeVerified(j)
		if got := j.said(); got == "" != (c.want == "") || !strings.Contains(got, c.want) || j.checked != c.checked {
			t.Errorf("%s: %q of %d, want %q", name, got, j.checked, c.want)
		}
		if c.want != "" && !strings.Contains(fmt.Sprint(j.found), "git checkout p1 -- knowledge/terms/x.md") {
			t.Errorf("%s: no way out: %v", name, j.found)
		}
	}
}
