package verify

// allRules returns the table of invariants in order, each with the function that judges by
// it. A new invariant is a new row.
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
