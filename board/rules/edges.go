package rules

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/reconcile/secrets"
)

var edgeRule = Rule{Row{
	N: 7, Name: "Real edges only", Unit: "atoms and briefs",
	Promise:  "Machines write only edges that reconcile takes, and a session's persona is made of the edges that exist.",
	Reads:    "the edges of every atom a commit by odd or an agent changes; the brief of every session whose run's tree, refs/odd/run/RUN, is in the clone",
	Compares: "No commit by odd or an agent adds an edge that odd reconcile refuses: the key owns, or an edge that leaves the bundle. The persona in a brief is, byte for byte, what odd compiles from the edges in the commit of the claim. Edges that lead nowhere are gaps in it.",
	Attested: "the brief of a run whose refs/odd/run/RUN is not in this clone, or is older there than the record",
	Remedy:   "send the result back with odd reject TASK, and correct the edges by hand",
	Broken:   "An agent wrote an edge that is not allowed, or its brief does not match the bundle's edges.",
}, judgeEdges, false}

// judgeEdges checks the edges in atoms that machines write, and the role in every session's brief that this clone still
// has.
func judgeEdges(j *judge) {
	if j.Kind != Person {
		j.checkEdges()
	}
	j.checkLines(func(l Line) string {
		if l.Record.Kind != event.Session {
			return ""
		}
		return j.checkBrief(l)
	})
}

// checkEdges reports edges that reconcile would refuse: the key owns, which would let a role own what names another
// owner, and edges that leave the bundle.
func (j *judge) checkEdges() {
	for _, f := range j.Files {
		if f.Is == nil || f.Rel == "" {
			continue
		}
		j.checked++
		if _, is := f.Is.Field("owns"); is {
			j.addFinding(f.Path, f.Is.Line("owns"), `a commit by odd or an agent says "owns", which is no edge; a process names its owner`)
		}
		for _, e := range f.Is.Edges {
			if leavesBundle(f.Rel, e.Target) && (f.Was == nil || !slices.ContainsFunc(f.Was.Edges, func(o okf.Edge) bool { return o.Target == e.Target })) {
				j.addFinding(f.Path, e.Line, "a commit by odd or an agent has an edge %s to %s, which is outside the bundle", e.Kind, e.Target)
			}
		}
	}
}

func leavesBundle(from, target string) bool {
	if strings.HasPrefix(target, "/") || !strings.HasPrefix(target, ".") {
		return strings.HasPrefix(path.Clean(strings.TrimPrefix(target, "/")), "../")
	}
	return strings.HasPrefix(path.Join(path.Dir(from), target), "../")
}

// checkBrief returns why a session's brief does not describe its role as the bundle of its claim does.
func (j *judge) checkBrief(l Line) string {
	id, name := l.Record.Session().Brief, "refs/odd/run/"+l.Record.Run
	run := j.FindRef(name)
	if run == "" || id == "" {
		return ""
	}
	if j.isKeptBefore(l, run) {
		return "" // pruned, or not fetched since: attested
	}
	role, claim, law := j.findSessionRole(l)
	if role == "" {
		return ""
	}
	j.checked++
	if !j.HoldsBlob(run, repo.OID(id)) {
		return fmt.Sprintf("the stored brief %s of the session is missing from refs/odd/run/%s", ShortID(id), l.Record.Run)
	}
	brief := string(j.Blob(repo.OID(id)))
	p := j.CompilePersona(claim, law.Root, role)
	if p.Err != nil {
		return "" // invariant 6 reports a missing role
	}
	if said, ok := findBriefPart(brief, "persona"); ok && said == p.namedAs(said, law.Root).text() {
		return ""
	}
	said, ok := findBriefPart(secrets.RedactText(brief), "persona") // an older odd redacted fewer credentials
	if !ok {
		return "" // its contract has no persona
	}
	want := p.namedAs(said, law.Root).render()
	if head, _, cut := strings.Cut(said, "\n[cut here: "); said == want || cut && strings.HasPrefix(want, head) {
		return ""
	}
	why := j.explainRewrite(claim, l.Record.Run, l.Record.Task)
	return cmp.Or(why, fmt.Sprintf("the session's brief describes the role %s otherwise than the files at its claim: %s", role, firstOtherLine(said, want)))
}

// isKeptBefore reports that the run's ref still is at the artifacts of an earlier outcome. Then it is older than the
// record and has nothing of its session.
func (j *judge) isKeptBefore(l Line, run repo.OID) bool {
	records := j.ReadLedger(j.OID, l.Record.Run)
	return slices.ContainsFunc(records, func(r event.Record) bool {
		return r.Seq < l.Record.Seq && r.Kind == event.Outcome && string(r.Outcome().Artifacts) == string(run)
	})
}

func findBriefPart(brief, name string) (string, bool) {
	for {
		_, rest, ok := strings.Cut(brief, "\n## ")
		if !ok {
			return "", false
		}
		title, rest, _ := strings.Cut(rest, "\n\n")
		opening, rest, _ := strings.Cut(rest, "\n")
		fence := strings.TrimSuffix(opening, "text")
		text, after, ok := strings.Cut(rest, "\n"+fence+"\n")
		if !ok || fence == "" {
			return "", false
		}
		if title == name {
			return text + "\n", true
		}
		brief = "\n" + after
	}
}

// firstOtherLine returns the first line of said that want does not have.
func firstOtherLine(said, want string) string {
	lines := strings.Split(want, "\n")
	for l := range strings.SplitSeq(said, "\n") {
		if !slices.Contains(lines, l) {
			return l
		}
	}
	return "it leaves out what was there"
}
