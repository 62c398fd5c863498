// Package runner builds and runs programs that may hang, crash or take all memory, such as one
// with a planted bug in it, and keeps the state of a long run of them. The commands verify and
// mutants and the lanes use it; what such a program says is theirs to read.
package runner
