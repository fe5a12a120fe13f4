package board

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/okf"
)

// Filing is the content of a new task. Empty fields write no key.
type Filing struct {
	ID           okf.ID // lower-case slug; Slug of the title when empty
	Title        string // required
	Description  string
	Kind         string
	Priority     string
	Role         string
	Goal         string
	Team         string
	Signal       string // as in Task
	Dependencies []string
	Soft         []string
	Acceptance   []string
	Inputs       []string
	Paths        []string
	Commands     [][]string // a person's only
	Budget       budget.MicroUSD
	MaxTurns     int
	ContractRole string // this and the next six as in Task
	Persona      string
	Surface      string
	Engagement   string
	Voice        string
	Handoffs     []string
	Artifact     string
	Tags         []string
	Body         string
	Ready        bool   // odd.toml lets it run without a person's odd task ready
	By           string // OKF actor: "human:ann@example.org", or the agent's
	At           time.Time
}

// New returns the file of a new task, tasks/ID.md, in backlog unless f is Ready.
// An actor who is no person may give no commands, no budget and no approval tags, and its
// task is inferred. Parse accepts what New returns.
func New(f Filing) (okf.Atom, error) {
	person := okf.Stamp{By: f.By}.Human()
	f.Title = okf.OneLine(f.Title)
	if f.ID == "" {
		f.ID = okf.ID(TitleID(f.Title))
	}
	switch {
	case f.Title == "":
		return okf.Atom{}, errors.New("new task: the title is empty; say in a few words what is to be done")
	case f.ID == "":
		return okf.Atom{}, fmt.Errorf("new task %q: the title has no a-z or 0-9 to make an id from; choose one with --id, of lower-case letters, digits and -", f.Title)
	case string(f.ID) != slugify(string(f.ID)):
		return okf.Atom{}, fmt.Errorf("new task %q: the id may have only lower-case letters, digits and -, at most 60; choose another with --id", f.ID)
	case f.ID == "index" || f.ID == "log":
		return okf.Atom{}, fmt.Errorf("new task: %s.md is a reserved file name; choose another with --id", f.ID)
	case f.By == "":
		return okf.Atom{}, fmt.Errorf("new task %s: no author is given; set git config user.email", f.ID)
	case !person && len(f.Commands) > 0:
		return okf.Atom{}, fmt.Errorf("new task %s: %s is not a person, and only a person may add commands; leave them out", f.ID, f.By)
	case !person && f.Budget > 0:
		return okf.Atom{}, fmt.Errorf("new task %s: %s is not a person, and only a person says what a task may cost; leave budget_usd out", f.ID, f.By)
	case !person && hasApprovalTag(f.Tags):
		return okf.Atom{}, fmt.Errorf("new task %s: %s is not a person, and only odd approve writes approved- tags; leave them out", f.ID, f.By)
	}
	a, err := okf.New("tasks/"+string(f.ID)+".md", f.buildFields(person), PrintBody(f.Title, f.Body))
	if err != nil {
		return okf.Atom{}, err
	}
	if _, err := Parse(&a); err != nil {
		return okf.Atom{}, err
	}
	return a, nil
}

// mostTitle is how many characters the title of a task may have that somebody gives it.
const mostTitle = 200

// CheckTitle refuses a title that is longer than a list of tasks can show.
func CheckTitle(title string) error {
	if n := utf8.RuneCountInString(title); n > mostTitle {
		return fmt.Errorf("the title has %d characters, over the limit of %d; shorten it, and put the text into the task's body, which odd task add --body FILE reads", n, mostTitle)
	}
	return nil
}

// NewOn returns the task that f asks for on the board of g. Where the task of the same title is done, and f
// names no id, it is the next one with a number.
func NewOn(g *okf.Graph, f Filing) (okf.Atom, error) {
	a, err := New(f)
	title := a.ID
	for n := 2; err == nil && f.ID != title && isDone(g, a.ID); n++ {
		f.ID = okf.ID(fmt.Sprintf("%s-%d", title, n))
		a, err = New(f)
	}
	return a, err
}

func isDone(g *okf.Graph, id okf.ID) bool {
	a := g.ByID(id)
	if a == nil {
		return false
	}
	t, err := ReadTask(g, a)
	return err == nil && t.State == Done
}

