package reconcile

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// eachParallel calls do(0) … do(n-1), on as many goroutines as there are processors.
func eachParallel(n int, do func(i int)) {
	const share = 32 // calls taken at once
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (n+share-1)/share) {
		wg.Go(func() {
			for from := int(next.Add(share)) - share; from < n; from = int(next.Add(share)) - share {
				for i := from; i < min(from+share, n); i++ {
					do(i)
				}
			}
		})
	}
	wg.Wait()
}
