package extract

import "strings"

// A duty is a phrase that obliges somebody, and how strongly: 3 as must does, 2 as should,
// 1 as need. Between the slashes stands one word each, of those named; "!" begins words that
// do not stand there, and "<" those that stand before the word which obliges. ^ is the
// beginning of a sentence, @person a word for people, @verb one that instructs, @number a
// number and _ any word.
type duty struct {
	phrase string
	weight int
}

// notDone are the verbs behind "should" that say what happens, not what is to be done.
const notDone = "work see now just still point have get output return print look receive produce show appear contain take result already then also give"

// duties are tried in order on every word; the first that fits says what it weighs. Those
// of weight 0 read like a duty and oblige nobody.
var duties = compilePatterns([]duty{
	{"<what how where which / <you we they / must should need ought", 0}, // of what the sentence tells of
	{"must mustn't mustn’t shall / !have likely surely", 3},
	{"forbidden prohibited mandatory", 3},
	{"<you / should / expect", 0},
	{"<this it that everything which / should / be", 0},
	{"should / be / able fine ok okay good enough safe sufficient available running visible similar redirected", 0},
	{"<this it that everything which / should / !" + notDone, 1},
	{"<!you this it / should / have take give", 2},
	{"should / " + notDone, 0},
	{"should / not / " + notDone, 0},
	{"should shouldn't shouldn’t ought", 2},
	{"^ / never / !mind", 3},
	{"<!would / never / be commit merge use share push put store send add change edit give ask accept allow leave rely write call take make", 3},
	{"^ / don't don’t / worry forget hesitate be panic feel want", 0},
	{"^ / don't don’t always avoid", 3},
	{"^ / do / not", 3},
	{"<!you we they i it that which these who people users to and / do / not / @verb", 2},
	{"not / allowed permitted acceptable tolerated accepted", 3},
	{"no / one / may should must can", 3},
	{"^ / nobody / !could was were had has knew knows noticed is", 3},
	{"may / not / see know need have be notice want get find", 0},
	{"<@person / may / not", 3},
	{"<is are be / required / to", 3},
	{"requires require / approval approvals consent agreement review majority", 2},
	{"require / _ / approval approvals review", 2},
	{"please / don't don’t / worry forget hesitate be panic feel", 0},
	{"please / do / not / worry forget hesitate be panic feel", 0},
	{"please / don't don’t never avoid", 3},
	{"please / do / not", 3},
	{"please / also review take see note refer visit contact open file feel let join help read follow go check consult have try reach", 0},
	{"please / @verb", 2},
	{"please / do be make only use", 2},
	{"<we / ask / that", 2},
	{"<we i they / can't can’t cannot", 0}, // nobody is told not to
	{"<@person / can't can’t cannot", 2},
	{"responsibility / to", 4},
	{"<be / tolerated", 2},
	{"be / sure / to", 2},
	{"try / to / not never", 2},
	{"<we / expect / it", 0},
	{"<we and / expect / all contributors everyone you members participants", 2},
	{"<is are / expected / to", 2},
	{"<!don't doesn't not may might will would you'll you / need needs have has / to / !be", 1},
	{"eligible entitled / for to", 2},
	{"reimburse reimburses reimbursed", 2},
	{"<we you company / offer offers provide provides give gives", 2},
	{"<you employees everyone / can / take request expense claim", 2},
	{"<you you’ll you'll employees / receive accrue", 2},
	{"within / @number / days hours weeks months day week month business working calendar", 2},
	{"at / least / _ / approvals reviewers maintainers members approval people votes reviews", 2},
	{"<we / follow prefer require recommend discourage enforce accept expect", 2},
	{"<we / encourage strive aim", 1},
	{"will / be / closed reviewed discussed approved considered rejected accepted removed resolved decided handled assigned banned blocked merged deleted given", 2},
	{"can may / only", 3},
	{"<can / be / _ / only", 3},
	{"<^ / prefer", 2},
	{"<is are / required / for / all any every each new", 2},
	{"<we / do / not / all have hold know see think want mean believe need control guarantee dictate", 0},
	{"<we / do / not", 2},
	{"<we / don't don’t / have hold know see think want mean believe need control guarantee dictate", 0},
	{"<we / don't don’t", 2},
	{"will / not / be", 2},
	{"enforce enforces enforced discouraged", 2},
	{"strongly / recommend recommended encourage encouraged advise discourage caution", 2},
	{"qualifies qualify / for", 2},
	{"majority / of", 0},
	{"consensus majority quorum veto supermajority unanimous", 2},
})

// customs are how a document that governs says what holds, without a word that obliges.
var customs = compilePatterns([]duty{
	{"<is are be been / agreed approved elected appointed nominated selected chosen removed dissolved amended made decided reviewed given granted managed handled / by with through at to", 2},
	{"<@person / will shall", 2},
	{"<@person / may", 2},
	{"<given have has for of within / @number / days hours weeks months years", 2},
	{"at / least / @number", 2},
	{"no / more / than", 2},
	{"<is are / composed comprised / of", 2},
	{"consists consist / of / _", 2},
	{"<is are / defined elected appointed / as by for", 2},
	{"will shall / be / !able a the", 2},
})

// pattern is a duty cut into its words; before is how many stand before the one that obliges.
type pattern struct {
	words          []string
	before, weight int
}

func compilePatterns(ds []duty) []pattern {
	out := make([]pattern, len(ds))
	for i, d := range ds {
		p := pattern{words: strings.Split(d.phrase, " / "), weight: d.weight}
		for at, w := range p.words {
			if before := strings.TrimPrefix(w, "<"); before != w || w == "^" {
				p.words[at], p.before = before, at+1
			}
		}
		out[i] = p
	}
	return out
}

// fits reports whether p stands in ws with the word that obliges at i.
func (p pattern) fits(ws []string, i int) bool {
	for k, want := range p.words {
		w := ""
		if at := i - p.before + k; at >= 0 && at < len(ws) {
			w = ws[at]
		}
		want, not := strings.CutPrefix(want, "!")
		var is bool
		switch want {
		case "^":
			is = w == ""
		case "_":
			is = w != ""
		case "@person":
			is = personNoun(singular(w))
		case "@verb":
			is = isImperative(w)
		case "@number":
			is = strings.ContainsAny(w, "0123456789") || in("one two three four five six seven ten twelve fourteen thirty sixty ninety", w)
		default:
			is = in(want, w)
		}
		if is == not {
			return false
		}
	}
	return true
}

// findDuty finds the word that obliges most, and its weight: 0 where none does.
func findDuty(ws []string) (at, weight int) { return strongestOf(duties, ws) }

func strongestOf(table []pattern, ws []string) (at, weight int) {
	for i := 0; i < len(ws); i++ {
		for _, p := range table {
			if !p.fits(ws, i) {
				continue
			}
			v := p.weight
			if v == 2 && (len(ws) > 1 && in("that which who", ws[1]) || i > 0 && in("goal aim idea", ws[i-1])) {
				v = 0 // of the noun before it
			}
			if v > weight {
				at, weight = i, v
			}
			if v == 0 && p.before == 0 {
				i += len(p.words) - 1
			}
			break
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
