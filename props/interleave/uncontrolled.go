//go:build !interleave

package interleave

func controlled() bool { return false }

func stamp() int64 { return 0 }

func plainRun() bool { return false }
