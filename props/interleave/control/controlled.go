//go:build interleave

package control

import (
	"os"
	_ "unsafe" // for linkname

	"eventide/props/interleave/protocol"
)

// The command sets the build tag together with the overlay that has these functions.

//go:linkname chosen runtime.ilvControlled
func chosen() bool

//go:linkname stamp runtime.ilvStamp
func stamp() int64

//go:linkname now runtime.ilvClockNow
func now() int64

//go:linkname operations runtime.ilvOperations
func operations() uint64

//go:linkname hush runtime.ilvHush
func hush()

//go:linkname loud runtime.ilvLoud
func loud()

//go:linkname mark runtime.ilvEmbeddedMark
func mark()

var plain = os.Getenv(protocol.EnvPlain) != ""
