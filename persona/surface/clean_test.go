package surface

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
)

// keeper is a profile with glyphs of its own, some of which are not its to have.
func keeper() *contract.Profile {
	return &contract.Profile{Name: "keeper", Version: 1, Glyphs: contract.Glyphs{
		Signature: []string{"🔦", "❤️‍🔥", "", "e"},
		Palettes:  map[string][]string{"lamp": {"🕯️", "🇩🇪"}, "claims": {"✅", "⚠"}},
	}}
}

func TestMachine(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, in, want string }{
		{"between words", "a 🦦 b", "a b"},
		{"at the start", "🦦 fix the index", "fix the index"},
		{"at the end", "fix the index 🦅", "fix the index"},
		{"before a full stop", "fixed 🌊.", "fixed."},
		{"inside brackets", "(🌿 note 🌿)", "(note)"},
		{"in a path", "docs/🦦 guide.md", "docs/guide.md"},
		{"in bold", "**🦦 Note**", "**Note**"},
		{"touching a word", "fixed🦦 it", "fixed it"},
		{"the space it touches sets other things apart", "x = 🦦y", "x = y"},
		{"the duo", "🦦🦅 hello", "hello"},
		{"a row of them", "a 🌊🪨 🪵 b", "a b"},
		{"one space of two", "a  🦦  b", "a   b"},
		{"a list item", "- 🦦 item\n- 🌀\n", "- item\n-\n"},
		{"with the selector", "a 🏞️ b", "a b"},
		{"without the selector", "a 🏞 b", "a b"},
		{"as a text", "a 🦦\ufe0e b", "a b"},
		{"with joiner and mark", "a 🦦\u200d b 🦅\u0301 c", "a b c"},
		{"joined with its like", "a 🦦\u200d🌊 b", "a b"},
		{"only it", "🗼🛫🛬📡", ""},
		{"functional", "✅ 🟢 ⚠️ ⚠ 🔴 ⏳ 🟡", "✅ 🟢 ⚠️ ⚠ 🔴 ⏳ 🟡"},
		{"dash and accent", "naïve — déjà vu", "naïve — déjà vu"},
		{"other scripts", "北京 русский عربى हिन्दी 한국어", "北京 русский عربى हिन्दी 한국어"},
		{"families and flags", "👨‍👩‍👧 🇫🇷 👍🏽 1️⃣ 🏴󠁧󠁢󠁳󠁣󠁴󠁿", "👨‍👩‍👧 🇫🇷 👍🏽 1️⃣ 🏴󠁧󠁢󠁳󠁣󠁴󠁿"},
		{"joined with another picture", "a 👩\u200d🌊 b", "a 👩 b"},
		{"another picture joined with it", "docs/🦦\u200d💻.md", "docs/💻.md"},
		{"between two pictures", "👩\u200d🦦🏽\ufe0f\u200d💻", "👩\u200d💻"},
		{"with a mark that takes room", "🦦\u0bbe x", "\u0bbe x"},
		{"behind a letter that leans on it", "\u0d4e🦦", "\u0d4e"},
		{"not UTF-8", "a\xff🦦 b\xc3", "a\xff b\xc3"},
		{"a profile's own", "a 🔦 b ❤️‍🔥 c ❤‍🔥 d 🕯 e 🇩🇪", "a b c d e"},
		{"a flag that comes together", "a 🇩🦦🇪 b", "a b"},
		{"two hearts are not one on fire", "❤️ 🔥", "❤️ 🔥"},
		{"letters and states are nobody's", "the ✅ seven ⚠️", "the ✅ seven ⚠️"},
	} {
		c := contract.Contract{Persona: keeper(), Voice: contract.VoicePersona}
		if got := Machine(c, tt.in); got != tt.want {
			t.Errorf("%s: %q: got %q, want %q", tt.name, tt.in, got, tt.want)
		}
	}
}

// anyText draws texts in which glyphs, what looks like them and what joins them meet.
func anyText(glyphs ...string) *rapid.Generator[string] {
	bits := append(glyphs, " ", "  ", "\n", "\r\n", "\u200d", "\ufe0f", "\u0301", "🏽", "🇩", "🇪", "👩", "👨‍👩‍👧", "✅", "⚠️", "⚠",
		"—", "é", "e\u0301", "北", "한", "\u0600", "\xff", "\xf0\x9f", "a", ".", "(", "`")
	piece := rapid.OneOf(rapid.SampledFrom(bits), rapid.SampledFrom(bits), rapid.String())
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces"), "")
	})
}

