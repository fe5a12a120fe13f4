package cage

// unkept is what is asked for and cannot be held without a keeper.
func (c Cage) unkept(p Program) []string {
	if c.Enforce == Off || len(c.Self) == 0 {
		return nil
	}
	missing := []string{"files: no Landlock on this system", "limits: none are set on this system", "children that daemonise can outlive their session"}
	if p.Network != Allow {
		missing = append(missing, "network: it cannot be closed on this system")
	}
	return missing
}

// keeperless is unkept where that is a refusal.
func (c Cage) keeperless(p Program) []string {
	if c.Enforce != Require || c.hasKeeper() {
		return nil
	}
	if len(c.Self) == 0 {
		return []string{"there is no keeper to hold a program"}
	}
	return c.unkept(p)
}
