package drain

import (
	"context"
	"path"
	"slices"

	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// showBeat lets others see what this run is at work on. A run that cannot be shown goes on.
func (ch *change) showBeat() {
	_ = ch.d.repo.Show(ch.op.Live(secrets.RedactText(ch.doing)))
}

// keepFiles adds to the run's tree what a person reads of the op: its dossier, and its
// candidate against its base.
func (ch *change) keepFiles(ctx context.Context) error {
	if ch == nil || len(ch.ops) == 0 {
		return nil
	}
	findings := slices.Clone(ch.verdict.Findings)
	for _, f := range ch.report.Findings { // what is to be said of the checks themselves
		if !slices.Contains(findings, f) {
			findings = append(findings, f)
		}
	}
	dossier := pipeline.Dossier{
		Op: ch.op.ID, Rationale: ch.candidate.Rationale, Source: ch.candidate.Source, Tier: string(ch.risk.Tier), Because: ch.risk.Reasons(), Findings: findings,
		Checks: ch.report.Checked(pipeline.Validate),
	}
	files := map[string][]byte{"op.json": dossier.Encode()}
	if ch.draft != "" {
		patch, err := ch.d.repo.Patch(ctx, ch.c.base, ch.draft)
		if err != nil {
			return err
		}
		if len(patch) > 0 {
			files["op.patch"] = patch
		}
	}
	hide := lentSecrets(ch.d.at.cfg, ch.d.Environ)
	for name, b := range files {
		ch.d.tree[path.Join(ArtifactDir(ch.c.task), ch.op.ID, name)] = secrets.Redact(hide.hide(b))
	}
	return nil
}
