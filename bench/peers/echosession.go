package peers

import "errors"

// The workloads of an echo server: the server is a driver's, the client this process.

// withEcho starts the echo server of im, runs use, and stops it; the answer of the
// stop is returned if use returns none of its own. The pairs are of echo-start.
func (s *session) withEcho(im Impl, use func(address string) (Answer, error), pairs ...any) (Answer, error) {
	started, err := s.ask(im, "echo-start", pairs...)
	if err != nil || started.None != "" {
		return started, err
	}
	a, err := use("127.0.0.1:" + started.text["port"])
	stopped, stopErr := s.ask(im, "echo-stop")
	if err = errors.Join(err, stopErr); err != nil {
		return Answer{}, err
	}
	if a.Ops == 0 && len(a.Samples) == 0 {
		return stopped, nil
	}
	return a, nil
}

func (s *session) echo(im Impl, connections int) (Answer, error) {
	return s.withEcho(im, func(address string) (Answer, error) { return echoLoad(address, connections) })
}

// channels opens connections, says one thing on each, and stops the server.
func (s *session) channels(im Impl, connections int) (Answer, error) {
	var open clients
	defer func() { open.close() }()
	return s.withEcho(im, func(address string) (Answer, error) {
		var err error
		open, err = greeted(address, connections)
		return Answer{}, err
	})
}

// readiness asks a server that shares its process with spinning threads.
func (s *session) readiness(im Impl, spinning int) (Answer, error) {
	return s.withEcho(im, func(address string) (Answer, error) {
		return echoTrips(address, readinessTrips)
	}, "burn", spinning)
}

// warmConnections are open before memory is read for the first time: what a server
// keeps once, and not for each connection, is there by then.
const warmConnections = 16

// memory says by how much the server's process grows for idle connections, on each of
// which one message was echoed. The process is started for this slice: one that has
// had as many connections before would take the memory that it kept of them.
func (s *session) memory(im Impl, connections int) (Answer, error) {
	var open clients
	defer func() { open.close() }()
	return s.fresh(im, func(alone *session) (Answer, error) {
		return alone.withEcho(im, func(address string) (Answer, error) {
			var err error
			if open, err = greeted(address, warmConnections); err != nil {
				return Answer{}, err
			}
			before, err := alone.ask(im, "memory")
			if err != nil || before.None != "" {
				return before, err
			}
			idle, err := greeted(address, connections)
			open = append(open, idle...)
			if err != nil {
				return Answer{}, err
			}
			after, err := alone.ask(im, "memory")
			return Answer{
				Ops: connections, Resident: after.Resident - before.Resident,
				Heap: after.Heap - before.Heap, Stack: after.Stack - before.Stack,
			}, err
		})
	})
}
