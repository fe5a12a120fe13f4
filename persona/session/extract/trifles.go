package extract

// trifle is the words up to which a rule says little, unless it says what people must do.
const trifle = 28

// isTrifling reports whether a rule that e quotes is not worth an atom: its first sentence leaves what holds to another document or to what stands
// above its heading, or it is a few words of advice. In a charter, and for agents, few words are a rule.
func (e evidence) isTrifling() bool {
	var ts []string
	n, heads, hard := 0, 0, e.doc.isCharter() || e.doc.isForAgents()
	for _, b := range e.passage {
		if b.kind == caption {
			heads++
		}
		if heads > 1 || b.kind == table || b.kind == code || len(b.items) > 1 {
			hard = true
		}
		for _, t := range b.listTexts() {
			ts = append(ts, t.run.text)
			for _, q := range splitSentences(t.run.text) {
				ws := words(q)
				n += len(ws)
				at, weight := findDuty(ws)
				hard = hard || weight > 2 && !(at == 0 && in("avoid please", ws[0]))
			}
		}
	}
	if len(ts) == 0 {
		return false
	}
	first := firstOf(ts[0])
	return len(ts) == 1 && (ofAnother().MatchString(first) || beyond().MatchString(first)) || n < trifle && !hard
}

// ofAnother are the words of a sentence that leaves what holds to another document.
var ofAnother = lazy(`(?i)\b(?:follow|read|view|see|respect|adhere to|abide by|comply with)(?: all)?(?: of)? (?:(?:the|our|its|their)(?: \S+){0,2}|\S+['’]s(?: \S+)?) (?:code of conduct|polic(?:y|ies))\b|\bwe publish (?:a|an|the|our)\b`)

// beyond are the words of an opening that goes on from what stands above its heading.
var beyond = lazy(`(?i)\b(?:specified|described|mentioned|listed|stated|defined|outlined|noted|given|explained|covered|discussed) (?:above|earlier)\b|\bthe above\b|\babove[- ]mentioned\b`)
