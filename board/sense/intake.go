package sense

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/okf"
)

// sensedTag is on every task of odd sense; foundPrefix begins the tag that holds the
// signature of what was found.
const (
	sensedTag   = "sensed"
	foundPrefix = "found-"
)

// SensorOf returns the sensor that filed a task with these tags, "" for another's task.
func SensorOf(id okf.ID, tags []string) string {
	if len(tags) == 3 && tags[0] == sensedTag && strings.HasPrefix(tags[2], foundPrefix) && strings.HasPrefix(string(id), tags[1]+"-") {
		return tags[1]
	}
	return ""
}

// Unreadable is the state of a file in the place of a task that holds none.
const Unreadable board.State = "unreadable"

// Filed is a task of odd sense that is on the board, or was until a person deleted it.
type Filed struct {
	ID        okf.ID
	State     board.State // "" for one that a person deleted
	Signature string      // "" for another's task, which only has the id
	At        time.Time
}

// signatureOf tells whether an atom's tags are those of a task of odd sense, and what it
// was filed for.
func signatureOf(tags []string) (signature string, is bool) {
	for _, t := range tags {
		if s, ok := strings.CutPrefix(t, foundPrefix); ok {
			signature = s
		}
	}
	return signature, slices.Contains(tags, sensedTag)
}

// isTaskID tells whether a task of this id may be one of odd sense.
func isTaskID(id okf.ID) bool {
	return slices.ContainsFunc(Sensors(), func(s Sensor) bool { return strings.HasPrefix(string(id), s.Name+"-") })
}

// Limits are how much odd sense may file.
type Limits struct {
	Run  int // tasks a run
	Day  int // tasks a day, by UTC
	Open int // tasks of odd sense that are not done
}

// Left is a cause that becomes no task now, and why.
type Left struct {
	ID       okf.ID `json:"id"`
	Subject  string `json:"subject"`
	Findings int    `json:"findings"`
	Why      string `json:"why"`
}

// Intake is what becomes of a run's findings.
type Intake struct {
	New  []board.Filing
	Left []Left
}

// Plan says which findings become tasks, given those that were filed before. Each sensor
// and subject has one task that is not done. What a person deleted is not filed again
// while the same is wrong. What the limits keep out is found again by the next run, so
// nothing is lost. By is the OKF actor that files.
func Plan(found []Finding, before []Filed, lim Limits, by string, now time.Time) (in Intake) {
	open, today := 0, 0
	for _, f := range before {
		if f.State != "" && f.State != board.Done && f.Signature != "" {
			open++
		}
		if f.State != "" && f.At.UTC().Format(time.DateOnly) == now.UTC().Format(time.DateOnly) {
			today++
		}
	}
	for _, c := range groupCauses(found) {
		id, why := c.findTaskID(before)
		switch {
		case why != "":
		case len(in.New) >= lim.Run:
			why = fmt.Sprintf("this run has filed %d, its most ([sense] run)", lim.Run)
		case open+len(in.New) >= lim.Open:
			why = fmt.Sprintf("%d tasks that odd sense filed are not done, its most ([sense] open)", lim.Open)
		case today+len(in.New) >= lim.Day:
			why = fmt.Sprintf("%d were filed today, its most ([sense] day)", lim.Day)
		}
		if why != "" {
			in.Left = append(in.Left, Left{id, c.subject, len(c.findings), why})
			continue
		}
		in.New = append(in.New, board.Filing{
			ID: id, Title: fmt.Sprintf(c.sensor.Title, c.subject), Description: c.firstMessage(), Kind: "fix",
			Priority: c.priority, Signal: c.sensor.Signal, Tags: []string{sensedTag, c.sensor.Name, foundPrefix + c.signature()},
			Body: c.formatBody(), By: by, At: now,
		})
	}
	return in
}

// firstMessage is the task's description: what was found first, in a line.
func (c cause) firstMessage() string {
	text := c.findings[0].Signature
	if n := len(c.findings) - 1; n > 0 {
		text += fmt.Sprintf(", and %d more", n)
	}
	return text
}

// findTaskID returns the id of the task for a cause, and why there is none to file: the first
// number whose task is not done has it.
func (c cause) findTaskID(before []Filed) (id okf.ID, why string) {
	id = c.taskID()
	for n := 2; ; n++ {
		i := slices.IndexFunc(before, func(f Filed) bool { return f.ID == id })
		switch {
		case i < 0:
			return id, ""
		case before[i].State == "" && before[i].Signature == c.signature():
			return id, "a person deleted its task, and the same is wrong"
		case before[i].State == board.Done && c.sensor.Once && before[i].Signature == c.signature():
			return id, "its task is done"
		case before[i].State == Unreadable:
			return id, "its task's file cannot be read; odd check says why"
		case before[i].State != "" && before[i].State != board.Done:
			return id, "it has a task, in " + string(before[i].State)
		}
		id = c.taskID() + okf.ID("-"+strconv.Itoa(n))
	}
}
