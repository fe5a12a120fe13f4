package anchor

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// editor is the constitution most rows are held against.
func editor() Constitution {
	return Constitution{
		Role: "editor", Cognition: "LOGOS", Archetypes: []string{"ATLAS<foundation>", "HERMES", "HEPHAESTUS"},
		Path: "roles/editor.oct.md", Lines: 80, BlockedPath: []string{"src/core/**"},
		MustNever: []Rule{{Text: "never guess", Line: 12}}, MustAlways: []Rule{{Text: "always read first", Line: 14}},
	}
}

// codesOf returns the codes of problems, in order.
func codesOf(ps []Problem) string {
	var out []string
	for _, p := range ps {
		out = append(out, string(p.Code))
	}
	return strings.Join(out, " ")
}

// want compares codes, and that each problem says where, and what to write instead.
func wantCodes(t *testing.T, ps []Problem, want ...Code) {
	t.Helper()
	var all []string
	for _, c := range want {
		all = append(all, string(c))
	}
	if d := cmp.Diff(strings.Join(all, " "), codesOf(ps)); d != "" {
		t.Errorf("codes (-want +got):\n%s\n%v", d, ps)
	}
	for _, p := range ps {
		if p.At == "" || p.Text == "" || p.Want == "" {
			t.Errorf("problem says too little: %+v", p)
		}
	}
}

const envelope = "===IDENTITY===\nMETA:\n  TYPE::IDENTITY\n  VERSION::\"5.0\"\n"

