package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/journal/memory"
)

// Tier is what a change may do by itself, one of Tiers.
type Tier string

// The tiers, from the lowest.
const (
	SafeAuto         Tier = "SAFE_AUTO"         // may land by itself where configuration lets it
	NotifyApply      Tier = "NOTIFY_APPLY"      // may land after a preview that a person can stop
	ApprovalRequired Tier = "APPROVAL_REQUIRED" // waits for a person's yes
	NeverByMachine   Tier = "BLOCKED"           // only a person makes this change
)

func (t Tier) rank() int { return slices.Index(Tiers(), string(t)) }

// nextTier returns the next higher tier of those that may land by themselves.
func (t Tier) nextTier() Tier {
	if t == SafeAuto {
		return NotifyApply
	}
	return t.Raise(ApprovalRequired)
}

// Raise is the higher of two tiers. There is no way to lower one. What is no tier
// counts as one that waits for a person.
func (t Tier) Raise(to Tier) Tier {
	if t.rank() < 0 {
		t = ApprovalRequired
	}
	if to.rank() < 0 {
		to = ApprovalRequired
	}
	if to.rank() > t.rank() {
		return to
	}
	return t
}

// Hours are hours of the day in which nothing lands unseen, from the first up to
// and without the last, over midnight where the last is the smaller. Two that are
// the same are the whole day.
type Hours struct {
	From, To int            // 0 to 23
	Zone     *time.Location // nil is UTC
}

func (h Hours) containHour(now time.Time) bool {
	zone := h.Zone
	if zone == nil {
		zone = time.UTC
	}
	span := (h.To - h.From + 24) % 24
	return span == 0 || (now.In(zone).Hour()-h.From+24)%24 < span
}

// Policy is what configuration says about risk. Its lists add to what is built in
// and take nothing from it. A threshold below what is built in is a stricter one
// and stands; so does a looser one, which is a person's word in odd.toml.
type Policy struct {
	MinTier      Tier     // no change has a lower one; "" is none
	Quiet        *Hours   // nil: none
	Observe      bool     // nothing lands without a person
	Core         []string // globs of what the rest stands on
	Protected    []string // globs of what no machine changes
	Security     []string // globs of what is security-sensitive besides what its words say
	MaxFiles     int      // more need approval
	Blast        int      // a larger blast radius needs approval
	MachineBlast int      // and for a task that no person filed
	Confidence   int      // a lower test confidence, in hundredths, needs approval
}

// Made is how the sessions of a change made it, as its op remembers.
type Made struct {
	Seen    bool   // odd saw all that they read and did
	Unread  string // what they should have looked at besides for a change like this, "" for nothing
	Refused string // the rules that refused a candidate before this one, "" for none
}

// Made is how o's change was made.
func (o Op) Made() Made {
	return Made{Seen: o.Fact(FactSeen) == "yes", Unread: o.Fact(FactUnread), Refused: o.Fact(FactRefused)}
}

// Facts are what an op remembers of m.
func (m Made) Facts() map[string]string {
	set := map[string]string{}
	if m.Seen {
		set[FactSeen] = "yes"
	}
	for name, text := range map[string]string{FactUnread: m.Unread, FactRefused: m.Refused} {
		if text != "" {
			set[name] = text
		}
	}
	return set
}

// Ruling is what one rule said of one change.
type Ruling struct {
	Code    string   `json:"code"`
	Tier    Tier     `json:"tier"`
	Meaning string   `json:"meaning"`
	Matched bool     `json:"matched"`
	Because []string `json:"because,omitempty"`
	Error   string   `json:"error,omitempty"` // it could not tell
	Way     string   `json:"fix,omitempty"`
}

// Verdict is the tier of a change and everything that made it.
type Verdict struct {
	Tier    Tier     `json:"tier"`
	Code    string   `json:"code"` // of the rule that won, or of what raised the tier
	Meaning string   `json:"meaning"`
	Because []string `json:"because,omitempty"`
	Way     string   `json:"fix"`
	Rule    string   `json:"rule"` // that won on the ladder, before anything was raised
	Ladder  []Ruling `json:"ladder"`
	Raised  []Ruling `json:"raises"`
	Rules   string   `json:"rules_hash"`
	Profile Profile  `json:"profile"`

	Past []memory.Reputation `json:"past,omitempty"` // what is remembered of the files
}

// Assess judges a change: the first row of the ladder that holds says the tier,
// and what raises tiers may raise it. Every row is asked, so that the verdict
// lists all that hold. A row that cannot tell holds for nobody and sends the
// change to a person. The last row holds where no other does.
func Assess(e Evidence) Verdict {
	v := Verdict{Tier: SafeAuto, Profile: newProfile(e), Rules: RulesHash(e.Policy), Past: e.Past.Of(Candidate{Files: e.Files}.Paths())}
	a := ruleInput{Profile: v.Profile, e: e}
	for _, r := range ladder {
		said := r.evaluateRule(a)
		said.Matched = said.Matched && (v.Code == "" || r.tier != SafeAuto)
		v.Ladder = append(v.Ladder, said)
		if said.Matched && v.Code == "" {
			v.takeRuling(said)
		}
	}
	v.Rule, a.won = v.Code, v.Tier
	for _, r := range raises {
		said := r.evaluateRule(a)
		v.Raised = append(v.Raised, said)
		if said.Matched && v.Tier.Raise(said.Tier) != v.Tier {
			v.takeRuling(said)
		}
	}
	return v
}

