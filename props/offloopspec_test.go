package props

import (
	"fmt"

	"eventide/core"
)

// offFuture specifies a promise with its future.
type offFuture struct {
	home       string
	done, kept bool
	value      int
	err        error
	listeners  []*offListener
	notifying  bool
	left       int // how many listeners are called before others have their turn, or newRound
}

// offSpec specifies listeners off the loop: the outermost call of a goroutine calls them all, in the
// order in which the futures were completed; listeners of one future that are left when one of them
// ends abruptly come first, and a future with very many listeners lets others have a turn (G9, G13).
type offSpec struct {
	offRun
	futures []*offFuture
	queue   []func() // by the outermost call
	inside  bool
	exited  bool // the goroutine ends when the outermost call has made its calls
}

func (s *offSpec) call(c offCall) {
	f := s.futures[c.Of]
	switch c.Do {
	case "listen":
		inside := s.inside
		for i := 0; i < c.Times && (inside || !s.exited); i++ {
			s.listen(f, c.Listener)
		}
	case "succeed":
		s.answer(c, func() bool { return s.complete(f, true, 7, nil) })
	case "fail":
		s.answer(c, func() bool { return s.complete(f, true, 0, errFailed) })
	case "fail with nil":
		s.answer(c, func() bool { return false })
	case "cancel":
		s.answer(c, func() bool { return s.complete(f, false, 0, core.ErrCancelled) })
	case "keep":
		f.kept = f.kept || !f.done
		s.answer(c, func() bool { return !f.done || f.err != core.ErrCancelled })
	case "at the end":
		if c.Listener != nil && ended(f.home) {
			s.enqueue(func() { s.run(f, c.Listener, "the end", nil) })
		}
	}
}

// answer says the answer of a call. If its listeners end the goroutine, the call does not return.
func (s *offSpec) answer(c offCall, call func() bool) {
	inside, at := s.inside, len(s.said)
	s.say("%s %d: no answer", c.Do, c.Of)
	if got := call(); inside || !s.exited {
		s.said[at] = fmt.Sprintf("%s %d: %v", c.Do, c.Of, got)
	}
}

func (s *offSpec) complete(f *offFuture, owner bool, value int, err error) bool {
	if f.done || f.kept && !owner {
		return false
	}
	f.done, f.value, f.err = true, value, err
	s.notify(f)
	return true
}

func (s *offSpec) listen(f *offFuture, l *offListener) {
	if l == nil {
		return
	}
	f.listeners = append(f.listeners, l)
	if f.done && !f.notifying {
		s.notify(f)
	}
}

func (s *offSpec) notify(f *offFuture) {
	if len(f.listeners) > 0 {
		f.notifying, f.left = true, newRound
		s.enqueue(func() { s.round(f) })
	}
}

// enqueue adds a call, and makes all calls if it is the outermost one.
func (s *offSpec) enqueue(call func()) {
	s.queue = append(s.queue, call)
	if s.inside {
		return
	}
	s.inside = true
	for len(s.queue) > 0 {
		next := s.queue[0]
		s.queue = s.queue[1:]
		next()
	}
	s.inside = false
}

// newRound is offFuture.left before the first listener of a round.
const newRound = -1

// round calls the listeners that a future has, and a few of those added meanwhile.
func (s *offSpec) round(f *offFuture) {
	for len(f.listeners) > 0 {
		switch f.left {
		case 0:
			f.left = newRound
			s.queue = append(s.queue, func() { s.round(f) })
			return
		case newRound:
			f.left = max(len(f.listeners), 64)
		}
		f.left--
		l := f.listeners[0]
		f.listeners = f.listeners[1:]
		s.run(f, l, fmt.Sprint(f.value), f.err)
		if l.End != "" {
			s.queue = append([]func(){func() { s.round(f) }}, s.queue...)
			return
		}
	}
	f.notifying = false
}

func (s *offSpec) run(f *offFuture, l *offListener, value string, err error) {
	s.say("listener %d gets %s and %v", l.ID, value, err)
	for _, c := range l.Calls {
		s.call(c)
	}
	if again := l.once(); again != nil && value != "the end" {
		s.listen(f, again)
	}
	switch l.End {
	case "panics":
		s.say("%s reports the panic of listener %d", reporterOf(f.home, value == "the end"), l.ID)
	case "exits":
		s.exited = true
	}
}

// once is a listener that adds itself, as it is added.
func (l *offListener) once() *offListener {
	if l.Again == 0 {
		return nil
	}
	again := *l
	again.Again--
	again.Calls = nil
	return &again
}

func ended(home string) bool { return home != "none" && home != "new executor" && home != "new pool" }

// reporterOf reports panics of listeners: the executor, or the default logger.
func reporterOf(home string, atEnd bool) string {
	if home == "none" || home == "wrapped ended executor" && !atEnd {
		return "the logger"
	}
	return home
}

func (s *offSpec) makeCalls(actors [][]offCall) {
	for _, calls := range actors {
		s.exited = false
		for _, c := range calls {
			if s.call(c); s.exited {
				break
			}
		}
	}
}
