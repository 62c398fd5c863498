// Command lane is the interleave lane. See package interleave.
package main

import (
	"log/slog"
	"os"

	"eventide/props/lanes/overlaid"
)

func main() {
	// Some shutdowns of the speed figures pass their timeout: that is no finding.
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(interleave.Main(os.Args[1:], os.Stdout, os.Stderr))
}
