package tcp

import (
	"iter"

	"eventide/core"
)

// loops is a source of loops for channels: a group, which is the argument called name, or one
// loop, without a name.
type loops struct {
	name  string
	group *core.Group
	loop  *core.EventLoop
}

// check returns an error if the argument is not usable.
func (l loops) check(call string) error {
	switch {
	case l.loop != nil:
		return nil
	case l.name == "":
		return argumentError(call, "loop is nil, want an event loop")
	case l.group == nil:
		return argumentError(call, "%s is nil, want event loops", l.name)
	}
	for child := range l.group.All() {
		if _, ok := child.(*core.EventLoop); !ok {
			return argumentError(call, "%s is made of %T, want a group of event loops (core.NewGroup)", l.name, child)
		}
	}
	return nil
}

func (l loops) next() *core.EventLoop {
	if l.loop != nil {
		return l.loop
	}
	return l.group.Next().(*core.EventLoop)
}

// all yields the loops.
func (l loops) all() iter.Seq[*core.EventLoop] {
	return func(yield func(*core.EventLoop) bool) {
		if l.loop != nil {
			yield(l.loop)
			return
		}
		for child := range l.group.All() {
			if !yield(child.(*core.EventLoop)) {
				return
			}
		}
	}
}

func (l loops) inEventLoop() bool {
	if l.loop != nil {
		return l.loop.InEventLoop()
	}
	return l.group.InEventLoop()
}
