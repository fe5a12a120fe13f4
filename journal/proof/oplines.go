package proof

import (
	"bytes"
	"path"
	"strings"

	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
)

// opLine is a record of an op and where it lies.
type opLine struct {
	event.Record
	path string // in its month
	n    int
}

// ops is every op that the ledgers of a commit tell.
type ops struct {
	lines    []opLine // path in the repository
	stories  []pipeline.Story
	problems []pipeline.Problem
}

// at is where a record lies.
func (o ops) at(run string, seq int) (string, int) {
	for _, l := range o.lines {
		if l.Run == run && l.Seq == seq {
			return l.path, l.n
		}
	}
	return "", 1
}

// opsAt reads the ops of a commit.
func (h *history) opsAt(commit repo.OID) (ops, error) {
	var out ops
	law, err := h.lawAfter(commit)
	if err != nil {
		return out, err
	}
	tree, mode, err := h.trees.Find(commit, law.Root+"/ledger")
	if err != nil || mode != folder {
		return out, err
	}
	all, err := h.trees.Diff(h.ctx, "", tree)
	if err != nil {
		return out, err
	}
	var records []event.Record
	for _, ch := range all {
		lines, err := h.opsIn(ch)
		if err != nil {
			return out, err
		}
		for _, l := range lines {
			l.path = path.Join(law.Root, "ledger", ch.Path)
			out.lines, records = append(out.lines, l), append(records, l.Record)
		}
	}
	out.stories, out.problems = pipeline.ReadOps(records)
	return out, nil
}

// opsIn are the records of ops in one ledger file, remembered by blob.
func (h *history) opsIn(ch repo.Change) ([]opLine, error) {
	if !ledgerFile(ch) {
		return nil, nil
	}
	if out, ok := h.ops.get(ch.New); ok {
		return out, nil
	}
	b, err := h.trees.Blob(ch.New)
	if err != nil {
		return nil, err
	}
	var out []opLine
	if bytes.Contains(b, []byte(`"kind":"op`)) {
		records, _ := h.spend.lines.Read(b) // what is wrong in it is row 14's
		for i, r := range records {
			if ofOp(r) {
				out = append(out, opLine{Record: r, n: i + 1})
			}
		}
	}
	h.ops.put(ch.New, out)
	return out, nil
}

// ledgerFile reports what is read of a ledger's folder. Its blob alone does not tell: a
// link, or a file of another name, may have the bytes of a run's file.
func ledgerFile(ch repo.Change) bool {
	return path.Ext(ch.Path) == ".jsonl" && strings.HasPrefix(ch.NewMode, "100")
}

func ofOp(r event.Record) bool { return r.Kind == event.Op || r.Kind == event.OpEnd }
