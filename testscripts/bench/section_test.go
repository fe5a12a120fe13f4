//go:build bench

package bench

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// figure is what was measured of one job on n items.
type figure struct {
	Name    string  `json:"name"`
	N       int     `json:"n,omitempty"`
	MS      float64 `json:"ms,omitempty"`  // least wall time
	CPU     float64 `json:"cpu,omitempty"` // least user and system time, ms
	MB      float64 `json:"mb,omitempty"`  // peak memory
	Slowest float64 `json:"slowest,omitempty"`
	Runs    int     `json:"runs"`
	Value   float64 `json:"value,omitempty"` // what is no time: bytes, commits, atoms
}

// section is one file of figures, and where and when they were taken. The date
// is the commit's, so that measuring the same code again says the same.
type section struct {
	Commit  string            `json:"commit"`
	Date    string            `json:"date"`
	Machine string            `json:"machine"`
	Disk    string            `json:"disk"`
	Busy    *float64          `json:"busy"` // processors at work before it began, null where nobody looked
	Words   map[string]string `json:"words,omitempty"`
	Figures []figure          `json:"figures"`
}

// begin starts a section.
func begin() *section {
	others := busy()
	return &section{
		Commit: measured(), Date: describe("log", "-1", "--format=%cs"),
		Machine: machine(), Disk: filesystem(), Busy: &others, Words: map[string]string{},
	}
}

// end stores the section and draws the page from all sections.
func (s *section) end(t *testing.T, name string) {
	t.Helper()
	b, err := json.MarshalIndent(s, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	write(t, figuresFile(name), string(b)+"\n")
	draw(t)
}

func figuresFile(name string) string { return filepath.Join("figures", name+".json") }

// stored is a section as it was last measured; an empty one when it never was.
func stored(t *testing.T, name string) *section {
	t.Helper()
	var s section
	b, err := os.ReadFile(figuresFile(name))
	if os.IsNotExist(err) {
		return &s
	}
	if err == nil {
		err = json.Unmarshal(b, &s)
	}
	if err != nil {
		t.Fatalf("%s: %v", figuresFile(name), err)
	}
	return &s
}

// find is the figure of a job on n items, or nil.
func (s *section) find(name string, n int) *figure {
	for i := range s.Figures {
		if f := &s.Figures[i]; f.Name == name && f.N == n {
			return f
		}
	}
	return nil
}

// ms is the least time of a job on n items, and whether it was measured.
func (s *section) ms(name string, n int) (float64, bool) {
	if f := s.find(name, n); f != nil {
		return f.MS, true
	}
	return 0, false
}

// measured names the commit that is measured, with a mark where anything but what
// measuring writes is not committed.
func measured() string {
	commit := describe("rev-parse", "--short", "HEAD")
	if describe("status", "--porcelain", "--", ".", ":!BENCHMARKS.md", ":!testscripts/bench/figures", ":!testscripts/bench/plots") != "" {
		commit += "-dirty"
	}
	return commit
}

func describe(args ...string) string {
	c := exec.Command("git", args...)
	c.Dir = root
	b, err := c.Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(b))
}

func machine() string {
	cpu := "unknown processor"
	b, _ := os.ReadFile("/proc/cpuinfo")
	for l := range strings.Lines(string(b)) {
		if name, ok := strings.CutPrefix(l, "model name"); ok {
			cpu = strings.TrimLeft(strings.TrimSpace(name), ": \t")
		}
	}
	return strings.Join([]string{cpu, plural(runtime.NumCPU(), "core"), runtime.GOOS + "/" + runtime.GOARCH, runtime.Version()}, ", ")
}
