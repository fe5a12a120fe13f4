package extract

import "strings"

// modal finds the word that obliges, and how strongly: 3 for must, 2 for should, 1 for
// need. What reads alike and obliges nobody weighs 0.
func modal(ws []string) (at, weight int) {
	word := func(i int) string {
		if i >= 0 && i < len(ws) {
			return ws[i]
		}
		return ""
	}
	for i, w := range ws {
		next, last := word(i+1), word(i-1)
		v := 0
		switch {
		case in("must mustn't mustn’t shall", w) && !in("have likely surely", next), in("forbidden prohibited mandatory", w) && last != "not" && word(i-2) != "not":
			v = 3
		case w == "should" || w == "shouldn't" || w == "shouldn’t" || w == "ought":
			if word(i+1) == "not" {
				next = word(i + 2)
			}
			if !in("work see now just still point have get output return print look be receive produce show appear contain take result already then also give", next) ||
				in("be", next) && !in("able fine ok okay good enough safe sufficient available running visible similar redirected", word(i+2)) && !in("this it that everything which", last) {
				v = 2
			}
			if next == "have" && (strings.HasSuffix(word(i+2), "ed") || in("been had done seen made taken", word(i+2))) {
				v = 0
			} else if in("this it that which everything", last) && v > 0 {
				v = 1
			}
			if in("have take give", next) && !in("you this it", last) {
				v = 2
			}
		case w == "never" && i == 0 && next != "mind", w == "never" && in("be commit merge use share push put store send add change edit give ask accept allow leave rely write call take make", next) && last != "would":
			v = 3
		case i == 0 && (w == "don't" || w == "don’t" || w == "always" || w == "avoid"), i == 0 && w == "do" && next == "not":
			v = 3
			if in("worry forget hesitate be panic", word(i+1)) || next == "not" && in("worry forget hesitate panic", word(i+2)) {
				v = 0
			}
		case w == "not" && in("allowed permitted acceptable tolerated accepted", next), w == "no" && next == "one" && in("may should must can", word(i+2)),
			w == "nobody" && i == 0 && !in("could was were had has knew knows noticed is", next), w == "only" && in("may must", last):
			v = 3
		case w == "may" && next == "not" && i > 0 && personNoun(singular(last)) && !in("see know need have be notice want get find", word(i+2)), w == "may" && next == "only":
			v = 3
		case w == "required" && in("is are", last) && !in("if for when", next), w == "required" && next == "to" && in("is are be", last), w == "requires" && in("approval approvals consent agreement review majority", next),
			w == "require" && (in("approval approvals consent agreement review", next) || in("approval approvals review", word(i+2))):
			v = 2
			if w == "required" && next == "to" {
				v = 3
			}
		case w == "please" && (imperative(next) || in("do be don't don’t make only never use", next)) && !in("see note refer visit contact open file feel let join help read follow go check consult have try reach", next),
			w == "ask" && next == "that" && last == "we", in("can't can’t", w) && i > 0 && personNoun(singular(last)), w == "responsibility" && next == "to", w == "tolerated" && last == "be":
			v = 2
		case w == "make" && next == "sure" && last == "please", w == "be" && next == "sure" && word(i+2) == "to",
			w == "expect" && in("all contributors everyone you members participants", next) && in("we and", last),
			w == "do" && next == "not" && i > 0 && imperative(word(i+2)) && !in("you we they i it that which these who people users to and", last) && !in("need have worry get", word(i+2)):
			v = 2
		case w == "expected" && next == "to" && in("is are", last):
			v = 2
		case in("need needs have has", w) && next == "to" && !in("don't doesn't not may might will would you'll you", last) && word(i+2) != "be":
			v = 1
		case in("eligible entitled", w) && in("for to", next), in("reimburse reimburses reimbursed", w) && i > 0,
			in("offer offers pay pays cover covers provide provides give gives", w) && in("we you company", last), w == "can" && in("take request expense claim use", next) && in("you employees everyone", last),
			in("receive accrue", w) && in("you you’ll you'll employees", last):
			v = 2
		case w == "cannot" && i > 0 && personNoun(singular(last)):
			v = 2
		case w == "within" && (in("days hours weeks months day week month", word(i+2)) || in("business working calendar", word(i+2))) && strings.ContainsAny(next, "0123456789"),
			w == "at" && next == "least" && in("approvals reviewers maintainers members approval people votes reviews", word(i+3)):
			v = 2
		}
		if v == 2 && (in("that which who", word(1)) || in("goal aim idea", last)) {
			v = 0 // of the noun before it
		}
		if v > weight {
			at, weight = i, v
		}
	}
	return at, weight
}

// personNoun reports whether w, singular, is somebody who can be obliged.
func personNoun(w string) bool {
	return in("you we i they anyone everyone everybody nobody someone who one person people individual member user employee staff colleague teammate contributor "+
		"maintainer committer collaborator reviewer approver author owner lead chair manager engineer developer moderator participant organizer "+
		"organiser team committee council board group community sig wg subproject candidate nominee voter officer operator admin administrator "+
		"company organization organisation agency vendor contractor supervisor applicant newcomer tsc cpc coc project mentor mentee host facilitator "+
		"responder shadow leader caller presenter speaker submitter reporter releaser steward representative delegate hire agent", w)
}

// workNoun reports whether w, singular, is a thing people make or decide at work.
func workNoun(w string) bool {
	return in("pr prs pull-request request commit change patch issue code test documentation docs doc release vote meeting decision proposal review approval "+
		"branch secret password credential key account laptop device data information report incident vulnerability policy rule document page name message "+
		"comment license licence repository repo feature bug fix contribution election term nomination seat quorum majority consensus agenda minute note ticket "+
		"email invoice expense leave vacation holiday time contract travel card backup deployment feature-flag dependency adr design spec runbook alert dashboard "+
		"resource module folder directory script title description label heading link image style format event conduct behavior behaviour discussion", w)
}

// thingNoun reports whether w, singular, is a part of a program.
func thingNoun(w string) bool {
	return in("function method value field parameter argument option flag variable object class struct type interface array string integer header token response "+
		"server client cluster node pod container process program command compiler parser handler middleware instance callback pointer buffer cache queue "+
		"database table column query index connection socket port url path endpoint api config setting property attribute element component kubelet controller "+
		"scheduler system service browser app application machine host network packet byte signature payload schema transaction block validator chain ibc "+
		"keeper store iterator amount account-number gas module-account denomination denom output input result state bucket metric", w)
}
