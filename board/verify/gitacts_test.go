package verify

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/journal/repo"
)

// gitAct is what a person does with git in a clone whose main ends in an approval.
type gitAct struct {
	name, script string
	lost         string // what the one finding says; "" for an act that is nobody's mistake
}

// gitActs names these commits and branches: main, which ends in approved, the approval of t1; before it note, rejected
// (of t2), result (of t3, in review) and proposal (its); feature, with a file of a person's; approving and rejecting,
// main with t3 approved or rejected; drained, main with t4 done by an agent; others, main with somebody's file.
func gitActs() []gitAct {
	const (
		rewrote   = "rewrote the claim of"
		appendOn  = "append-only"
		forgotten = "its approval is not"
		squashes  = "this commit squashes commits by odd"
	)
	return []gitAct{
		{"amend without a change", "git commit -q --amend --no-edit", ""},
		{"amend with the trailers kept", "git log -1 --format=%B | sed '1s/.*/taken/' > ../m; git commit -q --amend -F ../m", ""},
		{"amend by somebody else", "git -c user.name=Bob -c user.email=bob@example.org commit -q --amend --no-edit", ""},
		{"reword an approval", "git commit -q --amend -m taken", "lacks the trailers"},
		{"revert an approval", "git revert --no-edit -m 1 HEAD", ""},
		{"revert the revert", "git revert --no-edit -m 1 HEAD; git revert --no-edit HEAD", ""},
		{"revert that too", "git revert --no-edit -m 1 HEAD; git revert --no-edit HEAD; git revert --no-edit HEAD", ""},
		{"revert the revert, not whole", "git revert --no-edit -m 1 HEAD; git revert --no-commit HEAD; git rm -qf knowledge/terms/keel.md; git commit -qm part", "set to done"},
		{"revert the revert, with the task edited", "git revert --no-edit -m 1 HEAD; git revert --no-commit HEAD; echo more >> knowledge/tasks/t1.md; git commit -qam edited", "set to done"},
		{"revert a rejection", "git revert --no-edit rejected", ""},
		{"revert a rejection twice", "git revert --no-edit rejected; git revert --no-edit HEAD", ""},
		{"revert a note", "git revert --no-edit note", ""},
		{"revert a result of odd", "git revert --no-edit result", appendOn},
		{"revert it and revert that", "git revert --no-edit result; git revert --no-edit HEAD", appendOn},
		{"reset before the push", "git reset -q --hard HEAD~1", ""},
		{"merge a feature", "git merge -q --no-ff --no-edit feature", ""},
		{"squash a feature", "git merge -q --squash feature; git commit -qm squashed", ""},
		{"squash a drain", "git merge -q --squash drained; git commit -qm squashed", squashes},
		{"squash it with the trailers kept", "git merge -q --squash drained; git log -1 --format=%B drained | git commit -qF -", squashes},
		{"squash the whole board", "git checkout -q --detach main~9; git merge -q --squash main; git commit -qm squashed; git branch -qf main", squashes},
		{"work on after a squash", "git merge -q --squash drained; git commit -qm squashed; echo >> README.md; git commit -qam on; git merge -q --no-ff --no-edit feature", squashes},
		{"rebase a feature", "git checkout -q feature; git rebase -q main; git branch -qf main", ""},
		{"cherry-pick a feature", "git cherry-pick feature", ""},
		{"cherry-pick and merge", "git cherry-pick -x feature; git merge -q --no-edit feature", ""},
		{"octopus", "git merge -q --no-edit feature others", ""},
		{"merge with -s ours", "git merge -q -s ours --no-edit feature", ""},
		{"merge away an approval", "git merge -q -s ours --no-edit approving", appendOn},
		{"fixup and autosquash", "echo 1 > a; git add a; git commit -qm a; echo 2 > a; git commit -qa --fixup HEAD; GIT_SEQUENCE_EDITOR=true git rebase -q -i --autosquash approved", ""},
		{"conflict mended by hand", "git checkout -qb x HEAD; echo x > README.md; git commit -qam x; git checkout -q main; echo y > README.md; git commit -qam y; git merge -q x || echo xy > README.md; git commit -qam xy", ""},
		{"another history merged", "git checkout -q --orphan y; git rm -rqf .; echo y > y; git add y; git commit -qm y; git checkout -q main; git merge -q --no-edit --allow-unrelated-histories y", ""},
		{"another repository in a folder", "git read-tree --prefix=vendor/ feature:docs; git checkout -q -- vendor; git commit -qm vendor", ""},
		{"pull --rebase after an approval", "git checkout -q approving; git rebase -q others; git branch -qf main", forgotten},
		{"the same with --rebase-merges", "git checkout -q approving; git rebase -q --rebase-merges others; git branch -qf main", ""},
		{"pull --no-rebase after an approval", "git merge -q --no-edit others; git merge -q --no-edit approving", ""},
		{"pull --rebase after a drain", "git checkout -q drained; git rebase -q others; git branch -qf main", rewrote},
		{"pull --no-rebase after a drain", "git merge -q --no-edit others; git merge -q --no-edit drained", ""},
		{"cherry-pick an approval to a release", "git checkout -qb rel others; git cherry-pick -m 1 approving; git checkout -q main; git merge -q --no-edit approving; git merge -q --no-edit rel", ""},
		{"cherry-pick a proposal", "git cherry-pick proposal", forgotten},
		{"approve here, reject there", "git merge -q --no-edit approving; git merge -q --no-edit rejecting || { git checkout -q --ours .; git add -A; git commit -qm both; }", appendOn},
		{"filter-branch over messages", "git filter-branch -f --msg-filter 'cat; echo Signed-off-by: x' main >/dev/null 2>&1", rewrote},
		{"filter-branch over a file", "git filter-branch -f --index-filter 'git rm -q --cached --ignore-unmatch README.md' main >/dev/null 2>&1", rewrote},
		{"a task in review renamed", "git mv knowledge/tasks/t3.md knowledge/tasks/third.md; git commit -qm mv", ""},
		{"a task in review deleted", "git rm -q knowledge/tasks/t3.md; git commit -qm rm", "its task is gone"},
		{"a done task deleted", "git rm -q knowledge/tasks/t1.md; git commit -qm rm", ""},
		{"a done task opened by hand", "sed -i.o 's/^state: done/state: backlog/' knowledge/tasks/t1.md; git commit -qam open", ""},
		{"a task done by hand", "sed -i.o 's/^state: review/state: done/' knowledge/tasks/t3.md; git commit -qam finish", "set to done"},
		{"an approved atom deleted", "git rm -q knowledge/terms/keel.md; git commit -qm rm", ""},
		{"an old version of an atom", "echo more >> knowledge/terms/keel.md; git commit -qam more; git checkout -q HEAD~1 -- knowledge/terms/keel.md; git commit -qm less", ""},
		{"a mode", "chmod +x README.md; git commit -qam mode", ""},
		{"the bundle moved", "git mv knowledge kb; printf '\\n[bundle]\\nroot = \"kb\"\\n' | cat - odd.toml > ../t; cp ../t odd.toml; git commit -qam moved", ""},
		{"a ledger deleted", "git rm -q knowledge/ledger/*/run-*1.jsonl; git commit -qm rm", appendOn},
		{"all ledgers deleted", "git rm -rq knowledge/ledger; git commit -qm rm", appendOn},
		{"a ledger edited", "sed -i.o '1s/editor/author/' knowledge/ledger/*/run-*1.jsonl; git commit -qam edit", appendOn},
		{"spaces in all ledgers", "sed -i.o 's/$/ /' knowledge/ledger/*/*.jsonl; git commit -qam spaces", appendOn},
		{"spaces, taken back", "sed -i.o 's/$/ /' knowledge/ledger/*/*.jsonl; git commit -qam spaces; git revert --no-edit HEAD", appendOn},
		{"a row of a journal edited", "sed -i.o 's/done/gone/' knowledge/journal/*.tsv; git commit -qam edit", appendOn},
		{"a date long ago", "GIT_AUTHOR_DATE=2020-01-01T00:00:00Z GIT_COMMITTER_DATE=2020-01-01T00:00:00Z git commit -q --allow-empty -m old", ""},
		{"a date to come", "GIT_AUTHOR_DATE=2036-01-01T00:00:00Z GIT_COMMITTER_DATE=2036-01-01T00:00:00Z git commit -q --allow-empty -m new", ""},
		{"with the agent as co-author", "git commit -q --allow-empty -m 'pair' -m 'Co-authored-by: odd-agent <odd@localhost>'", ""},
		{"a stash, a note and a tag", "echo s >> README.md; git stash -q; git stash pop -q; git commit -qam s; git notes add -m n; git tag -a -m v v1", ""},
		{"gc", "git gc -q", ""},
	}
}

