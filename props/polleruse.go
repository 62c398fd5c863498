package props

import (
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"

	"eventide/props/history"

	"github.com/petermattis/goid"
)

const (
	// mostPremature is after how many returns of Wait without a reason a loop rebuilds its poller, and
	// stormReturns is more than that.
	mostPremature = 512
	stormReturns  = 520

	// leastBusy is the least number of events in the log of a loop that was busy for the 16 turns after
	// which it polls.
	leastBusy = 8

	// turnTasks is how many tasks a turn may run.
	turnTasks = 64
)

// pollerUse compares the calls that an executor makes on its poller with a specification. After a
// failure an event loop rebuilds the poller, and it ends if the poller fails again before it has
// worked. A loop rebuilds a poller that repeatedly returns without a reason, and no other. A loop
// that is not busy does not poll between two sleeps, and a busy one polls when its tasks have had
// their share. Where the log does not show whether a sleep had a reason, either is right.
//
// Guarded by mu of the poller.
type pollerUse struct {
	rec   *recorder
	blame func(format string, args ...any) // nil: nothing is compared
	plain bool                             // not an event loop: the first failure is its end
	ratio int                              // of WithIORatio; 0: the share of the tasks is not judged
	epoch time.Time                        // of the executor

	failed  error // of the last Wait or Poll, until the executor has reopened the poller
	over    bool  // the executor must not wait on it any more
	suspect bool  // it was reopened after a failure, and has not worked since
	unknown bool  // the log may show later whether the last Wait had a reason
	returns int   // of Wait, since it was reopened and since the last one that surely had a reason
	idle    int   // calls of Wait in a row, the last one included, that surely had none

	entered  int  // position of the begin of the last sleep
	early    bool // that Wait returned because of a planned fault
	returned int  // events in the log at the end of the last Wait or Poll
	found    bool // which has reported readiness
	again    bool // it was a Poll that failed: the loop polls again in its next turn
	shared   share

	reopener    int64        // the goroutine that has reopened it
	why         error        // the failure before that; nil: returns without a reason
	moved, lost int          // registrations that were added again
	watched     map[int]bool // descriptors
	left        map[int]bool // descriptors that were watched before it was reopened, and were not added since
	aborted     map[int]bool // by lost channel: whether its Abort was called
}

// share is the share of the tasks after a poll that has found readiness.
type share struct {
	since   time.Time     // of the poll
	handled bool          // a handler was called
	set     bool          // a task has begun after the handlers
	ends    time.Duration // after since
	begun   int           // tasks that began later
}

func (u *pollerUse) wrong(format string, args ...any) {
	if u.blame != nil {
		u.blame(format, args...)
	}
}

// waits is called at the begin of Wait.
func (u *pollerUse) waits() {
	// From the begin of one sleep to that of the next. Do not count from the calls of Wait instead: work that
	// is posted between the begin and the Wait is a reason too.
	n := u.rec.parked
	// A planned return that also reports a descriptor has a reason, if its registration still lives.
	if u.early && u.unknown && !u.found && n-u.entered == 3 { // the fault, the end of the sleep and the begin of the next
		u.idle++
		u.unknown = false
	}
	u.enters("Wait")
	for id, aborted := range u.aborted {
		if !aborted && !u.rec.isOver(id) {
			u.wrong("the loop sleeps, and has not called Abort of the lost channel %d", id)
		}
	}
	if u.idle >= mostPremature {
		u.wrong("Wait has returned %d times without a reason, and the poller was not reopened", u.idle)
	}
	u.entered, u.early = n, false
}

// enters is called at the begin of Wait, Poll and Reopen.
func (u *pollerUse) enters(call string) {
	if u.unknown { // perhaps it has worked: then it may be reopened again
		u.idle, u.unknown, u.suspect = 0, false, false
	}
	switch {
	case u.over:
		u.wrong("%s is called, and the poller has failed for good", call)
	case u.failed != nil && call != "Reopen":
		u.wrong("%s is called, and the poller has failed with %v and was not reopened", call, u.failed)
	}
}

// waited is called at the end of Wait. passed is set if the deadline has passed: it is a reason.
func (u *pollerUse) waited(err error, found, passed bool) {
	switch u.ended(err, found); {
	case err != nil:
	case passed:
		u.returns, u.idle, u.suspect = 0, 0, false
	default:
		u.returns++
		u.unknown = true
	}
}

// panics is called if Wait panics.
func (u *pollerUse) panics() { u.over = true }

// polls is called at the begin of Poll.
func (u *pollerUse) polls() {
	u.enters("Poll")
	if n := u.rec.log.Len() - u.returned; n < leastBusy && !u.again && (!u.found || u.ratio == 100) {
		u.wrong("a loop polls, and only %d events are in the log since its last sleep or poll", n)
	}
}