func (f Filing) buildFields(person bool) []okf.Field {
	confidence := okf.Inferred
	if person {
		confidence = okf.Asserted
	}
	out := []okf.Field{{Key: "type", Value: Type}, {Key: "id", Value: string(f.ID)}, {Key: "title", Value: f.Title}}
	put := func(key string, v any, set bool) {
		if set {
			out = append(out, okf.Field{Key: key, Value: v})
		}
	}
	text := func(key, s string) { put(key, okf.OneLine(s), okf.OneLine(s) != "") }
	list := func(key string, l []string) { put(key, toAny(l), len(l) > 0) }
	text("description", f.Description)
	list("tags", f.Tags)
	put("confidence", confidence.String(), true)
	put("generated", map[string]any{"by": f.By, "at": f.At.UTC().Format(time.RFC3339)}, true)
	state := Backlog
	if f.Ready {
		state = Ready
	}
	put("state", string(state), true)
	text("kind", f.Kind)
	text("priority", f.Priority)
	text("role", f.Role)
	text("goal", f.Goal)
	text("team", f.Team)
	text("signal", f.Signal)
	list("dependencies", f.Dependencies)
	list("soft_dependencies", f.Soft)
	list("acceptance", f.Acceptance)
	list("inputs", f.Inputs)
	list("paths", f.Paths)
	var commands []any
	for _, argv := range f.Commands {
		commands = append(commands, toAny(argv))
	}
	put("commands", commands, len(commands) > 0)
	put("budget_usd", f.Budget.String(), f.Budget > 0)
	put("max_turns", f.MaxTurns, f.MaxTurns > 0)
	text("contract_role", f.ContractRole)
	text("persona", f.Persona)
	text("surface", f.Surface)
	text("engagement", f.Engagement)
	text("voice", f.Voice)
	list("handoff", f.Handoffs)
	text("artifact", f.Artifact)
	return out
}

// PrintBody returns the body of a task's file: its title and the text that describes it.
func PrintBody(title, text string) string {
	body := "\n# " + title + "\n"
	if text = strings.TrimSpace(okf.Visible(text)); text != "" {
		body += "\n" + text + "\n"
	}
	return body
}

func hasApprovalTag(tags []string) bool {
	return slices.ContainsFunc(tags, func(t string) bool { return strings.HasPrefix(t, "approved-") })
}

func toAny(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

// slugMax is the most bytes of a slug. With "odd/review/" before it and an attempt after it,
// a ref stays far below the 255 bytes that file systems allow.
const slugMax = 60

// Slug returns the part of a review branch that names a task: lower case, [a-z0-9-], at most
// 60 bytes, never empty. An id of that form is its own slug. Any other id keeps what it can
// of its last part. It gets the first 8 hex digits of its SHA-256, so that a/b, x/b and B
// differ. Git accepts every slug as a part of a ref name.
func Slug(id okf.ID) string {
	s := string(id)
	if slugify(s) == s && s != "" {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	mark := hex.EncodeToString(sum[:4])
	stem := slugify(s[strings.LastIndexByte(s, '/')+1:])
	if most := slugMax - 1 - len(mark); len(stem) > most {
		stem = strings.TrimRight(stem[:most], "-")
	}
	if stem == "" {
		return "task-" + mark
	}
	return stem + "-" + mark
}

// slugify is dashify, cut to slugMax.
func slugify(s string) string {
	out := dashify(s)
	if len(out) > slugMax {
		out = strings.TrimRight(out[:slugMax], "-")
	}
	return out
}

// NoTask says that the task of a name was not found, from the error of Graph.Find.
func NoTask(err error) string {
	return "task " + strings.Replace(err.Error(), okf.ErrNotFound.Error(), "no such task", 1)
}

// TitleID returns the id that a title gives: lower case, [a-z0-9-], at most 60 bytes, cut
// after a word if one ends in the second half. It is "" for a title without such letters.
func TitleID(s string) string {
	out := dashify(s)
	if len(out) > slugMax {
		if end := strings.LastIndexByte(out[:slugMax+1], '-'); end > slugMax/2 {
			return out[:end]
		}
	}
	return slugify(s)
}

// dashify returns s in lower case with every run of characters other than letters and digits
// as one "-", and none at the ends.
func dashify(s string) string {
	var b strings.Builder
	gap := false
	for _, r := range norm.NFKD.String(strings.ToLower(s)) {
		if unicode.Is(unicode.Mn, r) {
			continue // ü is u
		}
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			if gap && b.Len() > 0 {
				b.WriteByte('-')
			}
			b.WriteRune(r)
			gap = false
			continue
		}
		gap = true
	}
	return b.String()
}
