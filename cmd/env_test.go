package cmd

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"testing"

	"github.com/odd-cli/odd/cmd/internal/console"
)

// aloneMain is held by the command that runs: the flag --help is one variable of the process.
var aloneMain sync.Mutex

// oneAtATime is Main for tests that run side by side.
func oneAtATime(env console.Env, args ...string) int {
	aloneMain.Lock()
	defer aloneMain.Unlock()
	return Main(env, args...)
}

// Only the first collection of a command is late, whatever it comes to.
func TestCollected(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	SizeHeap()
	percent := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	for range 100 {
		runtime.GC()
		runtime.Gosched()
		if metrics.Read(percent); percent[0].Value.Uint64() == 50 {
			return
		}
	}
	t.Errorf("%d %% after a hundred collections", percent[0].Value.Uint64())
}
