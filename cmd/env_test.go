package cmd

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
)

// Only the first collection of a command is late, whatever it comes to.
func TestCollected(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	OS()
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
