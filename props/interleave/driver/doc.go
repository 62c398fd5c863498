// Package driver runs the tests of Go packages under chosen schedules.
//
// A run has these steps. It finds the packages and compiles each test binary with
// the overlay of package runtime. It looks for a planted bug with the same overlay, and
// fails if it does not find it. It replays the package's regression files. It runs the
// tests once without control. Then each test gets a process and a share of the budget,
// and the search continues after a finding in a new process. Each new finding is
// minimised and confirmed in a fresh process.
//
// Nothing below GOROOT and nothing in the module cache is written.
package driver
