package deliver

// Classifications lists them, the heaviest first.
func Classifications() []string {
	return []string{string(Blocker), string(Defect), string(Caveat)}
}

// Dispositions lists them, the one that asks for most first.
func Dispositions() []string { return []string{string(Fix), string(Pivot), string(Accept)} }

// Verdict is what a list of findings comes to.
type Verdict string

// The verdicts.
const (
	Pass             Verdict = "pass"
	Fail             Verdict = "fail"
	NeedsHumanReview Verdict = "needs_human_review"
)

// Summary counts findings. A finding without a known classification or
// disposition counts as unrated.
type Summary struct {
	Total            int                    `json:"total"`
	ByClassification map[Classification]int `json:"by_classification"` // all three, zeros too
	ByDisposition    map[Disposition]int    `json:"by_disposition"`    // all three, zeros too
	Unrated          int                    `json:"unrated"`
	Verdict          Verdict                `json:"verdict"`
}

// Summarize counts the findings and judges them: fail when a blocker is not
// accepted; needs_human_review when a blocker is accepted (a person's to wave
// through, not a session's), when a finding is unrated, or when one asks for a
// pivot; pass otherwise. It looks at nothing but the list.
func Summarize(fs []Finding) Summary {
	s := Summary{Total: len(fs), Verdict: Pass,
		ByClassification: map[Classification]int{Blocker: 0, Defect: 0, Caveat: 0},
		ByDisposition:    map[Disposition]int{Fix: 0, Pivot: 0, Accept: 0},
	}
	for _, f := range fs {
		_, weighed := s.ByClassification[f.Classification]
		_, disposed := s.ByDisposition[f.Disposition]
		if weighed {
			s.ByClassification[f.Classification]++
		}
		if disposed {
			s.ByDisposition[f.Disposition]++
		}
		switch {
		case f.Classification == Blocker && f.Disposition != Accept:
			s.Verdict = Fail
		case s.Verdict == Fail:
		case f.Classification == Blocker, f.Disposition == Pivot, !weighed, !disposed:
			s.Verdict = NeedsHumanReview
		}
		if !weighed || !disposed {
			s.Unrated++
		}
	}
	return s
}
