package cmd

import (
	"context"

	"github.com/odd-cli/odd/board/drain"
)

// memory is what the board remembers, as the view has it.
func (v *view) memory(ctx context.Context) (*drain.Memory, error) {
	s, err := v.slowLoop(ctx)
	if err != nil {
		return nil, err
	}
	return &drain.Memory{Slow: s, State: v.state, Root: v.cfg.Root, Bundle: v.bundle, Files: v.files, Graph: v.graph, Tasks: v.tasks(), Leases: v.cfg.Lease != "off"}, nil
}
