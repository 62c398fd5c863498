// Package peers measures executors and event loops of several languages beside
// one another: eventide's, Netty's, gnet, ants, pond, libuv, Boost.Asio, plain net
// and a Go channel.
//
//	make peers-setup     # once: the packages of the system, and the drivers
//	make peers           # ROUNDS=12 RUN='execute|roundtrip' to choose
//	make peers ROUNDS=2  # a trial: everything is shown, no target is judged
//
// # How they are driven
//
// Every implementation sits in a driver: a process that reads one request per line
// on its standard input and writes one answer per line on its standard output. The
// requests are the same for all, and so is what they mean (wire.go); the Go ones
// share one process, each other driver has its own, and Netty's two loops have a
// JVM each, so that neither spoils the other's compiled code. A driver that is not
// asked anything does nothing. Whoever writes one for another library needs no more
// than wire.go.
//
// A round asks every implementation for one slice of every workload, in an order
// that is shuffled anew for each round and workload by a seed that is printed.
// Ratios are taken round by round; reported are their median and its 95 %
// confidence interval by order statistics (golang.org/x/perf/benchmath), which
// assumes nothing about the distribution. Times drift by a factor of two from one
// run to the next: quote ratios.
//
// # What is measured
//
//	execute/producers=N     wall time per task, from letting N producers go until
//	                        the last task has run; all submit one existing func
//	execute/in-loop         the same for tasks that a running task submits
//	roundtrip/idle          from before the submission until the caller has heard
//	                        from the task, on a loop left alone for 200 us before;
//	                        of eventide it is verified that the loop parked once
//	                        per trip, otherwise the trip is void and not counted
//	roundtrip/busy          the same, trip after trip without a pause
//	latency/load=P          from when a task is due until it begins. One producer offers
//	                        an open load of P % of the rate at which a channel of
//	                        functions ran such tasks as fast as it could, the same for
//	                        everybody (who cannot keep up shows it): a task is due at
//	                        its time whatever became of those before it, and one that
//	                        could not be submitted in time has waited since (no
//	                        coordinated omission). Between two tasks the producer
//	                        yields the processor, in every language; see below. A
//	                        slice is one second of steady load, after a fifth of a
//	                        second that is not measured: p50, p99, p99.9 and maximum
//	latency-start/load=P    the first five milliseconds of the same load, on a new
//	                        executor that has run one task
//	schedule-cancel/W       one schedule and one cancel of a timer far away, from
//	                        within the loop or outside of it, the heap's work included
//	timer-lateness          by how much timers of 1 to 20 ms are late
//	shutdown/idle           quiet period 0, of a loop that has run one task
//	quiet-overshoot         by how much a quiet period of 20 ms takes longer
//	shutdown/backlog=N      from the shutdown call until the end, N tasks queued;
//	                        tasks that were accepted and never ran are counted
//	echo/connections=N      requests per second of a TCP echo server, by one client
//	readiness/idle          from before a message of 64 bytes is sent to that server,
//	                        which is idle, until its echo is there, on one connection
//	readiness/burn          the same while twice as many threads of the server's
//	                        process (goroutines, in Go) as there are processors never
//	                        wait. p99 of 30 trips is the longest
//	memory/idle-channels=N  by how many bytes the process of that server has grown for
//	                        each of N connections that have had one message echoed and
//	                        are idle: resident, and live in heap and stacks
//	shutdown/channels=N     until that server has ended, N connections open that have
//	                        had one message echoed each
//
// # A producer that waits
//
// It does not sleep until the next task is due: that is less than some microseconds
// away, and a timer is late by more. It does not spin either, but yields (Gosched,
// Thread.yield, sched_yield): Go queues a loop that a goroutine has woken behind that
// very goroutine, and if it spins, another thread has to be woken in the kernel to
// steal it. All that was measured then is that, some 60 us of every Go implementation
// alike, the channel not excepted.
//
// # Memory
//
// The server of a slice of memory is a process of its own: one that has had as many
// connections before would use what it has kept of them. It collects its garbage and
// gives back what is free before it reads its own numbers, once with 16 connections
// open and once with all. The buffers of sockets are the kernel's and not counted. Of
// libuv and Asio the heap is what malloc has handed out; the stacks of their threads
// and of Java's are few and not counted.
//
// # As many connections as a process may have
//
// Every connection is a descriptor of the server and one of the client, which is this
// program. It raises its limit (RLIMIT_NOFILE) as far as the largest workload needs, if
// it may; a workload that needs more is "not run" with the limit as its reason. Several
// client processes would not help: it is one server whose end is measured. From 10,000
// connections on they come from several addresses, 127.0.0.1, 127.0.0.2 and so on, for
// there are some 28,000 ports on each.
//
// # Raw samples
//
// How long the whole run will take is printed after the warm-up, from how long each slice
// took there, and again before each round.
//
// out/peers.jsonl has one JSON object per line. The first describes the run
// (RawHeader), every other is one slice (Slice); `peers -from out/peers.jsonl`
// makes the table and the JSON from it again, and nothing else goes into them.
//
// # What is not
//
// The others do less, or something else, and nothing is done to even that out: a
// channel makes its producers wait where a queue grows, core-pool, ants and pond are pools, here
// of one worker, libuv has no queue of tasks at all. gnet keeps in memory what it did
// not run before its end, so its backlog slices have a process each. A workload that an implementation
// does not have is "not offered" with the reason, one whose driver is missing is
// "not run" with the reason; neither counts as met.
package peers
