package repo

import (
	"context"
	"errors"
)

// MakeOn is Make for a commit whose tree starts from tree instead of from its
// first parent's, such as a merged one. Modes in tree stay.
func (r *Repo) MakeOn(ctx context.Context, parents []OID, tree OID, ch Changes, who Signature, message string) (OID, error) {
	if err := errors.Join(who.check(), checkMessage(message)); err != nil {
		return "", err
	}
	if err := r.checkConverted(ctx, tree, ch); err != nil {
		return "", err
	}
	tree, err := r.apply(ctx, tree, ch)
	if err != nil {
		return "", err
	}
	return r.objs.put("commit", printCommit(tree, parents, who.String(), who.String(), message))
}
