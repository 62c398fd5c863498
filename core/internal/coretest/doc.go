// Package coretest holds what the tests of core and of the packages over it share: waiting
// with a guard against hangs, executors that end with their test, a journal of what happened,
// the text of a logger, and the check that nothing is left behind. Only tests import it; the
// layering test says so.
package coretest
