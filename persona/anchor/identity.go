package anchor

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/odd-cli/odd/persona/octave"
)

// maxLine is how many bytes a topic or the id of a harness's session may have.
const maxLine = 500

// IdentityRequest asks for a session. Only Role is required.
type IdentityRequest struct {
	Role           string
	Mode           Mode       // "" is full
	Strictness     Strictness // "" is default, under lite quick
	Topic          string     // "" takes the focus from the branch
	HarnessSession string     // the harness's own id of the session, for its hook
}

// Identity opens a session: its directory with a handshake, and an answer that
// asks for BIND, or under express for COMMIT. Under untracked it only reads the
// constitution: nothing is written and nothing is unlocked.
func (d Desk) Identity(q IdentityRequest) Result {
	q, c, ps := d.checkRequest(q)
	if len(ps) > 0 {
		return refuseOutside("", ps...)
	}
	if q.Mode == Untracked {
		return Result{
			Success: true, Stage: "LOBBY", ConstitutionPath: c.Path, ConstitutionExcerpt: c.Excerpt,
			NextStep: "read only: tools that write stay locked; odd anchor identity " + q.Role + " opens a session",
		}
	}
	h, err := d.World.newHandshake(q, c)
	if err != nil {
		return refuseOutside("", persistProblem(err))
	}
	warnings := d.removeExpired()
	if err := d.Store.createSession(h); err != nil {
		return refuseOutside("", persistProblem(err))
	}
	r := h.answerOpened(c)
	r.Warnings = warnings
	return r
}

// checkRequest fills in what a request leaves out, and says what is wrong with it.
func (d Desk) checkRequest(q IdentityRequest) (IdentityRequest, Constitution, []Problem) {
	q, ps := q.withDefaults()
	if no := d.World.checkWorkTree(); no != nil {
		return q, Constitution{}, append(ps, no...)
	}
	c, err := d.World.Constitution(q.Role)
	switch {
	case q.Role == "":
	case err != nil:
		ps = append(ps, constitutionProblems(q.Role, err)...)
	default:
		ps = append(ps, d.World.checkCommitted(c, q)...)
	}
	return q, c, ps
}

// withDefaults fills in the defaults and says what is wrong; a role that is none is
// emptied.
func (q IdentityRequest) withDefaults() (IdentityRequest, []Problem) {
	var ps []Problem
	if name := roleName(q.Role); !roleForm().MatchString(name) {
		ps = append(ps, Problem{Code: RoleName, At: "role", Text: "this is no name of a role", Found: truncate(q.Role), Want: "lower-case letters, digits and hyphens"})
		q.Role = ""
	} else {
		q.Role = name
	}
	q.Mode = cmp.Or(q.Mode, Full)
	if !slices.Contains(append(trackedModes(), Untracked), q.Mode) {
		ps = append(ps, Problem{Code: ModeUnknown, At: "mode", Text: "there is no such mode", Found: truncate(string(q.Mode)), Want: "full, express, lite or untracked"})
	}
	if q.Strictness == "" && q.Mode == Lite {
		q.Strictness = Quick
	}
	q.Strictness = cmp.Or(q.Strictness, Default)
	if !slices.Contains(strictnessNames(), q.Strictness) {
		ps = append(ps, Problem{Code: StrictnessUnknown, At: "strictness", Text: "there is no such strictness", Found: truncate(string(q.Strictness)), Want: "quick, default or deep"})
	}
	for _, f := range []struct{ at, text string }{{"topic", q.Topic}, {"harness_session_id", q.HarnessSession}} {
		if hasHiddenText(f.text) || len(f.text) > maxLine {
			ps = append(ps, Problem{Code: Hidden, At: f.at, Text: fmt.Sprintf("it is not one visible line of at most %d bytes", maxLine), Want: "plain text on one line"})
		}
	}
	return q, ps
}

// constitutionProblems says why the constitution of a role cannot be read.
func constitutionProblems(role string, err error) []Problem {
	code := ConstBroken
	if errors.Is(err, fs.ErrNotExist) {
		code = ConstMissing
	}
	return problemsOf(fmt.Errorf("the constitution of %s does not read: %w", role, err), code, "constitution")
}

// checkCommitted says that a constitution is not HEAD's. To read it, under untracked, does
// no harm.
func (w World) checkCommitted(c Constitution, q IdentityRequest) []Problem {
	if w.Committed == nil || q.Mode == Untracked {
		return nil
	}
	why, ok := w.Committed(c.Path)
	if ok {
		return nil
	}
	return []Problem{{Code: ConstLoose, At: "constitution", Text: "the constitution of " + c.Role + " binds no session: " + why, Found: c.Path,
		Want: "the file as HEAD has it: a person commits it, or puts it back with git restore"}}
}

