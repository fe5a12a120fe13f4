package okf

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"strings"
)

// okfVersion is the version of the format that this package reads and writes.
const okfVersion = "0.2"

// checkReserved checks an index.md or log.md against OKF v0.2 §8 and §9.
//
// An index has no front matter, except that the one at the root may have okf_version and
// nothing else. A log has no front matter, and its second-level headings are ISO dates,
// newest first. Front matter in a log and the order are only warnings: the samples of OKF
// have front matter, and §11 does not require the order.
func checkReserved(file string, b []byte) []Problem {
	if p := checkText(b); p != nil {
		p.Path = file
		if p.Code == codeFrontmatter {
			p.Code = codeReserved
		}
		return []Problem{*p}
	}
	if path.Base(file) == "index.md" {
		return checkIndexFile(file, b)
	}
	return checkLogFile(file, b)
}

func checkIndexFile(file string, b []byte) []Problem {
	first, _, _ := bytes.Cut(b, []byte("\n"))
	if !isFence(first) {
		return nil
	}
	found := func(line int, sev Severity, code, msg, hint string) []Problem {
		return []Problem{{Code: code, Severity: sev, Path: file, Line: line, Message: msg, Hint: hint}}
	}
	if file != "index.md" {
		return found(1, Error, codeReserved, "index.md has frontmatter", "remove the block; only the index at the root may have one")
	}
	fields, p := parseFields(b)
	if p != nil {
		return found(p.Line, Error, codeReserved, p.Message, p.Hint)
	}
	for _, f := range fields {
		if f.Key != "okf_version" {
			return found(f.Line, Error, codeReserved, fmt.Sprintf("the root index may not carry %s", f.Key), "keep okf_version alone")
		}
		if v := valueText(f.Value); v != okfVersion {
			return found(f.Line, Info, codeVersion, fmt.Sprintf("okf_version %q; read as %s as well as it goes", v, okfVersion), "")
		}
	}
	return nil
}

// parseFields reads a block with any keys.
func parseFields(b []byte) ([]Field, *Problem) {
	blk, p := findBlock(b)
	if p != nil {
		return nil, p
	}
	return parseStrict(b, blk)
}

func checkLogFile(file string, b []byte) []Problem {
	isoDate := regexp.MustCompile(`^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$`)
	var ps []Problem
	found := func(line int, sev Severity, msg, hint string) {
		ps = append(ps, Problem{Code: codeReserved, Severity: sev, Path: file, Line: line, Message: msg, Hint: hint})
	}
	skip := 0
	if first, _, _ := bytes.Cut(b, []byte("\n")); isFence(first) {
		found(1, Warn, "log.md has frontmatter", "remove the block")
		if blk, p := findBlock(b); p == nil {
			skip = lineAt(b, blk.body) - 1
		}
	}
	last, n, fence, code := "", 0, "", false
	for line := range strings.Lines(string(b)) {
		n++
		line = strings.TrimRight(line, " \t\r\n")
		fence, code = TrackFence(fence, []byte(line))
		date, heading := strings.CutPrefix(line, "## ")
		date = strings.TrimSpace(date)
		switch {
		case n <= skip || code || !heading:
		case !isoDate.MatchString(date):
			found(n, Error, fmt.Sprintf("log heading %q is not a date", date), `write it as "## YYYY-MM-DD"`)
		case last != "" && date > last:
			found(n, Warn, fmt.Sprintf("%s stands below %s", date, last), "put the newest day first")
			last = date
		default:
			last = date
		}
	}
	return ps
}
