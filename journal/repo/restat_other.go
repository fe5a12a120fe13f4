//go:build !linux

package repo

import "context"

// refreshCtimes leaves it to git, which knows this system's stat data.
func (c *checkout) refreshCtimes() (done bool, err error) { return false, nil }

// stageHere leaves it to git too.
func (c *checkout) stageHere(context.Context) (done bool, err error) { return false, nil }
