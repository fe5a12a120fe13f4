package tasks

import (
	"testing"
)

// What a command prints is kept up to a byte more than a report may have, so that too much is seen
// and does not fill the memory.
func TestBounded(t *testing.T) {
	t.Parallel()
	var b bounded
	part := make([]byte, maxReport/2)
	for range 3 {
		if n, err := b.Write(part); n != len(part) || err != nil {
			t.Fatalf("got %d, %v; a command is not to fail for what it prints", n, err)
		}
	}
	if len(b) != maxReport+1 {
		t.Errorf("%d bytes are kept, want %d", len(b), maxReport+1)
	}
}