func TestWithoutGlyphsIdentical(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := anyText().Draw(t, "s")
		if strings.ContainsFunc(s, func(r rune) bool { return strings.ContainsRune(strings.Join(characterGlyphs(), ""), r) && r != 0xfe0f }) {
			t.Skip("drew a glyph")
		}
		if got := Machine(contract.Contract{}, s); got != s {
			t.Fatalf("%q became %q", s, got)
		}
	})
}

func TestCleanOnceIsEnough(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := contract.Contract{Persona: keeper()}
		s := anyText(append(characterGlyphs(), "🔦", "🕯️", "❤️‍🔥", "🇩🇪")...).Draw(t, "s")
		checkClean(t, c, s)
	})
}

// checkClean holds what cleaning promises of any text.
func checkClean(t interface{ Fatalf(string, ...any) }, c contract.Contract, s string) {
	g := glyphsOf(c)
	got := Machine(c, s)
	if again := Machine(c, got); again != got {
		t.Fatalf("%q: %q is cleaned again to %q", s, got, again)
	}
	for x := range walkClusters(got) {
		if g.hasCluster(x) || strings.ContainsFunc(x, func(r rune) bool { return g.alone[r] }) {
			t.Fatalf("%q: %q is left in %q", s, x, got)
		}
	}
	if g.first[utf8.RuneError] || !subsequence(got, s) {
		t.Fatalf("%q: %q is not what is left of it", s, got)
	}
	for _, f := range []string{"✅", "⚠", "⏳"} {
		if a, b := strings.Count(s, f), strings.Count(got, f); a != b {
			t.Fatalf("%q: %d of %d %s are left", s, b, a, f)
		}
	}
}

func subsequence(part, whole string) bool {
	for i := 0; part != "" && i < len(whole); i++ {
		if whole[i] == part[0] {
			part = part[1:]
		}
	}
	return part == ""
}

func FuzzClean(f *testing.F) {
	f.Add("a 🦦 b\xff🏞️")
	f.Add("🇩🦦🇪 👩\u200d🌊\u0301")
	f.Fuzz(func(t *testing.T, s string) { checkClean(t, contract.Contract{Persona: keeper()}, s) })
}

// No voice and no surface lets a persona glyph into a machine field, a neutral
// or strict voice lets it into none, and the output given is left as it was.
func TestFieldsInEveryVoice(t *testing.T) {
	t.Parallel()
	given := func() Output {
		d := deliver.Deliverable{Schema: deliver.SchemaFindings, Findings: &deliver.Findings{
			Artifact: "docs/🦦 guide.md",
			Findings: []deliver.Finding{{
				ID: "F1", Location: "docs/guide.md:3 🌊", Claim: "the guide 🦦 is whole ✅", Evidence: "line 3 — naïve 北京",
				Classification: deliver.Blocker, Disposition: deliver.Fix,
			}},
		}}
		return Output{Says: []deliver.Say{{Kind: "progress 🦦", Text: "reading 🦦 ⏳", Marker: "done"}}, Deliverable: &d}
	}
	for _, voice := range []contract.Voice{contract.VoicePersona, contract.VoiceNeutral, contract.VoiceStrict, ""} {
		for _, machine := range []bool{false, true} {
			c := contract.Contract{Voice: voice, Surface: contract.SurfaceRule{Machine: machine}}
			in := given()
			out, v := Judge(c, in)
			if d := cmp.Diff(given(), in); d != "" {
				t.Fatalf("%s: the output given was changed:\n%s", voice, d)
			}
			f := out.Deliverable.Findings
			got := []string{f.Artifact, f.Findings[0].Location, out.Says[0].Kind, f.Findings[0].Claim, out.Says[0].Text, f.Findings[0].Evidence}
			want := []string{"docs/guide.md", "docs/guide.md:3", "progress", "the guide is whole ✅", "reading ⏳", "line 3 — naïve 北京"}
			if voice == contract.VoicePersona && !machine {
				want[3], want[4] = "the guide 🦦 is whole ✅", "reading 🦦 ⏳"
			}
			if e := Encoded(c, *out.Deliverable); strings.Contains(e.Findings.Findings[0].Claim, "🦦") || f.Findings[0].Claim != want[3] {
				t.Errorf("voice %q: %q is encoded from %q", voice, e.Findings.Findings[0].Claim, f.Findings[0].Claim)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("voice %q, machine %v (-want +got):\n%s", voice, machine, d)
			}
			if n := len(v.Changes); n != 5 && (n != 3 || want[4] != "reading 🦦 ⏳") {
				t.Errorf("voice %q, machine %v: %d changes: %v", voice, machine, n, v.Changes)
			}
		}
	}
}