// polled is called at the end of Poll.
func (u *pollerUse) polled(err error, found bool) {
	u.ended(err, found)
	if u.again = err != nil; !u.again {
		u.suspect = false
	}
}

func (u *pollerUse) ended(err error, found bool) {
	u.returned, u.found, u.again, u.shared = u.rec.log.Len(), found, false, share{since: time.Now()}
	if err != nil {
		u.failed, u.over = err, u.plain || u.suspect
	}
}

// reopens is called at the begin of Reopen. It returns an error if the executor would not end without
// one.
func (u *pollerUse) reopens() error {
	u.enters("Reopen")
	if u.failed == nil && u.returns < mostPremature {
		u.wrong("Reopen is called after %d returns of Wait, and the poller has not failed", u.returns)
	}
	if u.over {
		return u.failed
	}
	return nil
}

// reopened is called at the end of Reopen.
func (u *pollerUse) reopened(err error) {
	u.over, u.suspect = u.failed != nil && err != nil, u.failed != nil
	u.why, u.failed, u.returns, u.idle = u.failed, nil, 0, 0
	u.reopener, u.moved, u.lost = goid.Get(), 0, 0
	if err == nil {
		u.left, u.watched = u.watched, nil
	}
}

// added is called at the end of Add.
func (u *pollerUse) added(fd int, err error) {
	if err == nil {
		if u.watched == nil {
			u.watched = map[int]bool{}
		}
		u.watched[fd] = true
	}
	delete(u.left, fd)
	switch {
	case goid.Get() != u.reopener:
	case err == nil:
		u.moved++
	default:
		u.lost++
	}
}

// loses is called as the registration of a channel cannot be added again: the loop calls its Abort, unless
// it has before, before it sleeps.
func (u *pollerUse) loses(channel int) {
	if !u.aborted[channel] {
		u.setAborted(channel, false)
	}
}

// setAborted records whether Abort of a lost channel was called.
func (u *pollerUse) setAborted(channel int, called bool) {
	if u.aborted == nil {
		u.aborted = map[int]bool{}
	}
	u.aborted[channel] = called
}

// removed is called if a descriptor is no longer watched.
func (u *pollerUse) removed(fd int) { delete(u.watched, fd) }

// logged compares the record of a rebuild with the last call of Reopen.
func (u *pollerUse) logged(record slog.Record) {
	said := map[string]slog.Value{}
	record.Attrs(func(a slog.Attr) bool {
		said[a.Key] = a.Value
		return true
	})
	if len(u.left) > 0 {
		u.wrong("the poller was rebuilt, and the descriptors %v were not added again", slices.Sorted(maps.Keys(u.left)))
	}
	why, _ := said["why"].Any().(error)
	if why == nil || u.why != nil && !errors.Is(why, u.why) {
		u.wrong("the record of a rebuild has the reason %v, and the poller has failed with %v", why, u.why)
	}
	if said["moved"].String() != slog.IntValue(u.moved).String() || said["lost"].String() != slog.IntValue(u.lost).String() {
		u.wrong("the record of a rebuild has moved %v and lost %v, want %d and %d", said["moved"], said["lost"], u.moved, u.lost)
	}
}

// begins is called at the begin of each task. After the handlers of one poll the tasks have a share of
// time. They may use up the turn in which it ends; then the loop polls.
func (u *pollerUse) begins() {
	s := &u.shared
	if u.ratio == 0 || u.ratio == 100 || !s.handled {
		return
	}
	passed := time.Since(s.since)
	if !s.set && passed == 0 && !s.since.After(u.epoch) {
		s.handled = false // the share ends at the executor's time zero, which means no limit until the next poll
		return
	}
	if !s.set {
		s.set, s.ends = true, passed+passed*time.Duration(100-u.ratio)/time.Duration(u.ratio)
	}
	if passed < s.ends {
		return
	}
	if s.begun++; s.begun > turnTasks {
		u.wrong("%d tasks have begun after they had had their share, and the loop has not polled", s.begun)
	}
}

// compareUse begins the comparison.
func (h *harness) compareUse(p *poller, program Program) {
	p.use.plain, p.use.blame, p.use.epoch = !program.Loop, h.blame, h.start
	if program.Clock != ClockRounded && !h.rec.fails && !program.breaks() { // a failed loop polls no more
		p.use.ratio = program.ratio()
	}
	h.polled = p
}

// beginsBody is called at the begin of a body.
func (h *harness) beginsBody(kind history.Body) {
	p := h.polled
	if p == nil || kind != history.BodyTask && kind != history.BodyReadiness {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if kind == history.BodyReadiness {
		p.use.shared.handled = true
	} else {
		p.use.begins()
	}
}
