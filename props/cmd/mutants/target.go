package main

import (
	"path"
	"strings"
)

// targets says which part of the module a file belongs to, by how its path begins. The
// first that fits counts.
var targets = []struct{ prefix, target string }{
	{"core/tcp/", "tcp"}, {"core/process/", "process"}, {"core/blocking/", "blocking"},
	{"core/timer", "timers"}, {"core/clock", "timers"},
	{"core/future", "futures"}, {"core/promise", "futures"}, {"core/submit", "futures"},
	{"core/hooks", "hooks"}, {"core/group", "groups"},
	{"core/shutdown", "termination"}, {"core/termination", "termination"}, {"core/report", "termination"}, {"core/state", "termination"},
	{"core/internal/epoll/", "poller"}, {"core/internal/poll/", "poller"}, {"core/internal/netpoll/", "poller"},
	{"core/poller", "poller"}, {"core/chanpoller", "poller"}, {"core/epollpoller", "poller"}, {"core/rebuild", "poller"},
	{"core/registration", "channels"}, {"core/channel", "channels"}, {"core/io", "channels"}, {"core/eventloop", "channels"}, {"core/readiness", "channels"},
	{"core/loop", "loop"}, {"core/body", "loop"}, {"core/current", "loop"}, {"core/local", "loop"}, {"core/internal/tasks/", "loop"}, {"core/offloop", "loop"},
	{"core/", "executor"},
	{"props/lanes/interleave/judge", "checks"}, {"props/lanes/interleave/room", "checks"}, {"props/lanes/interleave/linear", "checks"},
	{"props/lanes/interleave/", "scheduler"}, {"props/interleave/inprocess/", "scheduler"}, {"props/interleave/overlay/", "scheduler"}, {"props/", "checks"}, {"model/", "checks"},
}

// targetOf is the part of the module that a mutant of the file is aimed at.
func targetOf(file string) string {
	for _, t := range targets {
		if strings.HasPrefix(file, t.prefix) {
			return t.target
		}
	}
	return path.Dir(file)
}

// byStress are the targets that the plain stress program runs: it has executors with
// tasks, timers and hooks, and neither groups nor descriptors nor futures.
var byStress = map[string]bool{"executor": true, "timers": true, "hooks": true, "termination": true, "loop": true}
