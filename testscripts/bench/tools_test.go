//go:build bench

package bench

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/odd-cli/odd/okf/okftest"
)

// tools are odd and the peers that the table measures.
func tools() []tool {
	return []tool{oddTool(), backlog(), taskMaster(), openSpec(), taskwarrior(), ripgrep(), gitGrep()}
}

// fresh stands for a title that no item has yet.
const fresh = "One more, #"

func title(i int) string { return fmt.Sprintf("Item %d", i) }

// waits reports whether item i waits for item i-1.
func waits(i int) bool { return i%5 == 4 }

func planted(n int) int { return (n + okftest.Planting - 1) / okftest.Planting }

func oddTool() tool {
	return tool{
		name: "odd", from: "this repository", version: []string{"--version"},
		install: func(string) (string, error) { return odd, nil },
		fill: func(t *testing.T, bin, dir string, n int) {
			write(t, filepath.Join(dir, "odd.toml"), "[bundle]\nroot = \"knowledge\"\n")
			for i := range n {
				text := fmt.Sprintf("---\ntype: task\nid: item-%d\ntitle: %s\nstate: ready\nkind: extract\n", i, title(i))
				if waits(i) {
					text += fmt.Sprintf("dependencies: [item-%d]\n", i-1)
				}
				write(t, filepath.Join(dir, "knowledge", "tasks", fmt.Sprintf("item-%d.md", i)), text+"---\n\n"+okftest.TaskBody(seed, i))
			}
			sh(t, dir, "", "git", "init", "-q", "-b", "main")
			sh(t, dir, "", "git", "add", "-A")
			sh(t, dir, "", "git", "-c", "gc.auto=0", "-c", "maintenance.auto=false", "commit", "-qm", "begin") // not beside the next
			sh(t, dir, "", "git", "gc", "-q")
		},
		jobs: func(bin, dir string, n int) map[string]ask {
			return map[string]ask{
				"create":                {[]string{bin, "task", "add", fresh, "--no-commit"}, "backlog", 1},
				"create, with a commit": {[]string{bin, "task", "add", fresh}, "backlog", 1},
				"list ready":            {[]string{bin, "task", "list", "--state", "ready"}, "Item ", n * 4 / 5},
				"list all":              {[]string{bin, "task", "list", "--all"}, "Item ", n},
				"search":                {[]string{bin, "search", "--limit", "0", okftest.Planted}, "Item ", planted(n)},
				"show":                  {[]string{bin, "task", "show", fmt.Sprintf("item-%d", n/2)}, title(n / 2), 1},
			}
		},
	}
}

func backlog() tool {
	return tool{
		name: "Backlog.md", from: "npm backlog.md@1.52.0", version: []string{"--version"},
		install: npm("backlog.md", "1.52.0", "backlog"),
		fill: func(t *testing.T, bin, dir string, n int) {
			sh(t, dir, "", "git", "init", "-q", "-b", "main")
			sh(t, dir, "", bin, "init", "bench", "--defaults", "--agent-instructions", "none")
			for i := range n {
				deps := "dependencies: []\n"
				if waits(i) {
					deps = fmt.Sprintf("dependencies:\n  - TASK-%d\n", i)
				}
				write(t, filepath.Join(dir, "backlog", "tasks", fmt.Sprintf("task-%d - Item-%d.md", i+1, i)), fmt.Sprintf(
					"---\nid: TASK-%d\ntitle: %s\nstatus: To Do\nassignee: []\ncreated_date: '2026-03-02 09:00'\nlabels: []\n%sordinal: %d\n---\n\n## Description\n\n<!-- SECTION:DESCRIPTION:BEGIN -->\n%s<!-- SECTION:DESCRIPTION:END -->\n",
					i+1, title(i), deps, 1000*(i+1), okftest.TaskBody(seed, i)))
			}
		},
		jobs: func(bin, dir string, n int) map[string]ask {
			return map[string]ask{
				"create":     {[]string{bin, "task", "create", fresh, "--plain"}, "One more", 1},
				"list ready": {[]string{bin, "task", "list", "--ready", "--plain"}, "Item ", n * 4 / 5},
				"list all":   {[]string{bin, "task", "list", "--plain"}, "Item ", n},
				"search":     {[]string{bin, "search", okftest.Planted, "--plain"}, "Item ", planted(n)},
				"show":       {[]string{bin, "task", "view", fmt.Sprintf("TASK-%d", n/2), "--plain"}, "Item ", 1},
			}
		},
	}
}

