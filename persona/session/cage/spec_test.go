package cage

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/odd-cli/odd/persona/session"
)

// TestPlaces: what is hidden is opened by no list of odd.toml, by no folder of
// programs and by no link, and the user's home is no toolchain.
func TestPlaces(t *testing.T) {
	t.Parallel()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(p string) string { return filepath.Join(top, p) }
	for _, dir := range []string{"home/secret", "home/notes", "home/bin", "opt/bin", "opt/lib", "opt/share", "opt/etc", "go/pkg", "other/tools", "other/lib", "desk/tree", "desk/home", "desk/temp", "drop", "own"} {
		if err := os.MkdirAll(at(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(at("home/secret"), at("innocent")); err != nil {
		t.Fatal(err)
	}
	c := Cage{Home: at("home"), Hidden: []string{at("home/secret")},
		Read:  []string{at("home/notes"), at("home/secret"), at("home"), at("innocent"), at("nowhere"), "relative"},
		Write: []string{at("drop"), at("home/secret"), at("innocent"), at("home"), at("nowhere")}}
	p := Program{Desk: session.Desk{Tree: at("desk/tree"), Home: at("desk/home"), Temp: at("desk/temp"), Read: []string{at("home/secret/x")}},
		Write: []string{at("own"), at("home/secret"), "relative"},
		Env:   []string{"PATH=" + at("home/bin") + ":" + at("other/tools") + ":" + at("home") + ":bin:" + at("innocent"), "GOROOT=" + at("go"), "GOMODCACHE=" + top, "OTHER=" + at("opt/share")}}
	read, write := c.listPlaces(p, at("opt/bin/agent"))
	read = slices.DeleteFunc(read, func(r string) bool { return slices.Contains(systemPlaces(), r) })
	wantRead := []string{at("go"), at("home/bin"), at("home/notes"), at("opt/bin"), at("opt/lib"), at("other/tools")}
	wantWrite := []string{at("desk/tree"), at("desk/home"), at("desk/temp"), at("own"), at("home/secret"), at("drop")} // what odd's own code names is opened whatever is hidden
	if !slices.Equal(read, wantRead) {
		t.Errorf("reads\n%q, want\n%q", read, wantRead)
	}
	if !slices.Equal(write, wantWrite) {
		t.Errorf("writes\n%q, want\n%q", write, wantWrite)
	}
	for place, want := range map[string]bool{"home/secret": true, "home/secret/x": true, "home": true, "": true, "innocent": true, "home/notes": false, "home/secrets": false, "drop": false} {
		if got := c.Opens(at(place)); got != want {
			t.Errorf("Opens(%q) = %v", place, got)
		}
	}
}

// TestLinkedPrograms: where a link leads that lies in a place the program may write is not opened, neither the
// file nor its folder, by whichever name the place is reached.
func TestLinkedPrograms(t *testing.T) {
	t.Parallel()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(p string) string { return filepath.Join(top, p) }
	for _, dir := range []string{"home/other/bin", "home/other/lib", "opt/bin", "desk/tree/in", "desk/cache"} {
		if err := os.MkdirAll(at(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"home/deploy", "home/other/deploy", "home/other/bin/deploy", "desk/tree/own"} {
		if err := os.WriteFile(at(file), []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{
		"desk/tree/file": "home/deploy", "desk/tree/in/deep": "home/other/deploy", "desk/tree/bin": "home/other/bin", "desk/tree/twice": "desk/tree/file",
		"desk/cache/mod": "home/other", "opt/bin/agent": "home/other/deploy", "opt/desk": "desk",
	} {
		if err := os.Symlink(at(to), at(name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ path, env, want string }{
		{path: "desk/tree/file"}, {path: "desk/tree/in/deep"}, {path: "desk/tree/bin/deploy"}, {path: "desk/tree/twice"}, {path: "desk/tree/own"},
		{path: "opt/desk/tree/file"}, {path: "opt/desk/tree/bin/deploy"}, {path: "desk/tree/none"},
		{path: "desk/tree/own", env: "GOMODCACHE=" + at("desk/cache/mod")}, {path: "desk/tree/own", env: "PATH=" + at("desk/tree/bin")},
		{path: "opt/bin/agent", want: "home/other opt/bin"}, {path: "home/deploy", want: "home/deploy"},
	} {
		p := Program{Desk: session.Desk{Tree: at("desk/tree"), Cache: at("desk/cache")}, Env: []string{c.env}}
		read, _ := Cage{Home: at("home")}.listPlaces(p, at(c.path))
		read = slices.DeleteFunc(read, func(r string) bool { return slices.Contains(systemPlaces(), r) })
		if got := strings.ReplaceAll(strings.Join(read, " "), top+"/", ""); got != c.want {
			t.Errorf("%s %s: reads %q, want %q", c.path, c.env, got, c.want)
		}
	}
}

// TestHeldWords is what the ledger keeps of a cage.
func TestHeldWords(t *testing.T) {
	t.Parallel()
	for want, h := range map[string]Held{
		"none":                              {Network: Allow, Sockets: true, Signals: true},
		"landlock:7 net:none reaper limits": {Landlock: 7, Network: None, Reaper: true, Limits: true},
		"landlock:9 net:loopback sockets":   {Landlock: 9, Network: Loopback, Unix: true},
		"limits":                            {Limits: true},
	} {
		if got := h.String(); got != want {
			t.Errorf("%+v: %q", h, got)
		}
	}
}

// TestUnkept: without a keeper nothing asked for is held, and what was asked for is said.
func TestUnkept(t *testing.T) {
	t.Parallel()
	self := []string{"odd", Verb}
	for _, c := range []struct {
		c       Cage
		network Network
		missing int
	}{
		{Cage{Self: self, Enforce: Require}, None, 4}, {Cage{Self: self, Enforce: Require}, Allow, 3}, {Cage{Self: self}, Loopback, 4},
		{Cage{Self: self, Enforce: Off}, None, 0}, {Cage{Enforce: Require}, None, 0},
	} {
		if got := c.c.missingWithoutKeeper(Program{Network: c.network}); len(got) != c.missing {
			t.Errorf("%+v, %s: %q", c.c, c.network, got)
		}
	}
	if got := (Cage{Enforce: Require}).refusedWithoutKeeper(Program{}); len(got) != 1 {
		t.Errorf("no keeper where one is required: %q", got)
	}
	if got := (Cage{}).refusedWithoutKeeper(Program{}); got != nil {
		t.Errorf("no keeper where none is required: %q", got)
	}
}
