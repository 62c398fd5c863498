package main

import "slices"

// kit is a test that runs a conformance kit, or generated inputs beside a specification, and which
// packages it runs. Its specification is not written for single bugs.
type kit struct {
	pkg, test string
	checks    int // inputs of each property; 0: as many as the tests of the package draw
	runs      func(pkg string) bool
}

// property matches the tests that compare generated inputs with a specification: only they have this name.
// A kit draws as many inputs as take some seconds.
const property = "^TestProp"

var kits = []kit{
	{"props", "^TestProp(CoreConforms|ListenersOffLoop)$", 0, inVirtual}, // the others are the lanes
	{"core", property, 1000, inVirtual},
	{"core", "^TestEpollPollersConform$", 0, inReal},
	{"core", "^TestPoolConforms$", 0, inVirtual},
	{"core/internal/tasks", property, 5000, only("core/internal/tasks")},
	{"core/internal/epoll", property, 1000, only("core/internal/epoll", "core/internal/netpoll")},
	{"core/internal/netpoll", property, 0, only("core/internal/netpoll")},
	{"core/internal/poll", property, 1000, only("core/internal/poll")},
	{"core/internal/transport", property, 1000, only("core/internal/transport")},
	{"core/tcp", property, 500, only("core/tcp")},
	{"core/blocking", property, 1000, only("core/blocking")},
	{"core/process", property, 1000, only("core/process")},
	{"core/tracked", property, 0, only("core/tracked")},
	{"core/tracked", "^TestConformance$", 0, only("core/tracked")},
	{"core/frame", property, 1000, only("core/frame")},
	{"core/watch", property, 200, only("core/watch")},
}

// only is the packages of the names.
func only(names ...string) func(pkg string) bool {
	return func(pkg string) bool { return slices.Contains(names, pkg) }
}

// kitsThatRan is the pattern of the tests of a package that run as kits for a mutant of pkg, or "".
func kitsThatRan(pkg, of string) (pattern string) {
	for _, k := range kits {
		if k.pkg == of && k.runs(pkg) {
			pattern = eitherOf(pattern, k.test)
		}
	}
	return pattern
}
