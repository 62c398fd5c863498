//go:build !interleave

package control

func chosen() bool { return false }

func stamp() int64 { return 0 }

func now() int64 { return 0 }

func operations() uint64 { return 0 }

func hush() {}

func loud() {}

func mark() {}

const plain = false
