// Package control tells a package whether the command interleave chooses the schedule of
// its process. It needs nothing but the standard library, so that a package which is also
// used without the command may import it.
//
// In a binary that the command did not build, each function returns its zero value.
package control
