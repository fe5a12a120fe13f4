package cage

import (
	"os"
	"runtime"
	"slices"
	"testing"
)

// TestTry: what this machine is said to hold, a program that tries finds held.
func TestTry(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has a keeper")
	}
	got, err := held().Try(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, tr := range got.Trials {
		t.Logf("%-45s held %-5v %s", tr.What, tr.Held, tr.Detail)
	}
	if missing := got.Missing(); len(got.Held.Missing) == 0 && got.Held.Signals && len(missing) > 0 {
		t.Errorf("%s, and yet: %q", got.Held, missing)
	}
	off := held()
	off.Enforce = Off
	without, err := off.Try(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if m := without.Missing(); without.Held.Landlock != 0 || without.Loopback == "" || !slices.Contains(m, "write outside: it went through") || !slices.Contains(m, "connect to a unix socket outside: it went through") || !slices.Contains(m, "with network none: make a UDP socket: it went through") {
		t.Errorf("a trial that cannot fail: %s, %q", without.Held, m)
	}
	if without.Held.String() != "reaper" || !without.Held.Reaper {
		t.Errorf("%s", without.Held)
	}
}

// BenchmarkStart is the price of being held: the difference to the first.
func BenchmarkStart(b *testing.B) {
	for _, name := range []string{"group", "held", "loopback"} {
		b.Run(name, func(b *testing.B) {
			c, p := held(), Program{Argv: []string{"true"}, Dir: "/", Env: []string{"PATH=" + os.Getenv("PATH")}}
			switch name {
			case "group":
				c = Cage{}
			case "loopback":
				p.Network = Loopback
			}
			for b.Loop() {
				if _, err := c.Run(b.Context(), p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
