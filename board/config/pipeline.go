package config

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // zones are the same on every machine
)

// Pipeline is [pipeline], but for review_ttl. Globs are
// repository paths; what odd protects of itself is built in, and nothing here
// takes from it.
type Pipeline struct {
	MinTier        string         // "", SAFE_AUTO, NOTIFY_APPLY or APPROVAL_REQUIRED: no change has a lower tier
	Quiet          *Quiet         // quiet_hours; nil: none
	Zone           *time.Location // of quiet_hours, default UTC
	Autonomy       string         // "act" (default) or "observe": then nothing lands without a person
	Core           []string       // what the rest stands on
	Protected      []string       // what no machine changes
	Security       []string       // what is security-sensitive besides what its name says
	MaxFiles       int            // default 2; more need approval
	Blast          int            // default 5; more packages and atoms that depend on a change need approval
	MachineBlast   int            // default 3; the same where no person filed the task
	TestConfidence int            // default 75, percent; less needs approval
	Expand         string         // "off" (default) or "auto": a session says first what it wants to read, for work that is not small
	Plan           string         // "off" (default), "auto": a session plans what is more than one file, or "always"
	AutoApply      bool           // a change of a tier below APPROVAL_REQUIRED may land on the target by itself
	AutoKinds      []string       // the kinds of tasks whose changes may; none: all
	Validate       [][]string     // the commands a candidate must pass in a tree of its own; none: what its language offers
	Verify         [][]string     // those of the commit that would land; none: Validate's
	CheckTimeout   time.Duration  // of one of them, default 5m
	RepairTimebox  time.Duration  // of a whole repair, from its first iteration on; default 20m
	CheckEnv       []string       // names of the environment that they see besides the usual
}

// Quiet are the hours from From up to and without To, both 0 to 23: over midnight
// where To is smaller, all day where they are the same.
type Quiet struct{ From, To int }

// LandsAlone reports that a change for a task of this kind may land without a person.
func (p Pipeline) LandsAlone(kind string) bool {
	return p.AutoApply && (len(p.AutoKinds) == 0 || slices.Contains(p.AutoKinds, kind))
}

func defaultPipeline() Pipeline {
	return Pipeline{Zone: time.UTC, Autonomy: "act", MaxFiles: 2, Blast: 5, MachineBlast: 3, TestConfidence: 75, CheckTimeout: 5 * time.Minute, RepairTimebox: 20 * time.Minute, Expand: "off", Plan: "off"}
}

var hours = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([0-9]{1,2})-([0-9]{1,2})$`) })

// quietHours reads "22-7".
func quietHours(n node) (*Quiet, error) {
	s, _ := n.value.(string)
	m := hours().FindStringSubmatch(s)
	if m == nil {
		return nil, errors.New(`want two hours of the day, like "22-7"`)
	}
	from, _ := strconv.Atoi(m[1])
	to, _ := strconv.Atoi(m[2])
	if from > 23 || to > 23 {
		return nil, fmt.Errorf(`%q: want hours from 0 to 23, like "22-7"`, s)
	}
	return &Quiet{from, to}, nil
}

// zone reads the name of a time zone. What a machine takes for local is none:
// two machines would judge one change differently.
func zone(n node) (*time.Location, error) {
	s, err := str(n, word)
	if err != nil {
		return nil, err
	}
	z, err := time.LoadLocation(s)
	if err != nil || s == "Local" {
		return nil, fmt.Errorf(`%q: want the name of a time zone, like "UTC" or "Europe/Berlin"`, s)
	}
	return z, nil
}

// repoGlob accepts a path, a folder ending in "/", or a glob in which ** stands
// alone between slashes.
func repoGlob(s string) error {
	clean := strings.TrimSuffix(s, "/")
	bad := clean == "." || !fs.ValidPath(clean) || strings.ContainsAny(s, `\:`) || strings.ContainsFunc(s, control)
	for _, name := range strings.Split(clean, "/") {
		_, err := path.Match(name, "")
		bad = bad || err != nil || name != "**" && strings.Contains(name, "**")
	}
	if bad {
		return fmt.Errorf(`%q: want paths or globs from the top of the repository, like "cmd/**" or "docs/"`, s)
	}
	return ours(s)
}
