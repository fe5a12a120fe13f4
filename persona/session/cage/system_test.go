package cage

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Root may read what is for root alone; a program that it runs for an agent may not.
func TestReadableByAll(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	modes := map[string]os.FileMode{".": 0o755, "ssl": 0o755, "ssl/certs": 0o755, "ssl/certs/more": 0o755, "ssh": 0o755, "ssl/private": 0o710}
	for name, mode := range map[string]os.FileMode{"hosts": 0o644, "shadow": 0o640, "ssl/certs/ca.pem": 0o644, "ssl/certs/more/b.pem": 0o444, "ssl/private/key": 0o644, "ssh/config": 0o644, "ssh/host_key": 0o600} {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		modes[name] = mode
	}
	for name, mode := range modes { // whatever the umask
		if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "shadow"), filepath.Join(dir, "ssl/certs/link")); err != nil {
		t.Fatal(err)
	}
	want := []string{filepath.Join(dir, "hosts"), filepath.Join(dir, "ssh/config"), filepath.Join(dir, "ssl/certs")}
	if got := readableByAll(dir); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := readableByAll(filepath.Join(dir, "none")); got != nil {
		t.Errorf("%q", got)
	}
	if os.Geteuid() == 0 && slices.Contains(systemPlaces(), "/etc") && len(readableByAll("/etc")) != 1 {
		t.Error("as root, all of /etc")
	}
}
