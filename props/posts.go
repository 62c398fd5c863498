package props

import (
	"errors"

	"eventide/core"
	"eventide/props/interleave/control"

	"github.com/petermattis/goid"
)

// posts are the functions that programs gave to Registration.Post. The log does not show them:
// they are no tasks, and the harness checks them.
type posts struct {
	mu    control.Mutex
	owed  int
	last  map[int64]int // goroutine -> the number of its post that ran last
	count map[int64]int // goroutine -> its posts
}

// askPost posts a function: if Post returns true, the function runs once, on the loop, behind the
// posts that its goroutine made before, and before Done; if it returns false, the registration has
// ended. closed says that its owner was notified of the end before. The function runs the script.
func (h *harness) askPost(reg *core.Registration, closed bool, script *Script) {
	p := &h.posts
	g := goid.Get()
	p.mu.Lock()
	if p.count == nil {
		p.count, p.last = map[int64]int{}, map[int64]int{}
	}
	p.count[g]++
	n := p.count[g]
	p.owed++
	p.mu.Unlock()
	ran := false
	posted := reg.Post(func() {
		inside := h.ex.InEventLoop()
		p.mu.Lock()
		p.owed--
		switch {
		case ran:
			h.blame("a function given to Post ran twice")
		case !inside:
			h.blame("a function given to Post runs outside of the loop")
		case n < p.last[g]:
			h.blame("post %d of a goroutine runs behind its post %d", n, p.last[g])
		}
		ran, p.last[g] = true, n
		p.mu.Unlock()
		h.userFunction(postID, script)
	})
	if posted {
		if closed {
			h.blame("Post returns true, and the owner was notified of the registration's end before")
		}
		return
	}
	p.mu.Lock()
	p.owed--
	p.mu.Unlock()
	if err := reg.Modify(core.Readable); !errors.Is(err, core.ErrRegistrationClosed) {
		h.blame("Post returns false, and Modify then returns %v, so the registration has not ended", err)
	}
}

// check is called after Done.
func (p *posts) check(h *harness) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.owed != 0 {
		h.blame("Done is closed, and %d functions given to Post have not run, or ran though Post returned false", p.owed)
	}
}
