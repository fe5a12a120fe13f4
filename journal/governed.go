package journal

// The criteria of the standard types count one point each. Where canon leaves a criterion
// to the reader ("says what it binds", "names a next action"), a list of words decides. The
// lists are here so that a writer can see what counts. A list can be wrong about a text, so
// no score ever refuses an entry.

func requireSubstance() Criterion {
	return Criterion{"Substance", "Body is ≥10 words", "say more", atLeast{"body", 10}}
}

func requireField(name, field, gap string) Criterion {
	return Criterion{name, field + " is non-empty", gap, atLeast{field, 1}}
}

func requirePhrase(name, check, gap string, fields []string, any ...string) Criterion {
	return Criterion{name, check, gap, oneOf{fields, any}}
}

func decisionCriteria() []Criterion {
	return []Criterion{
		requireSubstance(),
		{"Rationale", "rationale is non-empty and ≥3 words", "why was it chosen?", atLeast{"rationale", 3}},
		requireField("Alternatives", "alternatives", "what else was an option?"),
		requireField("Reversibility", "reversibility", "is it reversible, or permanent?"),
		requirePhrase("Constraints", "Body or rationale says what it binds", "what does it bind?", []string{"body", "rationale"},
			"must", "never", "always", "shall", "cannot", "only", "binds", "constrains", "requires", "required", "forbids", "every", "each", "from now on", "no longer"),
	}
}

func observationCriteria() []Criterion {
	return []Criterion{
		requireSubstance(),
		{"Specificity", "Body contains a number, name, or concrete detail", "name it, or count it", funcRule(checkConcrete)},
		requireField("Source", "source", "where was it seen?"),
		{"Separation", "Body does not contain should, better, worse, means, implies", "that is a learning: write it as one",
			noneOf{"body", []string{"should", "better", "worse", "means", "implies"}}},
	}
}

func learningCriteria() []Criterion {
	return []Criterion{
		requireSubstance(),
		requireField("Evidence", "evidence", "which observation supports it?"),
		requirePhrase("Mechanism", "Body explains why or how", "why is it so?", []string{"body"},
			"because", "since", "so that", "therefore", "hence", "thus", "why", "how", "due to", "as a result", "causes", "caused by", "leads to", "makes", "the reason", "whenever", "in order to"),
		requireField("Applicability", "applicability", "is it local, general or provisional?"),
	}
}

func constraintCriteria() []Criterion {
	return []Criterion{
		requireSubstance(),
		requirePhrase("Clarity", "Body contains must, must not, never, always or shall", "what must or must not happen?", []string{"body"},
			"must", "mustn't", "never", "always", "shall"),
		requireField("Origin", "origin", "what produced it?"),
		requireField("Scope", "scope", "is it permanent, or until when?"),
	}
}

func handoffCriteria() []Criterion {
	return []Criterion{
		requireSubstance(),
		requirePhrase("Actionability", "Body describes a concrete next action", "what is to be done next?", []string{"body"},
			"next", "add", "agree", "answer", "ask", "build", "call", "change", "check", "choose", "close", "create", "decide", "delete", "deploy", "draft", "find", "finish", "fix", "implement",
			"land", "measure", "merge", "move", "open", "publish", "read", "release", "remove", "rename", "replace", "review", "run", "send", "ship", "split", "start", "test", "update", "verify", "write"),
		{"Blocker clarity", "blocked_by is non-empty, or body says unblocked", "what blocks it? say unblocked if nothing does",
			anyRule{atLeast{"blocked_by", 1}, oneOf{[]string{"body"}, []string{"unblocked", "not blocked", "nothing blocks", "no blocker", "no blockers"}}}},
		requireField("Ownership", "owner", "who owns it?"),
	}
}

func openCriteria() []Criterion {
	return []Criterion{
		requireSubstance(),
		{"Priority assigned", "priority matches `P\\d+(\\.\\d+)*`", "P1 is next", matches{"priority", priority()}},
		requirePhrase("Closure path", "Body names what would close it", "how does it close?", []string{"body"},
			"closes", "close", "closed", "until", "once", "settled", "resolved", "decision", "decides", "handoff", "done"),
		{"Specificity", "Title is concrete, ≥3 words", "what exactly is unresolved?", atLeast{"title", 3}},
		{"Owner clarity", "owner is non-empty, or body says who holds it", "who holds it?",
			anyRule{atLeast{"owner", 1}, oneOf{[]string{"body"}, []string{"held by", "holder", "holds it", "holds this", "owner", "owned by", "owns", "assigned to", "nobody", "no one", "i hold", "we hold"}}}},
	}
}

func tensionCriteria() []Criterion {
	return []Criterion{
		requireSubstance(),
		{"Two poles named", "between references ≥2 distinct artifacts", "name what is in conflict", refs{"between", 2}},
		{"Each pole sourced", "Each pole points to an artifact", "anchor it", funcRule(checkPoles)},
		requirePhrase("Genuine opposition", "Body shows that the poles conflict", "why can both not hold?", []string{"body"},
			"but", "whereas", "while", "however", "yet", "although", "contradicts", "contradict", "conflicts", "conflict", "cannot", "can't", "against", "versus", "vs", "disagree", "disagrees", "instead", "opposite", "not", "differs"),
		{"Closure path", "status is resolved:REF, or open with what would close it", "how does it close?", funcRule(checkClosure)},
	}
}
