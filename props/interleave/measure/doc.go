// Package measure makes the figures of package evidence: how soon each strategy and each
// other tool finds the bugs of package kernels, and whether a schedule is the same in
// every process.
//
// It builds test binaries with package overlay and talks to them by package protocol, as
// the driver does. It does not minimise, and it confirms nothing: package driver is for
// that. Its functions run from the root of the repository.
package measure
