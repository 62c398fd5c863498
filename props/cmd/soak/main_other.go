//go:build !linux

// Command soak needs Linux.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "soak: it needs Linux")
	os.Exit(2)
}
