package surface

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/odd-cli/odd/persona/contract"
)

// walkVoiced walks the texts in which the persona may be heard.
func (l look) walkVoiced(visit func(t text)) {
	if l.c.Voice != contract.VoicePersona || l.c.Surface.Machine {
		return
	}
	for t := range l.walkSaid() {
		visit(t)
	}
}

// marks lists the persona glyphs of s in order. The duo, both signatures
// touching where several speak, is one.
func (l look) marks(s string) (found []string) {
	shared := len(l.c.Participants) > 0
	last := ""
	for x := range clusters(s) {
		set := l.glyphs.set(x)
		switch {
		case set == "":
			x = ""
		case shared && set == Signature && l.glyphs.set(last) == Signature && last != x && found[len(found)-1] == last:
			found[len(found)-1] += x
		default:
			found = append(found, x)
		}
		last = x
	}
	return found
}

func stackedGlyphs(l look) (out []contract.Hint) {
	l.walkVoiced(func(t text) {
		for line := range strings.Lines(*t.s) {
			if found := l.marks(line); len(found) > 1 {
				out = append(out, contract.Hint{At: t.at, Message: strings.Join(found, " ") + " in one line; one says it"})
			}
		}
	})
	return out
}

func crowdedParagraph(l look) (out []contract.Hint) {
	l.walkVoiced(func(t text) {
		for _, p := range paragraphs(*t.s) {
			if found := l.marks(p); len(found) > 1 {
				out = append(out, contract.Hint{At: t.at, Message: fmt.Sprintf("%d persona glyphs in one paragraph; one is the most", len(found))})
			}
		}
	})
	return out
}

// paragraphs splits s at its blank lines.
func paragraphs(s string) []string {
	var out []string
	var p strings.Builder
	for line := range strings.Lines(s) {
		if strings.TrimSpace(line) == "" {
			out = append(out, p.String())
			p.Reset()
			continue
		}
		p.WriteString(line)
	}
	return append(out, p.String())
}

// heard is the glyphs of each set that are left in the output.
func (l look) heard() map[string][]string {
	sets := map[string][]string{}
	l.walkVoiced(func(t text) {
		for x := range clusters(*t.s) {
			if s := l.glyphs.set(x); s != "" {
				sets[s] = append(sets[s], x)
			}
		}
	})
	return sets
}

func mixedPalettes(l look) []contract.Hint {
	sets := l.heard()
	delete(sets, Signature)
	if len(sets) < 2 {
		return nil
	}
	names := slices.Sorted(maps.Keys(sets))
	return []contract.Hint{{Message: "glyphs of " + strings.Join(names, " and ") + " on one surface; they are for different altitudes"}}
}

// missingSignature asks it of a persona that has one: its profile's, or the
// standard one of the two that canon draws.
func missingSignature(l look) (out []contract.Hint) {
	spoke := false
	l.walkVoiced(func(t text) { spoke = spoke || *t.s != "" })
	if !spoke {
		return nil
	}
	signed := map[string]bool{}
	for _, x := range l.heard()[Signature] {
		signed[fold(x)] = true
	}
	for _, p := range speakers(l.c) {
		own := signatures(p)
		if len(own) > 0 && !slices.ContainsFunc(own, func(x string) bool { return signed[fold(x)] }) {
			out = append(out, contract.Hint{Message: p.Name + " speaks and does not sign with " + strings.Join(own, " or ")})
		}
	}
	return out
}

func signatures(p *contract.Profile) []string {
	standard := Sets()[0].Glyphs
	switch {
	case len(p.Glyphs.Signature) > 0:
		return p.Glyphs.Signature
	case p.Name == "oddie":
		return standard[:1]
	case p.Name == "orville":
		return standard[1:]
	}
	return nil
}

func improvisedEmoji(l look) (out []contract.Hint) {
	l.walkVoiced(func(t text) {
		var found []string
		for x := range clusters(*t.s) {
			if picture(x) && l.glyphs.set(x) == "" && !l.glyphs.functional[fold(x)] && !slices.Contains(found, x) {
				found = append(found, x)
			}
		}
		if found != nil {
			out = append(out, contract.Hint{At: t.at, Message: strings.Join(found, " ") + " is in no palette"})
		}
	})
	return out
}

func lowWordsUpHigh(l look) (out []contract.Hint) {
	if len(l.heard()[Tower]) == 0 {
		return nil
	}
	l.walkVoiced(func(t text) {
		if w := mention(*t.s, []string{"current", "downstream", "river"}); w != "" {
			out = append(out, contract.Hint{At: t.at, Message: fmt.Sprintf("%q beside tower glyphs; river words stay low", w)})
		}
	})
	return out
}
