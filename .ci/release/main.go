// Command release builds what a person can install, from one commit and with Go
// alone:
//
//	odd_VERSION_OS_ARCH.tar.gz      the program, the licence, the readme and the changelog
//	odd_VERSION_ARCH.deb            a Debian package, which depends on git
//	odd-cli-odd-VERSION.tgz         the npm package; it runs the program of one of those below
//	odd-cli-odd-OS-ARCH-VERSION.tgz npm packages with one program each
//	odd_VERSION.cdx.json            which modules are inside (CycloneDX 1.6)
//	Dockerfile                      makes a container image from the Debian packages
//	SHA256SUMS                      checksums of all of these
//
// Two builds of one commit are equal byte for byte: no path of this machine enters
// a program, and every time in an archive is the commit's. Nothing is published.
package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:embed Dockerfile
var dockerfile []byte

// target is one system that odd is built for.
type target struct{ os, arch string }

var targets = []target{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}}

// release is what every file of it is made from.
type release struct {
	version string // of the commit's tag without "v", or 0.0.0-dev.TIME.COMMIT
	tagged  bool
	at      time.Time
	docs    []entry // the texts that go beside the program
	out     map[string][]byte
}

func main() {
	out := flag.String("out", "dist", "the folder for the files; it is made anew")
	only := flag.String("only", "", "build for one system alone, such as linux/amd64")
	flag.Parse()
	if err := run(*out, *only); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(dir, only string) error {
	chosen, err := choose(only)
	if err != nil {
		return err
	}
	r, err := describe()
	if err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "odd-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	for _, t := range chosen {
		if err := r.build(tmp, t); err != nil {
			return err
		}
	}
	if err := r.npmWrapper(); err != nil {
		return err
	}
	r.out["Dockerfile"] = dockerfile
	r.sums()
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(r.out)) {
		if err := os.WriteFile(filepath.Join(dir, name), r.out[name], 0o644); err != nil {
			return err
		}
		fmt.Printf("%s\t%d\n", name, len(r.out[name]))
	}
	return nil
}

func choose(only string) ([]target, error) {
	if only == "" {
		return targets, nil
	}
	for _, t := range targets {
		if t.os+"/"+t.arch == only {
			return []target{t}, nil
		}
	}
	return nil, fmt.Errorf("-only %s: odd is not built for it; choose one of %v", only, targets)
}

var taggedVersion = regexp.MustCompile(`^v([0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?)$`)

// describe reads version and time from the commit that is checked out.
func describe() (*release, error) {
	stamp, err := git("log", "-1", "--format=%ct %h")
	if err != nil {
		return nil, err
	}
	seconds, commit, _ := strings.Cut(stamp, " ")
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return nil, err
	}
	r := &release{at: time.Unix(unix, 0).UTC(), out: map[string][]byte{}}
	r.version = "0.0.0-dev." + r.at.Format("20060102150405") + "." + commit
	tags, err := git("tag", "--points-at", "HEAD", "--sort=-version:refname")
	if err != nil {
		return nil, err
	}
	for tag := range strings.FieldsSeq(tags) {
		if m := taggedVersion.FindStringSubmatch(tag); m != nil {
			r.version, r.tagged = m[1], true
			break
		}
	}
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("%w; run this at the top of odd's repository", err)
		}
		r.docs = append(r.docs, entry{name: name, data: text})
	}
	return r, nil
}

func git(args ...string) (string, error) {
	out, err := exec.Command("git", args...).Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

// build makes the program for one system, and the files that hold it.
func (r *release) build(tmp string, t target) error {
	file := filepath.Join(tmp, "odd-"+t.os+"-"+t.arch)
	cmd := exec.Command("go", "build", "-trimpath", "-tags=nethttpomithttp2", "-ldflags=-s -w", "-o", file, "./cmd/odd")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+t.os, "GOARCH="+t.arch, "GOFLAGS=")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go build for %s/%s: %w", t.os, t.arch, err)
	}
	program, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	name := "odd_" + r.version
	at := name + "_" + t.os + "_" + t.arch
	if err := r.archive(at+".tar.gz", at+"/", append([]entry{{name: "odd", data: program, mode: 0o755}}, r.docs...)); err != nil {
		return err
	}
	if t.os == "linux" {
		if r.out[name+"_"+t.arch+".deb"], err = r.debian(t.arch, program); err != nil {
			return err
		}
	}
	if err := r.npmProgram(t, program); err != nil {
		return err
	}
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return err
	}
	if err := r.knowsCommit(info); err != nil {
		return err
	}
	// The modules are the same for every system.
	r.out[name+".cdx.json"], err = r.modules(info)
	return err
}

// knowsCommit refuses a tagged release whose program does not name the commit, or was
// built from changed files.
func (r *release) knowsCommit(info *debug.BuildInfo) error {
	if !r.tagged {
		return nil
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.modified" {
			if s.Value == "true" {
				return errors.New("files are changed: commit or stash them, and build again")
			}
			return nil
		}
	}
	return errors.New("the program does not know its commit: build in a clone of its own, not in a linked work tree")
}

// modules lists what is inside a program, as CycloneDX has it.
func (r *release) modules(info *debug.BuildInfo) ([]byte, error) {
	type property struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	type component struct {
		Type       string     `json:"type"`
		Name       string     `json:"name"`
		Version    string     `json:"version"`
		PURL       string     `json:"purl"`
		Properties []property `json:"properties,omitempty"`
	}
	of := func(kind, path, version, sum string) component {
		c := component{Type: kind, Name: path, Version: version, PURL: "pkg:golang/" + path + "@" + version}
		if sum != "" {
			c.Properties = []property{{"go:sum", sum}}
		}
		return c
	}
	parts := []component{of("library", "std", strings.TrimPrefix(info.GoVersion, "go"), "")}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		parts = append(parts, of("library", m.Path, m.Version, m.Sum))
	}
	out, err := json.MarshalIndent(map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
		"metadata": map[string]any{
			"timestamp": r.at.Format(time.RFC3339),
			"component": of("application", info.Main.Path, r.version, ""),
		},
		"components": parts,
	}, "", "  ")
	return append(out, '\n'), err
}

func (r *release) sums() {
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(r.out)) {
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(r.out[name]), name)
	}
	r.out["SHA256SUMS"] = b.Bytes()
}