// actedOn is a board as the acts find it.
func actedOn(t *testing.T) *story {
	s := begin(t, lawWithFloor(t), nil)
	s.ann("foot", floorAtoms())
	s.anchored = true
	for _, id := range []string{"t1", "t2", "t3", "t4"} {
		s.add(id, "budget_usd: 0.05\n")
	}
	s.pipes = withOp("", pipeline.Limits{})
	finish := func(id, atom string) *run {
		w := s.claim(id)
		s.result(w, 1, terms(atom))
		return w
	}
	tag := func(name string, at repo.OID) { s.git("", "tag", name, string(at)) }
	one := finish("t1", "keel")
	s.reject(finish("t2", "skeg"))
	tag("rejected", s.tip())
	tag("note", s.ann("note", repo.Changes{"docs/n.md": []byte("# N\n")}))
	three := finish("t3", "stem")
	tag("result", s.tip())
	tag("proposal", three.proposal)
	s.heads["odd/review/t3.1"] = three.proposal
	tag("approved", s.approve(one, false))
	main := s.tip()
	side := func(name string, do func()) {
		s.branch, s.heads[name] = name, main
		o, waits := s.ops["t3"]
		do()
		if waits {
			s.ops["t3"] = o
		}
		s.branch = "main"
	}
	side("feature", func() { s.ann("feature", repo.Changes{"docs/f.md": []byte("# F\n")}) })
	side("others", func() { s.ann("others", repo.Changes{"docs/o.md": []byte("# O\n")}) })
	side("approving", func() { s.approve(three, false) })
	side("rejecting", func() { s.reject(three) })
	side("drained", func() { finish("t4", "stern") })
	return s
}