// isBound reports whether a token's permit holds now.
func (d Desk) isBound(token string) bool { return d.Store != nil && d.HasValid(token, "").Valid }

func (w World) newHandshake(q IdentityRequest, c Constitution) (Handshake, error) {
	token, err := newToken(w.Random)
	if err != nil {
		return Handshake{}, err
	}
	now := w.Now.UTC()
	return Handshake{
		Version: recordVersion, Token: token, Stage: AtIdentity, Role: q.Role, Mode: q.Mode, Strictness: q.Strictness,
		Topic: q.Topic, WorkTree: w.WorkTree, ConstPath: c.Path, ConstSHA256: c.SHA256,
		CreatedAt: now, UpdatedAt: now, ExpiresAt: now.Add(pendingFor), Retries: map[string]int{"context": 0, "proof": 0},
		HarnessSession: q.HarnessSession,
	}, nil
}

// answerOpened answers whoever opened the session, and asks for the next payload.
func (h Handshake) answerOpened(c Constitution) Result {
	r := Result{
		Success: true, Stage: string(AtIdentity), Token: h.Token, ConstitutionPath: c.Path, ConstitutionExcerpt: c.Excerpt,
		NextStep: nextCommand(AtIdentity, h.Mode, h.Token),
	}
	r.Guidance, r.Template = h.guide(c, nil)
	return r
}

// createSession writes a new session's directory under a temporary name, and renames it
// when it is whole. An existing directory of its token is an error.
func (s *Store) createSession(h Handshake) error {
	b, err := formatIndented(h)
	if err != nil {
		return err
	}
	d, err := s.lockState(true)
	if err != nil {
		return err
	}
	defer d.close()
	name, draft := pending+"/"+h.Token, pending+"/"+temporary+h.Token
	if err := d.mkdir(pending); err != nil {
		return err
	}
	if there, err := d.exists(name); there || err != nil {
		return errors.Join(fmt.Errorf("%s/%s: is there already", d.path, name), err)
	}
	if err = d.mkdir(draft); err == nil {
		err = d.write(draft+"/"+handshakeFile, b)
	}
	if err == nil {
		err = d.step("rename " + pending)
	}
	if err == nil {
		err = d.root.Rename(draft, name)
	}
	if err != nil {
		return errors.Join(err, d.root.RemoveAll(draft))
	}
	return d.sync(pending)
}

// phaseFile is the file in which a project may say its phase, as PHASE::WORD in
// any section.
const phaseFile = ".hestai/context/PROJECT-CONTEXT.oct.md"

// Phase returns the phase that a project says it is in. A project without the file keeps
// no phase, and that is no problem. It is a problem if the file cannot be read, says
// no phase, or says a placeholder or what is no word; the phase is then "".
func Phase(files fs.FS) (phase, problem string) {
	const name = phaseFile
	b, err := readSmall(files, name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", ""
	}
	if err != nil {
		return "", name + ": " + err.Error()
	}
	entries, bad := octave.Parse(b)
	if len(bad) > 0 {
		return "", fmt.Sprintf("%s:%d: %s; %s", name, bad[0].Line, bad[0].Message, bad[0].Hint)
	}
	said := listPhases(entries)
	if len(said) == 0 {
		return "", name + ": it says no phase; write PHASE::B1, or the word your project has for it"
	}
	first := said[0]
	switch {
	case len(said) > 1 && slices.ContainsFunc(said, func(r Rule) bool { return r.Text != first.Text }):
		return "", fmt.Sprintf("%s:%d: a second phase; keep the one of line %d or this", name, said[1].Line, first.Line)
	case isPlaceholder(first.Text):
		return "", fmt.Sprintf("%s:%d: PHASE::%s says nothing yet; write PHASE::B1, or the word your project has for it", name, first.Line, first.Text)
	case !isWord(first.Text, "_-.") || len(first.Text) > 64:
		return "", fmt.Sprintf("%s:%d: the phase is no word: letters, digits, _, - and .", name, first.Line)
	}
	return first.Text, ""
}

// listPhases returns the values of PHASE in blocks and sections.
func listPhases(entries []*octave.Entry) (out []Rule) {
	for _, e := range entries {
		if e.Key == "PHASE" && e.Kind >= octave.List {
			text, _, _ := strings.Cut(valueText(e), "[") // B1[since May]
			out = append(out, Rule{strings.TrimSpace(text), e.Line})
		} else if e.Kind < octave.List {
			out = append(out, listPhases(e.Items)...)
		}
	}
	return out
}

// isPlaceholder reports a value that only holds the place of one.
func isPlaceholder(s string) bool {
	return isGeneric(s) || slices.Contains([]string{"NA", "UNKNOWN", "PHASE"}, strings.ToUpper(s))
}
