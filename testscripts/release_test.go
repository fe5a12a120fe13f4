package testscripts

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestRelease builds the release for this machine and installs it in each way that
// the machine has a program for.
func TestRelease(t *testing.T) {
	if testing.Short() {
		t.Skip("builds odd once more")
	}
	t.Parallel()
	dist := filepath.Join(t.TempDir(), "dist")
	build := exec.Command("go", "run", "-trimpath", "-tags=nethttpomithttp2", "-ldflags=-s -w", "./.ci/release", "-only", runtime.GOOS+"/"+runtime.GOARCH, "-out", dist)
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	checkSums(t, dist)
	t.Run("archive", func(t *testing.T) { runsOdd(t, unpackProgram(t, oneFile(t, dist, "odd_*.tar.gz"))) })
	t.Run("debian", func(t *testing.T) {
		needProgram(t, "dpkg-deb")
		if runtime.GOOS != "linux" {
			t.Skip("a Debian package holds a program for Linux")
		}
		at := t.TempDir()
		runCommand(t, exec.Command("dpkg-deb", "-x", oneFile(t, dist, "odd_*.deb"), at))
		runsOdd(t, filepath.Join(at, "usr/bin/odd"))
		holdsManual(t, filepath.Join(at, "usr/share/man/man1/odd.1.gz"))
		if got := runCommand(t, exec.Command("dpkg-deb", "-f", oneFile(t, dist, "odd_*.deb"), "Depends")); !strings.Contains(got, "git") {
			t.Errorf("depends on %q, want git", got)
		}
	})
	t.Run("npm", func(t *testing.T) {
		needProgram(t, "npm")
		at := t.TempDir()
		install := exec.Command("npm", "install", "--offline", "--no-audit", "--no-fund", "--prefix", at,
			oneFile(t, dist, "odd-cli-odd-[0-9]*.tgz"), oneFile(t, dist, "odd-cli-odd-"+runtime.GOOS+"-*.tgz"))
		install.Env = append(os.Environ(), "HOME="+at, "npm_config_cache="+filepath.Join(at, "cache"), "npm_config_userconfig="+filepath.Join(at, "npmrc"))
		runCommand(t, install)
		runsOdd(t, filepath.Join(at, "node_modules/.bin/odd"))
	})
}

// TestInstallScript installs a release as the action does, from a folder, and refuses
// another release and a broken download.
func TestInstallScript(t *testing.T) {
	t.Parallel()
	needProgram(t, "curl")
	releases := t.TempDir()
	name := "odd_1.2.3_" + runtime.GOOS + "_" + runtime.GOARCH
	archive := tarOf(t, name+"/odd", "#!/bin/sh\necho odd v1.2.3\n")
	sums := fmt.Sprintf("%x  %s.tar.gz\n", sha256.Sum256(archive), name)
	right := fmt.Sprintf("%x", sha256.Sum256([]byte(sums)))
	for _, c := range []struct{ name, version, checksum, broken, wants string }{
		{name: "named by checksum", version: "v1.2.3", checksum: right},
		{name: "without a checksum", version: "v1.2.3"},
		{name: "another release", version: "v1.2.3", checksum: strings.Repeat("0", 64), wants: "another release"},
		{name: "a broken download", version: "v1.2.3", checksum: right, broken: "cut", wants: "does not have the checksum"},
		{name: "no such release", version: "v9.9.9", wants: "cannot be downloaded"},
	} {
		t.Run(c.name, func(t *testing.T) {
			from, dir := filepath.Join(releases, "v1.2.3"), t.TempDir()
			writeAll(t, from, map[string][]byte{"SHA256SUMS": []byte(sums), name + ".tar.gz": append([]byte(c.broken), archive...)})
			install := exec.Command("bash", filepath.Join(root, ".ci/install"), c.version, c.checksum, dir)
			install.Env = append(os.Environ(), "ODD_RELEASES=file://"+releases)
			out, err := install.CombinedOutput()
			_, statErr := os.Stat(filepath.Join(dir, "odd"))
			if c.wants == "" {
				if err != nil || statErr != nil {
					t.Errorf("%v, %v\n%s", err, statErr, out)
				}
				return
			}
			if err == nil || statErr == nil || !strings.Contains(string(out), c.wants) {
				t.Errorf("error %v, program there: %t, want a refusal with %q and no program:\n%s", err, statErr == nil, c.wants, out)
			}
		})
	}
}

// holdsManual requires a manual page with commands, flags and notes.
func holdsManual(t *testing.T, file string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	page, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{".TH odd 1", ".SH drain", `\fB--max-tasks\fP`, "Only a person can run this."} {
		if !strings.Contains(string(page), want) {
			t.Errorf("%s: no %q", file, want)
		}
	}
}

func tarOf(t *testing.T, name, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(text))}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func writeAll(t *testing.T, dir string, files map[string][]byte) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// runsOdd has a program tell its version, and end with odd's code for a wrong word.
func runsOdd(t *testing.T, program string) {
	t.Helper()
	if got := runCommand(t, exec.Command(program, "--version")); !strings.HasPrefix(got, "odd ") {
		t.Errorf("%s --version prints %q", program, got)
	}
	err := exec.Command(program, "frobnicate").Run()
	if exit := new(exec.ExitError); !errors.As(err, &exit) || exit.ExitCode() != 2 {
		t.Errorf("%s frobnicate: %v, want exit status 2", program, err)
	}
}

// checkSums compares every file of the release with SHA256SUMS.
func checkSums(t *testing.T, dist string) {
	t.Helper()
	sums, err := os.ReadFile(filepath.Join(dist, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := fs.Glob(os.DirFS(dist), "*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		data, err := os.ReadFile(filepath.Join(dist, name))
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("%x  %s\n", sha256.Sum256(data), name); name != "SHA256SUMS" && !bytes.Contains(sums, []byte(want)) {
			t.Errorf("SHA256SUMS has no line %q", want)
		}
	}
}

// unpackProgram writes the program of a .tar.gz to a folder of its own.
func unpackProgram(t *testing.T, archive string) string {
	t.Helper()
	f, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err != nil {
			t.Fatalf("%s: no program: %v", archive, err)
		}
		if filepath.Base(h.Name) != "odd" {
			continue
		}
		program := filepath.Join(t.TempDir(), "odd")
		to, err := os.OpenFile(program, os.O_CREATE|os.O_WRONLY, h.FileInfo().Mode())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(to, r); err != nil {
			t.Fatal(err)
		}
		if err := to.Close(); err != nil {
			t.Fatal(err)
		}
		return program
	}
}

func oneFile(t *testing.T, dir, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %d files, want one (%v)", pattern, len(found), err)
	}
	return found[0]
}

func needProgram(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("%s is not installed", program)
	}
}

func runCommand(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	return string(out)
}
