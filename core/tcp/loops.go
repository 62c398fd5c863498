package tcp

import (
	"iter"

	"eventide/core"
)

// loops is a source of loops for channels: a group, or one loop.
type loops struct {
	group *core.Group
	loop  *core.EventLoop
}

// check returns an error if the argument called name is not usable.
func (l loops) check(call, name string) error {
	switch {
	case l.loop != nil:
		return nil
	case l.group == nil:
		return argumentError(call, "%s is nil, want event loops", name)
	}
	for child := range l.group.All() {
		if _, ok := child.(*core.EventLoop); !ok {
			return argumentError(call, "%s is made of %T, want a group of event loops (core.NewGroup)", name, child)
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
