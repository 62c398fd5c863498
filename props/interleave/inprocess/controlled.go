//go:build interleave

package inprocess

import _ "unsafe" // for linkname

// The overlay has these functions, see runtime_embedded.go.txt there.

const controlled = true

//go:linkname strategyNumber runtime.ilvEmbeddedStrategy
func strategyNumber(name string) int

//go:linkname forget runtime.ilvEmbeddedForget
func forget(bound int)

//go:linkname nextOfDFS runtime.ilvEmbeddedDFS
func nextOfDFS() bool

//go:linkname boundOfDFS runtime.ilvEmbeddedBound
func boundOfDFS() (bound int, complete, cutOff bool)

//go:linkname begin runtime.ilvEmbeddedBegin
func begin(r *request)

//go:linkname end runtime.ilvEmbeddedEnd
func end(r *result)

//go:linkname learn runtime.ilvEmbeddedLearn
func learn(fresh bool)

//go:linkname number runtime.ilvEmbeddedNumber
func number(goid uint64) int

//go:linkname traced runtime.ilvEmbeddedTraced
func traced(l *lists)

//go:linkname clearPools sync.ilvClearPools
func clearPools()
