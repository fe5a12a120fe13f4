//go:build bench && !linux

package bench

func filesystem() string { return "unknown file system" }

func busy() float64 { return 0 }
