package repo

import (
	"context"
	"errors"
	"time"
)

var errStub = errors.New("not yet")

func (r *Repo) MergeTree(ctx context.Context, ours, theirs OID) (tree OID, conflicts []string, err error) {
	return "", nil, errStub
}
func (r *Repo) PersonCommit(ctx context.Context, parents []OID, tree OID, ch Changes, message string) (OID, error) {
	return "", errStub
}
func (r *Repo) Fetch(ctx context.Context, remote string, refspecs ...string) error { return errStub }
func (r *Repo) Push(ctx context.Context, remote string, us ...RefUpdate) error     { return errStub }
func (r *Repo) RemoteRef(ctx context.Context, remote, name string) (OID, error)    { return "", errStub }
func (r *Repo) Verify(ctx context.Context, oid OID) (ok bool, signer string, err error) {
	return false, "", errStub
}
func (r *Repo) PruneRuns(ctx context.Context, before time.Time) (int, error) { return 0, nil }
func (r *Repo) Maintain(ctx context.Context) error                           { return nil }
