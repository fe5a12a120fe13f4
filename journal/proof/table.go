package proof

// allRules is the table of invariants, in their order; each stands with what judges by it.
// A new invariant is a new row.
func allRules() []rule {
	return []rule{
		capRule(),
		surfaceRule(),
		gateRule(),
		drainRule(),
		budgetRule(),
		floorRule(),
		edgeRule(),
		leaseRule(),
		proposeRule(),
		roleRule(),
		handoffRule(),
		permitRule(),
		ironGateRule(),
		growthRule(),
		endingRule(),
		verifiedRule(),
	}
}
