// Package survey runs the tests of a pinned list of modules under chosen schedules, and
// keeps what was found.
//
// Each module is fetched through the go command and copied out of the module cache, so
// that its tests run with its own go.mod and may write beside their sources. Each module
// is explored by a process of its own, which is killed when its time is up; the tests
// that ended before count.
package survey