func TestBindRows(t *testing.T) {
	t.Parallel()
	ok := Bind{Role: "editor", Cognition: "LOGOS", Archetypes: []string{"ATLAS", "HERMES"}, Authority: Authority{Scope: "the docs"}}
	canonical := envelope + "BIND:\n  ROLE::editor\n  COGNITION::LOGOS\n  ARCHETYPES::[ATLAS,HERMES]\n  AUTHORITY::\"RESPONSIBLE[the docs]\"\n===END===\n"
	without := func(key string) string {
		var out []string
		for _, l := range strings.Split(canonical, "\n") {
			if !strings.Contains(l, key+"::") {
				out = append(out, l)
			}
		}
		return strings.Join(out, "\n")
	}
	with := func(old, new string) string { return strings.Replace(canonical, old, new, 1) }
	for _, row := range []struct {
		name, payload string
		role          string // asked for; "" is editor
		codes         []Code
	}{
		{"B1 ok", canonical, "", nil},
		{"B1 ok without envelope", "BIND:\n  ROLE::editor\n  COGNITION::LOGOS\n  ARCHETYPES::[ATLAS,HERMES]\n  AUTHORITY::RESPONSIBLE[the docs]\n", "", nil},
		{"B1 ok with headings", "===RAPH_VECTOR::v4.0===\n## BIND\nROLE::editor\nCOGNITION::LOGOS::ATLAS⊕HERMES\nAUTHORITY::RESPONSIBLE[the docs]\n===END===\n", "", nil},
		{"B1 ok in a fence, with talk", "Here is who I am:\n```octave\n" + canonical + "```\nAnything else?\n", "", nil},
		{"B1 ok with CRLF and BOM", "\ufeff" + strings.ReplaceAll(canonical, "\n", "\r\n"), "", nil},
		{"B1 ok list over lines", with("[ATLAS,HERMES]", "[\n    ATLAS,\n    HERMES\n  ]"), "", nil},
		{"B1 ok as a section", "§1::BIND\n  ROLE::editor\n  COGNITION::LOGOS\n  ARCHETYPES::[ATLAS<x>,HERMES]\n  AUTHORITY::RESPONSIBLE<the docs>\n", "", nil},
		{"B2 no ROLE", without("ROLE"), "", []Code{BindRole}},
		{"B3 no COGNITION", without("COGNITION"), "", []Code{BindUnsaid}},
		{"B4 no AUTHORITY", without("AUTHORITY"), "", []Code{BindAuthority}},
		{"B5 bad cognition", with("LOGOS", "MYTHOS"), "", []Code{BindCognition}},
		{"B5 another's cognition", with("LOGOS", "PATHOS"), "", []Code{BindCognition}},
		{"B6 bad archetype", with("HERMES", "HERACLES"), "", []Code{BindArchetype}},
		{"B6 archetype by its beginning", with("ATLAS,", "ATLASFOO,"), "", []Code{BindArchetype}},
		{"B7 empty ROLE", with("ROLE::editor", `ROLE::""`), "", []Code{BindRole}},
		{"B7 ROLE no name", with("ROLE::editor", `ROLE::"the editor"`), "", []Code{BindRole}},
		{"B8 other ROLE", canonical, "auditor", []Code{BindMismatch}},
		{"B9 UPPER_SNAKE", with("ROLE::editor", "ROLE::EDITOR"), "EDITOR", nil},
		{"B10 DELEGATED", with("RESPONSIBLE[the docs]", "DELEGATED[oa-live::write tests]"), "", nil},
		{"B10 DELEGATED without a task", with("RESPONSIBLE[the docs]", "DELEGATED[oa-live]"), "", nil},
		{"B11 parent that is not bound", with("RESPONSIBLE[the docs]", "DELEGATED[oa-gone::write tests]"), "", []Code{BindParent}},
		{"B11 no parent", with("RESPONSIBLE[the docs]", "DELEGATED[::write tests]"), "", []Code{BindParent}},
		{"B12 RESPONSIBLE[]", with("[the docs]", "[]"), "", []Code{BindAuthority}},
		{"B12 RESPONSIBLE[ ]", with("[the docs]", "[ ]"), "", []Code{BindAuthority}},
		{"B12 placeholder", with("[the docs]", "[to"+"do]"), "", []Code{BindAuthority}},
		{"B12 no verb", with("RESPONSIBLE[the docs]", "OWNER[the docs]"), "", []Code{BindAuthority}},
		{"B12 something behind", with("[the docs]", "[the docs] and all"), "", []Code{BindAuthority}},
		{"B13 joined by +", "## BIND\nROLE::editor\nCOGNITION::LOGOS::ATLAS+HERMES\nAUTHORITY::RESPONSIBLE[the docs]\n", "", nil},
		{"B14 one bad of a joined list", "## BIND\nROLE::editor\nCOGNITION::LOGOS::ATLAS⊕ATLASFOO\nAUTHORITY::RESPONSIBLE[the docs]\n", "", []Code{BindArchetype}},
		{"B15 ROLE in a comment", with("  ROLE::", "  // ROLE::"), "", []Code{BindRole}},
		{"B15 ROLE in a hash comment", with("  ROLE::", "  # ROLE::"), "", []Code{BindRole}},
		{"B15 ROLE in another section", with("BIND:\n  ROLE::editor", "ARM:\n  ROLE::editor\nBIND:"), "", []Code{BindRole}},
		{"B15 ROLE in front of all", with("BIND:\n  ROLE::editor", "ROLE::editor\nBIND:"), "", []Code{BindRole}},
		{"B15 a second ROLE", with("  ROLE::editor\n", "  ROLE::editor\n  ROLE::auditor\n"), "", []Code{BindSyntax}},
		{"B15 a second BIND", with("===END===", "BIND:\n  ROLE::auditor\n===END==="), "", []Code{BindSyntax}},
		{"B15 ARTIFACT in BIND", with("  ROLE::editor\n", "  ROLE::editor\n  ARTIFACT::a.md\n"), "", []Code{BindSyntax}},
		{"no BIND", "ROLE::editor\n", "", []Code{BindSyntax}},
		{"empty", "", "", []Code{BindSyntax}},
		{"NUL", with("the docs", "the\x00docs"), "", []Code{BindSyntax}},
		{"bidi", with("the docs", "the \u202edocs"), "", []Code{BindSyntax}},
		{"control by an escape", with("the docs", `the\ndocs`), "", []Code{Hidden}},
		{"zero width", with("the docs", "the\u200bdocs"), "", []Code{Hidden}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			role := row.role
			if role == "" {
				role = "editor"
			}
			c := editor()
			c.Role = roleName(role)
			b, ps := takeBind([]byte(row.payload), c, role, func(token string) bool { return token == "oa-live" })
			wantCodes(t, ps, row.codes...)
			if strings.HasPrefix(row.name, "B1 ") || strings.HasPrefix(row.name, "B13") {
				if d := cmp.Diff(ok, b); d != "" {
					t.Errorf("read (-want +got):\n%s", d)
				}
			}
		})
	}
}

func TestArchetypesOfNobody(t *testing.T) {
	t.Parallel()
	b := Bind{Role: "editor", Cognition: "ETHOS", Archetypes: []string{"THEMIS"}, Authority: Authority{Scope: "x"}}
	c := Constitution{Role: "editor"}
	wantCodes(t, judgeBind(b, c, "editor", nil))
	b.Archetypes = []string{"ATLASFOO"}
	wantCodes(t, judgeBind(b, c, "editor", nil), BindArchetype)
	b.Archetypes, b.Authority = nil, Authority{Delegated: true, Parent: "oa-x"}
	wantCodes(t, judgeBind(b, c, "editor", nil), BindParent)
}

func TestProblemsSayWhereAndWhat(t *testing.T) {
	t.Parallel()
	_, ps := readBind([]byte("BIND:\n  ROLE::editor\n  AUTHORITY::\"OWNER[x]\"\n"))
	want := []Problem{{
		Code: BindAuthority, At: "BIND.AUTHORITY", Line: 3, Text: "the authority is neither RESPONSIBLE nor DELEGATED",
		Found: "OWNER[x]", Want: authorityForm,
	}}
	if d := cmp.Diff(want, ps); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
