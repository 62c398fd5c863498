// Package control tells a package whether the command interleave chooses the schedule of
// its process, and has what a harness needs whose own operations are to be none of the
// schedule. It needs nothing but the standard library, so that a package which is also
// used without the command may import it.
//
// In a binary that was built without the engine, each function returns its zero value, and
// Mutex is a sync.Mutex.
package control
