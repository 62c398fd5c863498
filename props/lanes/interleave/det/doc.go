// Package det runs goroutines one at a time and decides, before each of their
// synchronisation operations, which one goes on. It is the runtime of the
// interleave lane: the rewriter replaces sync, sync/atomic, time, context, go,
// channels and the like by the packages below this one, whose operations ask the
// scheduler first and then do the real thing. Mutexes, atomics and channels stay
// real underneath, so that a -race build sees the program's own order of events.
//
// A goroutine hands over to the next directly, through a channel of its own. In a
// -race build that hand-over is hidden from the detector.
//
// No production package may import this one.
package det
