package verb

import (
	"strings"
	"time"

	"github.com/urfave/cli/v2"
)

// The flags here stand on several verbs, with the same words on each.

// YesFlag is for acts of a person.
func YesFlag() cli.Flag {
	return &cli.BoolFlag{Name: "yes", Usage: "skip the typed confirmation; only with [governance] require_signed and a signed commit"}
}

// ReasonFlag is for acts whose commit says why.
func ReasonFlag() cli.Flag {
	return &cli.StringFlag{Name: "reason", Usage: "record `TEXT`, one line, as the reason"}
}

// NoCommitFlag is for verbs that call land.WriteOrStage.
func NoCommitFlag() cli.Flag {
	return &cli.BoolFlag{Name: "no-commit", Usage: "write and stage the file, but do not commit it"}
}

// AtFlag names the revision of workspace.SourceOf.
func AtFlag() cli.Flag {
	return &cli.StringFlag{Name: "at", Usage: "read the atoms from commit `REV` instead of the working tree"}
}

// BundleFlag names the folder of workspace.SourceOf.
func BundleFlag() cli.Flag {
	return &cli.StringFlag{Name: "bundle", Usage: "read the atoms in `DIR` (default: the bundle in odd.toml, else this folder)"}
}

// ProfileFlag is for verbs that start a session.
func ProfileFlag() cli.Flag {
	return &cli.StringFlag{Name: "persona", Usage: "let the agent speak as persona `PROFILE`: NAME or NAME@VERSION"}
}

// RoleFlag is for verbs that start a session.
func RoleFlag() cli.Flag {
	return &cli.StringFlag{Name: "role", Usage: "give the agent the context compiled for the role atom `ROLE`"}
}

// SurfaceFlag is for verbs that start a session; value is the usual one.
func SurfaceFlag(value string) cli.Flag {
	return &cli.StringFlag{Name: "surface", Value: value, Usage: "kind of output: code-output, audit, synthesis-ledger, real-time-stream, sidebar-chat, conversational, mentorship or strategic-translation"}
}

// EngagementFlag is for verbs that start a session.
func EngagementFlag() cli.Flag {
	return &cli.StringFlag{Name: "engagement", Usage: "agent (works without questions) or assistant (may ask you questions)"}
}

// VoiceFlag is for verbs that start a session.
func VoiceFlag() cli.Flag {
	return &cli.StringFlag{Name: "voice", Usage: "style of the text: persona, neutral or strict"}
}

// HandoffFlag is for verbs that give a session something to work from.
func HandoffFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: "handoff", Usage: "give the agent the handoff `ID` (or path) to work from; repeatable"}
}

// ArtifactFlag is for verbs that give a session something to work on.
func ArtifactFlag() cli.Flag {
	return &cli.StringFlag{Name: "artifact", Usage: "say which file or atom is worked on, `REF`: a path, id or uri (default: the handoff's)"}
}

// PersonNote says how the verbs work that only a person can run.
const PersonNote = "Only a person can run this. odd shows what will happen and asks you to type a\n" +
	"name at the terminal; in CI and inside an agent's session it refuses (exit 3)."

// JSONFlag is on every verb that New declares.
func JSONFlag() cli.Flag { return &cli.BoolFlag{Name: "json", Usage: "print JSON instead of text"} }

// Span reads the value of a flag as a duration of Go's, or as whole days, such as 3d; not set, it is 0.
func Span(c *cli.Context, flag string) (time.Duration, error) {
	s := c.String(flag)
	d, ok := readSpan(s)
	if !ok {
		return 0, Usage("%s: --%s %s is not a time span; want a span as 12h or 3d, at most 366d", Name(c), flag, s)
	}
	return d, nil
}

func readSpan(s string) (time.Duration, bool) {
	if s == "" {
		return 0, true
	}
	days, inDays := strings.CutSuffix(s, "d")
	if inDays {
		s = days + "h"
	}
	d, err := time.ParseDuration(s)
	if inDays {
		d *= 24
	}
	return d, err == nil && d > 0 && d <= 366*24*time.Hour
}