func (v *Verdict) takeRuling(r Ruling) {
	v.Tier, v.Code, v.Meaning, v.Because, v.Way = v.Tier.Raise(r.Tier), r.Code, r.Meaning, r.Because, r.Way
}

// Text says in one line why the tier is what it is.
func (v Verdict) Text() string {
	if len(v.Because) == 0 {
		return v.Meaning
	}
	return v.Meaning + ": " + strings.Join(v.Because, "; ")
}

// Reasons are the rules that made the tier and those that speak for it, a line
// each: the code, and what it met.
func (v Verdict) Reasons() []string {
	var out []string
	for _, r := range slices.Concat(v.Ladder, v.Raised) {
		if !r.Matched && r.Error == "" {
			continue
		}
		met := strings.Join(r.Because, "; ")
		if r.Error != "" {
			met = r.Error
		}
		out = append(out, strings.TrimSuffix(fmt.Sprintf("%s (%s): %s", r.Code, r.Tier, met), ": "))
	}
	return out
}

// Foresee judges what a task may change before anything is changed: each file by
// itself, and the verdict is that of the lowest tier, which no change within the
// task's paths can get below. BLOCKED means that no change there is one a machine
// may make.
func Foresee(e Evidence) Verdict {
	var least Verdict
	for i, f := range e.Files {
		one := e
		one.Files = []Edit{f}
		if v := Assess(one); i == 0 || v.Tier.rank() < least.Tier.rank() {
			least = v
		}
		if least.Tier == SafeAuto {
			break
		}
	}
	if len(e.Files) == 0 {
		return Assess(e)
	}
	return least
}

// ruleInput is what a row is asked about.
type ruleInput struct {
	Profile
	e   Evidence
	won Tier // on the ladder, before anything is raised
}

// rule is one row of a table.
type rule struct {
	code    string
	tier    Tier
	meaning string
	way     string
	holds   func(ruleInput) []string // why it holds, "" for nothing to add; nil: where the profile touches something by this code
}

// byGraph are the rows that cannot tell where the import graph could not be read.
var byGraph = []string{"machine_blast_radius", "blast_radius_exceeded", "low_test_confidence"}

// movingTiers are the rows whose tier depends on what they are asked about.
var movingTiers = map[string]func(ruleInput) Tier{
	"regression_risk": func(a ruleInput) Tier { return a.won.nextTier() },
	"floor_min_tier":  func(a ruleInput) Tier { return a.e.Policy.MinTier },
}

func (r rule) describeRule() Ruling {
	return Ruling{Code: r.code, Tier: r.tier, Meaning: r.meaning, Way: r.way}
}

func (r rule) evaluateRule(a ruleInput) (out Ruling) {
	out = r.describeRule()
	if slices.Contains(byGraph, r.code) && len(a.graphTrouble) > 0 {
		out.Error = strings.Join(a.graphTrouble, "; ")
		return out
	}
	because := a.Touches[r.code]
	if r.holds != nil {
		because = r.holds(a)
	}
	out.Matched = len(because) > 0
	for _, s := range because {
		if s != "" {
			out.Because = append(out.Because, s)
		}
	}
	if to := movingTiers[r.code]; to != nil && out.Matched {
		out.Tier = to(a)
	}
	return out
}

// rulesVersion changes with every change of what a row means.
const rulesVersion = "risk.3"

// RulesHash is the SHA-256, in hex, of the two tables, the words that make a path
// sensitive, and the policy: of all that a verdict follows from besides the
// change.
func RulesHash(pol Policy) string {
	var rows [][]string
	for _, r := range slices.Concat(ladder, raises) {
		rows = append(rows, []string{r.code, string(r.tier), r.meaning})
	}
	quiet := ""
	if q := pol.Quiet; q != nil {
		quiet = fmt.Sprintf("%d-%d %v", q.From, q.To, q.Zone)
	}
	pol.Quiet = nil
	b, _ := json.Marshal([]any{ // strings and integers
		rulesVersion, rows, securityWords, securityStems, innocentStems, guiltyStems, tokenizers, pol, quiet,
	})
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// RiskRules lists the rules of a verdict, each with its tier and the way out: the
// ladder's in its order, then those that raise a tier.
func RiskRules() []Ruling {
	var out []Ruling
	for _, r := range slices.Concat(ladder, raises) {
		out = append(out, r.describeRule())
	}
	return out
}

func describeExcess(n, most int, what string) []string {
	if n <= most {
		return nil
	}
	return []string{fmt.Sprintf("%d %s, at most %d", n, what, most)}
}
