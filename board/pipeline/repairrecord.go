package pipeline

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// iterationSchema begins the fact that keeps an iteration.
const iterationSchema = "repair.iter.v1"

// iterationFacts names the facts, by the iteration's number.
var iterationFacts = []string{"repair_one", "repair_two", "repair_three", "repair_four", "repair_five"}

// Facts is the iteration as a fact of its op: one line of words "key=value", so
// that the op's ledger record of the transition holds the whole iteration and a
// process that goes on has them all. Signatures keep their beginnings.
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

// Iterations are those that an op's facts keep, oldest first, or what is wrong
// with them.
func Iterations(op Op) ([]Iteration, error) {
	var out []Iteration
	for i, name := range iterationFacts {
		text := op.Fact(name)
		if text == "" {
			break
		}
		it, err := parseIteration(text)
		if err == nil && it.N != i+1 {
			err = fmt.Errorf("it says n=%d", it.N)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: fact %s: %w", op.ID, name, err)
		}
		out = append(out, it)
	}
	return out, nil
}

func parseIteration(text string) (Iteration, error) {
	var it Iteration
	words := strings.Fields(text)
	if len(words) == 0 || words[0] != iterationSchema {
		return it, fmt.Errorf("want a line that begins with %s", iterationSchema)
	}
	for _, w := range words[1:] {
		key, value, _ := strings.Cut(w, "=")
		if err := it.set(key, value); err != nil {
			return it, err
		}
	}
	if it.Stop != "" {
		it.Outcome = Stopped
	}
	if it.N < 1 || it.Outcome == "" {
		return it, fmt.Errorf("an iteration has a number and an outcome")
	}
	return it, nil
}

func (it *Iteration) set(key, value string) error {
	texts := map[string]*string{"class": (*string)(&it.Class), "fail": &it.Failure, "patch": &it.Patch, "outcome": (*string)(&it.Outcome), "stop": (*string)(&it.Stop)}
	if p, ok := texts[key]; ok {
		*p = value
		return nil
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < 0 {
		return fmt.Errorf("%s=%s; want a number", key, value)
	}
	counts := map[string]*int{"n": &it.N, "ids": &it.Failing, "lines": &it.Lines, "files": &it.Files, "runs": &it.Runs}
	switch p, ok := counts[key]; {
	case ok:
		*p = int(n)
	case key == "at":
		it.At = time.UnixMilli(n).UTC()
	case key == "ms":
		it.Took = time.Duration(n) * time.Millisecond
	case key == "retest":
		it.Retest = n == 1
	default:
		return fmt.Errorf("%s is no part of an iteration", key)
	}
	return nil
}
