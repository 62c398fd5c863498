// Package coretest has helpers for the tests of core and of the packages over it: waiting with a
// guard against hangs, executors that are shut down when their test ends, a journal of events,
// the text of a logger, and a check for leaks. Only tests import it; the layering test checks
// that.
package coretest
