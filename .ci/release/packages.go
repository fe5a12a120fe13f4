package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/odd-cli/odd/cmd"
)

// entry is a file of an archive; a mode of 0 is 0o644.
type entry struct {
	name string
	data []byte
	mode int64
}

// archive adds a .tar.gz whose names begin with prefix.
func (r *release) archive(file, prefix string, entries []entry) error {
	var err error
	r.out[file], err = r.tarball(prefix, entries)
	return err
}

// tarball is a .tar.gz that depends on its entries and the commit's time alone.
func (r *release) tarball(prefix string, entries []entry) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		h := &tar.Header{Name: prefix + e.name, Mode: e.mode, Size: int64(len(e.data)), ModTime: r.at, Format: tar.FormatUSTAR}
		if h.Mode == 0 {
			h.Mode = 0o644
		}
		if strings.HasSuffix(e.name, "/") {
			h.Typeflag, h.Mode = tar.TypeDir, 0o755
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return zipped(b.Bytes())
}

func zipped(data []byte) ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(data); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// debian is a Debian package: an ar archive of three members (deb(5)).
func (r *release) debian(arch string, program []byte) ([]byte, error) {
	control := fmt.Sprintf(`Package: odd
Version: %s
Architecture: %s
Maintainer: odd maintainers <maintainers@users.noreply.github.com>
Depends: git (>= 1:2.38)
Section: vcs
Priority: optional
Installed-Size: %d
Homepage: https://github.com/odd-cli/odd
Description: run AI agents on tasks in a git repository
 odd checks what agents produce and puts it on a branch for a person to
 approve. Tasks, knowledge, decisions and costs are plain files.
`, strings.ReplaceAll(r.version, "-", "~"), arch, len(program)/1024+1)
	meta, err := r.tarball("./", []entry{{name: "control", data: []byte(control)}})
	if err != nil {
		return nil, err
	}
	page, err := cmd.Man()
	if err != nil {
		return nil, err
	}
	man, err := zipped([]byte(page))
	if err != nil {
		return nil, err
	}
	files := []entry{{name: "usr/"}, {name: "usr/bin/"}, {name: "usr/bin/odd", data: program, mode: 0o755},
		{name: "usr/share/"},
		{name: "usr/share/man/"}, {name: "usr/share/man/man1/"}, {name: "usr/share/man/man1/odd.1.gz", data: man}, {name: "usr/share/doc/"}, {name: "usr/share/doc/odd/"}}
	for _, d := range r.docs {
		name := map[string]string{"LICENSE": "copyright"}[d.name]
		if name == "" {
			name = d.name
		}
		files = append(files, entry{name: "usr/share/doc/odd/" + name, data: d.data})
	}
	data, err := r.tarball("./", files)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString("!<arch>\n")
	for _, m := range []entry{{name: "debian-binary", data: []byte("2.0\n")}, {name: "control.tar.gz", data: meta}, {name: "data.tar.gz", data: data}} {
		fmt.Fprintf(&b, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", m.name, r.at.Unix(), 0, 0, 0o100644, len(m.data))
		b.Write(m.data)
		if len(m.data)%2 == 1 {
			b.WriteByte('\n')
		}
	}
	return b.Bytes(), nil
}

//go:embed odd.js
var wrapper []byte

// scope is odd's name space on npm.
const scope = "@odd-cli/odd"

// npmProgram adds the npm package that holds one system's program. npm calls amd64 x64.
func (r *release) npmProgram(t target, program []byte) error {
	cpu := map[string]string{"amd64": "x64"}[t.arch]
	if cpu == "" {
		cpu = t.arch
	}
	name := scope + "-" + t.os + "-" + cpu
	return r.npm(name, map[string]any{"os": []string{t.os}, "cpu": []string{cpu}}, entry{name: "bin/odd", data: program, mode: 0o755})
}

// npmWrapper adds the npm package that people install; npm picks the program that fits.
func (r *release) npmWrapper() error {
	programs := map[string]string{}
	for _, t := range targets {
		programs[scope+"-"+t.os+"-"+strings.Replace(t.arch, "amd64", "x64", 1)] = r.version
	}
	return r.npm(scope, map[string]any{"bin": map[string]string{"odd": "bin/odd.js"}, "optionalDependencies": programs},
		entry{name: "bin/odd.js", data: wrapper, mode: 0o755})
}

func (r *release) npm(name string, more map[string]any, program entry) error {
	about := map[string]any{
		"name": name, "version": r.version, "license": "Apache-2.0",
		"description": "Run AI agents on tasks in a git repository; a person approves the result",
		"repository":  map[string]string{"type": "git", "url": "git+https://github.com/odd-cli/odd.git"},
		"files":       []string{path.Dir(program.name)},
	}
	for k, v := range more {
		about[k] = v
	}
	text, err := json.MarshalIndent(about, "", "  ")
	if err != nil {
		return err
	}
	file := strings.ReplaceAll(strings.TrimPrefix(name, "@"), "/", "-") + "-" + r.version + ".tgz"
	return r.archive(file, "package/", append([]entry{{name: "package.json", data: append(text, '\n')}, program}, r.docs...))
}
