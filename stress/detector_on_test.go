//go:build race

package stress

// raceDetector: the binary is instrumented.
const raceDetector = true
