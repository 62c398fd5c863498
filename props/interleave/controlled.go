//go:build interleave

package interleave

import (
	"os"
	_ "unsafe" // for linkname

	"eventide/props/interleave/protocol"
)

// The command sets the build tag together with the overlay that has these functions.

//go:linkname controlled runtime.ilvControlled
func controlled() bool

//go:linkname stamp runtime.ilvStamp
func stamp() int64

func plainRun() bool { return os.Getenv(protocol.EnvPlain) != "" }
