package invoke

import (
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/persona/session"
)

// Asked is a change of files that a task asks for.
type Asked struct {
	Paths    []string   // globs of the files that may change, repository-relative
	Root     string     // the bundle's folder, which changes by atoms alone
	Base     string     // the commit the change is made on
	Commands [][]string // what will be run on the result
	GoChecks bool       // go build, vet and test are run too, where Go files change
	Limits   string     // how large it may be, in words
	Files    []File     // those of the base that the globs mean
}

// The forms in which a change is delivered; package pipeline reads them.
const formChange = "Deliver the change in one of two ways, never in both:\n\n" +
	"- Edit the files of your working tree, where you have one: it is a checkout of the base, and what differs from it is\n  the change. Nothing you commit there counts.\n" +
	"- Or write one fenced block, the word change, that holds one JSON object. Content is the whole file, as it is to be:\n\n" +
	"```change\n{\"schema_version\": \"2b.1\", \"candidates\": [{\"candidate_id\": \"c1\", \"rationale\": \"why so\",\n  \"files\": [{\"file_path\": \"docs/a.md\", \"full_content\": \"…\"}, {\"file_path\": \"docs/b.md\", \"full_content\": \"…\"}]}]}\n```\n\n" +
	"Where nothing is to be changed, say why:\n\n" +
	"```change\n{\"schema_version\": \"2b.1-noop\", \"reason\": \"the page says it already\"}\n```\n"

// addChange appends the parts about the change that the task asks for.
func (b *Brief) addChange(a *Asked) {
	if a == nil {
		return
	}
	var s strings.Builder
	fmt.Fprintf(&s, "This task asks for a change of files that are no atoms. You may create, change and delete files that match these globs,\nand no others; nothing below %s/, which changes by atoms alone:\n\n", a.Root)
	for _, g := range a.Paths {
		fmt.Fprintf(&s, "- %s\n", oneLine(g))
	}
	fmt.Fprintf(&s, "\nThe base is commit %s. %s\n", a.Base, a.Limits)
	if len(a.Commands) > 0 || a.GoChecks {
		s.WriteString("\nThese are run on the result and must pass. If one fails, you are told what it printed and may mend the change:\n\n")
		for _, argv := range a.Commands {
			fmt.Fprintf(&s, "- %q\n", argv)
		}
		if a.GoChecks {
			s.WriteString("- go build, go vet and go test of the packages whose Go files change\n")
		}
	}
	if slices.ContainsFunc(a.Files, func(f File) bool { return f.Text == nil }) {
		s.WriteString("\nThe part \"files\" lists the files that are there. Few have their text in this brief, those that share most words with\nthe task; read the others yourself, with your tools or in your working tree.\n")
	}
	s.WriteString("\n" + formChange)
	b.addPart("change", s.String(), capChange)
	b.addFiles("files", a.Files, capInputs)
}

const (
	formPlan = "Do not change anything yet. Say what you mean to change, in the order in which it is to be made; what is made on\n" +
		"something else names it under dependencies, and stands behind it. Answer with one fenced block, the word plan, and then\nthe block that ends your answer; nothing else of it is kept:\n\n" +
		"```plan\n{\"schema_version\": \"plan.1\", \"approach\": \"…\", \"complexity\": \"moderate\", \"ordered_changes\": [\n" +
		"  {\"file_path\": \"docs/a.md\", \"change_type\": \"modify\", \"description\": \"…\", \"dependencies\": [], \"estimated_scope\": \"small\"}],\n" +
		" \"risk_factors\": [], \"test_strategy\": \"…\", \"architectural_notes\": \"…\"}\n```\n\n" +
		"complexity is trivial, moderate, complex or architectural; change_type is modify, create or delete; estimated_scope is\nsmall, medium or large.\n"
	formExpansion = "Do not change anything yet. Say which files you want to read before you begin; leave the list empty where you need\n" +
		"none. Answer with one fenced block, the word expansion, and then the block that ends your answer; nothing else of it is kept:\n\n" +
		"```expansion\n{\"schema_version\": \"expansion.1\", \"additional_files_needed\": [\"docs/a.md\"]}\n```\n"
)

// Step is b for a session that is asked for a step before the work: the plan of a
// change, or what it wants to read.
func (b Brief) Step(step string) Brief {
	return b.withPart("step", map[string]string{session.StepPlan: formPlan, session.StepExpand: formExpansion}[step], capChange)
}

// Planned is b with the plan that is to be carried out.
func (b Brief) Planned(plan string) Brief { return b.withPart("plan", plan, capPlan) }

// Reading is b with files that its session asked for, and what it was not given.
func (b Brief) Reading(list []File, not string) Brief {
	text, _ := formatFiles(list, capInputs)
	return b.withPart("read", text+not, capInputs)
}
