package netty

import "slices"

// refFuture is the future of a timer or of a submitted body.
type refFuture struct {
	op            byte
	status        status
	uncancellable bool
	listeners     []int
	timer         *refTimer
}

func (r *reference) cancel(s *Step, inLoop bool) {
	f := r.by[s.A]
	if f == nil {
		return // a refused submission has no future
	}
	if f.status != pending || f.uncancellable {
		r.answer(inLoop, s.Label, "-")
		return
	}
	r.complete(f, cancelled, inLoop)
	if f.timer == nil {
		r.answer(inLoop, s.Label, "+")
		return
	}
	remove := func() {
		r.timers = slices.DeleteFunc(r.timers, func(t *refTimer) bool { return t == f.timer })
	}
	answer := "+"
	if inLoop {
		remove()
	} else if !r.offer(refItem{kind: refCall, call: remove}, false, false) {
		answer = "!"
		r.hit("R83")
	}
	r.answer(inLoop, s.Label, answer)
}

// complete completes a future and notifies its listeners: directly on the loop, by a task
// from outside, and never if the loop refuses that task.
func (r *reference) complete(f *refFuture, as status, inLoop bool) {
	f.status = as
	heard := f.listeners
	f.listeners = nil
	r.notify(heard, inLoop)
}

func (r *reference) notify(listeners []int, inLoop bool) {
	if len(listeners) == 0 {
		return
	}
	call := func() {
		for _, l := range listeners {
			r.heard(l)
		}
	}
	if inLoop {
		call()
	} else if !r.offer(refItem{kind: refCall, call: call}, false, true) {
		r.hit("R158")
	}
}

func (r *reference) listen(s *Step, inLoop bool) {
	f := r.by[s.A]
	if f == nil {
		return
	}
	if f.status == pending {
		f.listeners = append(f.listeners, s.Label)
		return
	}
	r.notify([]int{s.Label}, inLoop)
}
