//go:build !race

package stress

// raceDetector: the binary is not instrumented.
const raceDetector = false