func taskMaster() tool {
	return tool{
		name: "Task Master", from: "npm task-master-ai@0.43.1", version: []string{"--version"},
		install: npm("task-master-ai", "0.43.1", "task-master"),
		fill: func(t *testing.T, bin, dir string, n int) {
			list := []map[string]any{}
			for i := range n {
				deps := []int{}
				if waits(i) {
					deps = []int{i}
				}
				list = append(list, map[string]any{"id": i + 1, "title": title(i), "description": "one", "status": "pending", "priority": "medium",
					"dependencies": deps, "details": okftest.TaskBody(seed, i), "testStrategy": "", "subtasks": []int{}})
			}
			b, err := json.Marshal(map[string]any{"master": map[string]any{"tasks": list, "metadata": map[string]any{}}})
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, ".taskmaster", "tasks", "tasks.json"), string(b))
			write(t, filepath.Join(dir, ".taskmaster", "config.json"), `{"global": {"anonymousTelemetry": false}}`)
		},
		jobs: func(bin, dir string, n int) map[string]ask {
			return map[string]ask{
				"create":     {[]string{bin, "add-task", "--title", fresh, "--description", "one"}, "One more", 1},
				"list ready": {[]string{bin, "next"}, "Item ", 1},
				"list all":   {[]string{bin, "list", "--json"}, "Item ", n},
				"show":       {[]string{bin, "show", fmt.Sprint(n / 2)}, "Item ", 1},
			}
		},
	}
}

func openSpec() tool {
	return tool{
		name: "OpenSpec", from: "npm @fission-ai/openspec@1.13.2", version: []string{"--version"},
		env: []string{"OPENSPEC_TELEMETRY=0", "DO_NOT_TRACK=1"}, install: npm("@fission-ai/openspec", "1.13.2", "openspec"),
		fill: func(t *testing.T, bin, dir string, n int) {
			sh(t, dir, "", "git", "init", "-q", "-b", "main")
			sh(t, dir, "", bin, "init", "--tools", "none", ".")
			for i := range n {
				at := filepath.Join(dir, "openspec", "changes", fmt.Sprintf("item-%d", i))
				write(t, filepath.Join(at, "proposal.md"), fmt.Sprintf("# %s\n\n## Why\n\n%s\n## What Changes\n\n- one\n", title(i), okftest.TaskBody(seed, i)))
				write(t, filepath.Join(at, "tasks.md"), "- [ ] 1.1 Do it\n")
			}
		},
		jobs: func(bin, dir string, n int) map[string]ask {
			return map[string]ask{
				"list all": {[]string{bin, "list"}, "item-", n},
				"show":     {[]string{bin, "show", fmt.Sprintf("item-%d", n/2)}, "Item ", 1},
			}
		},
	}
}

func taskwarrior() tool {
	return tool{
		name: "taskwarrior", from: "Debian taskwarrior", version: []string{"--version"}, install: debian("taskwarrior", "task"),
		fill: func(t *testing.T, bin, dir string, n int) {
			write(t, filepath.Join(dir, "rc"), "data.location="+dir+"/data\nconfirmation=no\nverbose=nothing\n")
			list := []map[string]any{}
			for i := range n {
				one := map[string]any{"uuid": uuid(i), "status": "pending", "description": title(i), "entry": "20260302T090000Z",
					"annotations": []map[string]string{{"entry": "20260302T090000Z", "description": okftest.TaskBody(seed, i)}}}
				if waits(i) {
					one["depends"] = []string{uuid(i - 1)}
				}
				list = append(list, one)
			}
			b, err := json.Marshal(list)
			if err != nil {
				t.Fatal(err)
			}
			sh(t, dir, string(b), bin, "rc:"+dir+"/rc", "import", "-")
		},
		jobs: func(bin, dir string, n int) map[string]ask {
			rc := "rc:" + dir + "/rc"
			return map[string]ask{
				"create":     {[]string{bin, rc, "add", fresh}, "", 0},
				"list ready": {[]string{bin, rc, "ready"}, "Item ", n * 4 / 5},
				"list all":   {[]string{bin, rc, "list"}, "Item ", n},
				"search":     {[]string{bin, rc, okftest.Planted, "list"}, "Item ", planted(n)},
				"show":       {[]string{bin, rc, uuid(n / 2), "info"}, "Item ", 1},
			}
		},
	}
}

func uuid(i int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", i) }

// ripgrep and gitGrep search the files that odd keeps, unranked: a floor.
func ripgrep() tool {
	return tool{name: "ripgrep", from: "Debian ripgrep", version: []string{"--version"}, install: debian("ripgrep", "rg"),
		fill: fillFiles, jobs: func(bin, dir string, n int) map[string]ask {
			return map[string]ask{"search": {[]string{bin, okftest.Planted, "knowledge"}, "item-", planted(n)}}
		}}
}

func gitGrep() tool {
	return tool{name: "git grep", from: "git", version: []string{"version"},
		install: func(string) (string, error) { return exec.LookPath("git") }, fill: fillFiles,
		jobs: func(bin, dir string, n int) map[string]ask {
			return map[string]ask{"search": {[]string{bin, "grep", okftest.Planted}, "item-", planted(n)}}
		}}
}

func fillFiles(t *testing.T, _, dir string, n int) { oddTool().fill(t, "", dir, n) }
