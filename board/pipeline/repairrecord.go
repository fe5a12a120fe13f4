package pipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// iterationSchema begins the fact that keeps an iteration.
const iterationSchema = "repair.iter.v1"

// iterationFacts names the facts, by the iteration's number.
var iterationFacts = []string{"repair_one", "repair_two", "repair_three", "repair_four", "repair_five"}

// Facts is the iteration as a fact of its op: one line of words "key=value", so
// that the op's record of the transition holds the whole iteration. Signatures keep
// their beginnings.
//
//	repair_two  repair.iter.v1 n=2 at=1795309500000 class=test ids=3 fail=… patch=… lines=12 files=2 runs=2 ms=1200 outcome=progress
func (it Iteration) Facts() map[string]string {
	words := []string{iterationSchema, "n=" + strconv.Itoa(it.N), "at=" + strconv.FormatInt(it.At.UnixMilli(), 10)}
	add := func(key string, n int64) { words = append(words, key+"="+strconv.FormatInt(n, 10)) }
	if it.Class != "" {
		words = append(words, "class="+string(it.Class), "ids="+strconv.Itoa(it.Failing), "fail="+it.Failure)
	}
	if it.Patch != "" {
		words = append(words, "patch="+it.Patch)
	}
	add("lines", int64(it.Lines))
	add("files", int64(it.Files))
	add("runs", int64(it.Runs))
	add("ms", it.Took.Milliseconds())
	if it.Retest {
		words = append(words, "retest=1")
	}
	if it.Stop != "" { // which is an outcome
		words = append(words, "stop="+string(it.Stop))
	} else {
		words = append(words, "outcome="+string(it.Outcome))
	}
	name := iterationFacts[min(max(it.N, 1), len(iterationFacts))-1]
	return map[string]string{name: clip(strings.Join(words, " "), maxFact, nil)}
}

// String is a line about the iteration for people.
func (it Iteration) String() string {
	s := fmt.Sprintf("iteration %d: %s", it.N, it.Outcome)
	if it.Class != "" {
		s += fmt.Sprintf(", %d failing (%s)", it.Failing, it.Class)
	}
	if it.Stop != "" {
		s += ", " + string(it.Stop)
	}
	return s
}

// kindOf is an error in one word.
func kindOf(err error) string {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.Is(err, context.Canceled):
		return "cancelled"
	}
	return "error"
}

// unusable says why an answer is no candidate for the batch that failed.
func unusable(was []Edit, a RepairAnswer) string {
	given := map[string]bool{}
	for _, f := range a.Files {
		if given[f.Path] {
			return f.Path + " is in it twice"
		}
		given[f.Path] = true
	}
	for _, f := range was {
		if !given[f.Path] {
			return f.Path + " is missing; a repair delivers every file of the change, changed or not"
		}
	}
	if a.Tree == "" {
		return "it has no tree"
	}
	return ""
}

// countChanged counts the lines, added and removed, and the files in which two
// candidates differ.
func countChanged(was, is []Edit) (lines, files int) {
	before := map[string]Edit{}
	for _, f := range was {
		before[f.Path] = f
	}
	for _, f := range is {
		old, known := before[f.Path]
		if !known {
			old = Edit{After: f.Before, NewMode: f.OldMode}
		}
		if bytes.Equal(old.After, f.After) && (old.After == nil) == (f.After == nil) && old.NewMode == f.NewMode {
			continue
		}
		files++
		lines += differing(old.After, f.After)
	}
	return lines, files
}

// differing counts the lines that are in one text and not, as often, in the
// other. Lines that only moved count nothing, which a limit on size can bear.
func differing(a, b []byte) int {
	count := map[string]int{}
	for line := range bytes.Lines(a) {
		count[string(bytes.TrimRight(line, "\r\n"))]++
	}
	for line := range bytes.Lines(b) {
		count[string(bytes.TrimRight(line, "\r\n"))]--
	}
	n := 0
	for _, c := range count {
		n += max(c, -c)
	}
	return n
}
