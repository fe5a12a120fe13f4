//go:build !linux

package repo

import "context"

// restat leaves it to git, which knows what this system notes of a file.
func (c *checkout) refreshCtimes() (done bool, err error) { return false, nil }

// stageHere leaves it to git, too.
func (c *checkout) stageHere(context.Context) (done bool, err error) { return false, nil }