// Ordinary use of git is clean, or gives one finding with a way out.
func TestOrdinaryGitIsNotAccused(t *testing.T) {
	t.Parallel()
	s := actedOn(t)
	if d := listFindings(s.check("", s.tip())); len(d) > 0 {
		t.Fatalf("as it was: %v", d)
	}
	s.git("", "pack-refs", "--all")
	s.git("", "repack", "-adq")
	for _, a := range gitActs() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(s.r.Root())); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("sh", "-ec", "git reset -q --hard main; git config commit.gpgsign false; exec >/dev/null;\n"+strings.ReplaceAll(a.script, "../", "$PWD.d/"))
			cmd.Dir = dir
			if err := os.Mkdir(dir+".d", 0o755); err != nil {
				t.Fatal(err)
			}
			cmd.Env = append(os.Environ(), "PWD="+dir, "GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL="+annMail, "GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL="+annMail,
				"GIT_AUTHOR_DATE=2026-04-01T09:00:00Z", "GIT_COMMITTER_DATE=2026-04-01T09:00:00Z", "GIT_EDITOR=true", "FILTER_BRANCH_SQUELCH_WARNING=1")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			r, err := repo.Open(dir, os.Environ())
			if err != nil {
				t.Fatal(err)
			}
			to, err := r.Ref("refs/heads/main")
			if err != nil {
				t.Fatal(err)
			}
			report, err := Check(context.Background(), r, "", to)
			if err != nil {
				t.Fatal(err)
			}
			switch all := report.Findings; {
			case a.lost == "" && len(all) > 0:
				t.Errorf("accused: %v", all)
			case a.lost != "" && (len(all) != 1 || !strings.Contains(all[0].Message, a.lost) || all[0].Way == ""):
				t.Errorf("no one finding of %q with a way out: %d\n%v", a.lost, len(all), all)
			}
		})
	}
}
