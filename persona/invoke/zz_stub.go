package invoke

// Input is what a brief is made of.
type Input struct{}

// Build makes a brief.
func Build(Input) Brief { return Brief{} }
