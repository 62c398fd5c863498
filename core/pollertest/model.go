package pollertest

import (
	"cmp"
	"slices"
	"sync"
	"syscall"
	"time"

	"eventide/core"
)

// Model is a core.IOPoller whose descriptors and faults a test controls. Its methods besides
// those of core.IOPoller may be called from any goroutine, at any time.
//
// It behaves as epoll does where the contract requires it, and is stricter elsewhere: a
// poll reports descriptors in the order in which they were added, rotated by the previous
// reports. Numbers of descriptors are reused, the lowest first, and a descriptor that is
// closed is dropped.
type Model struct {
	// Set once in NewModel.
	clock  core.Clock  // nil: the system's
	sleeps core.Poller // that of an Executor; it is woken when something changes

	mu sync.Mutex
	// Guarded by mu.
	open     map[int]*Descriptor
	watched  []*watch // in the order of the next report
	limit    int      // most events of one poll; 0: no limit
	woken    bool     // a Wake is pending
	spurious int      // calls of Wait that return without a reason
	injected []core.PollEvent
	faults   map[Call][]error
	counts   map[Call]int
	closed   bool

	// Loop only.
	ready []core.PollEvent
}

// watch is a descriptor in the set.
type watch struct {
	d        *Descriptor
	interest core.Interest
	token    uint64
	edge     bool // something has changed since the last report
}

// Call names a method of core.IOPoller, for Fail and Count.
type Call string

// The calls that can fail.
const (
	Wait   Call = "Wait"
	Poll   Call = "Poll"
	Add    Call = "Add"
	Modify Call = "Modify"
	Remove Call = "Remove"
	Reopen Call = "Reopen"
	Close  Call = "Close"
	Wake   Call = "Wake" // counted, but cannot fail
)

// NewModel returns a model that watches nothing. Deadlines are by clock; nil: the
// system's.
func NewModel(clock core.Clock) *Model {
	return &Model{
		clock: clock, sleeps: core.NewParkPoller(clock),
		open: make(map[int]*Descriptor), faults: make(map[Call][]error), counts: make(map[Call]int),
	}
}

// Fail makes the next calls with that name return these errors, in order; a nil error lets a
// call succeed. A sleeping Wait returns the error at once.
func (m *Model) Fail(call Call, errs ...error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.faults[call] = append(m.faults[call], errs...)
	m.sleeps.Wake()
}

// Spurious makes the next n calls of Wait return without a reason.
func (m *Model) Spurious(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.spurious += n
	m.sleeps.Wake()
}

// Inject makes the next poll report these events too, even if their descriptors are not
// watched. It simulates a poll that races with Remove, or a phantom event.
func (m *Model) Inject(events ...core.PollEvent) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.injected = append(m.injected, events...)
	m.sleeps.Wake()
}

// Limit makes a poll report n events at most; 0 means no limit.
func (m *Model) Limit(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.limit = n
}

// Count returns how often a method was called.
func (m *Model) Count(call Call) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.counts[call]
}

// Watched returns the token and the interest with which fd is watched.
func (m *Model) Watched(fd int) (token uint64, interest core.Interest, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if w := m.find(fd); w != nil {
		return w.token, w.interest, true
	}
	return 0, 0, false
}

// Closed reports whether the poller was closed.
func (m *Model) Closed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.closed
}

// find requires mu.
func (m *Model) find(fd int) *watch {
	i := slices.IndexFunc(m.watched, func(w *watch) bool { return w.d.fd == fd })
	if i < 0 {
		return nil
	}
	return m.watched[i]
}

// begin counts a call and returns its planned error. Requires mu.
func (m *Model) begin(call Call) error {
	m.counts[call]++
	return m.fault(call)
}

func (m *Model) fault(call Call) error {
	errs := m.faults[call]
	if len(errs) == 0 {
		return nil
	}
	m.faults[call] = errs[1:]
	return errs[0]
}

// Wait implements core.Poller.
func (m *Model) Wait(until core.Deadline) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ready = nil
	if err := m.begin(Wait); err != nil {
		return err
	}
	for {
		m.collect()
		switch {
		case len(m.ready) > 0:
			return nil
		case m.woken:
			m.woken = false
			return nil
		case m.spurious > 0:
			m.spurious--
			return nil
		case !until.IsZero() && !m.now().Before(until):
			return nil
		}
		err := m.sleep(until)
		if err = cmp.Or(m.fault(Wait), err); err != nil {
			return err
		}
	}
}

// sleep returns when something has changed, when until has passed, or for no reason. Requires
// mu, which it releases meanwhile.
func (m *Model) sleep(until core.Deadline) error {
	m.mu.Unlock()
	defer m.mu.Lock() // also if the clock panics
	return m.sleeps.Wait(until)
}

func (m *Model) now() time.Time {
	if m.clock == nil {
		return time.Now()
	}
	return m.clock.Now()
}

// Wake implements core.Poller.
func (m *Model) Wake() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.counts[Wake]++
	m.woken = !m.closed
	m.sleeps.Wake()
}

// Close implements core.Poller.
func (m *Model) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	return cmp.Or(m.begin(Close), m.sleeps.Close())
}

// Add implements core.IOPoller.
func (m *Model) Add(fd int, interest core.Interest, token uint64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.begin(Add); err != nil {
		return err
	}
	d := m.open[fd]
	switch {
	case d == nil:
		return syscall.EBADF
	case m.find(fd) != nil:
		return syscall.EEXIST
	}
	w := &watch{d: d, interest: interest, token: token, edge: true}
	m.watched = append(m.watched, w)
	m.wakeFor(w)
	return nil
}

// Modify implements core.IOPoller.
func (m *Model) Modify(fd int, interest core.Interest, token uint64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.begin(Modify); err != nil {
		return err
	}
	w := m.find(fd)
	if w == nil {
		return m.missing(fd)
	}
	w.interest, w.token, w.edge = interest, token, true
	m.wakeFor(w)
	return nil
}

// Remove implements core.IOPoller.
func (m *Model) Remove(fd int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.begin(Remove); err != nil {
		return err
	}
	if m.find(fd) == nil {
		return m.missing(fd)
	}
	m.forget(fd)
	return nil
}

// missing returns the error for a descriptor that is not watched. Requires mu.
func (m *Model) missing(fd int) error {
	if m.open[fd] == nil {
		return syscall.EBADF
	}
	return syscall.ENOENT
}

func (m *Model) forget(fd int) {
	m.watched = slices.DeleteFunc(m.watched, func(w *watch) bool { return w.d.fd == fd })
}

// Poll implements core.IOPoller.
func (m *Model) Poll() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ready = nil
	if err := m.begin(Poll); err != nil {
		return err
	}
	m.collect()
	return nil
}

// collect fills ready. Reported descriptors move to the end of the order. Requires mu.
func (m *Model) collect() {
	m.ready, m.injected = m.injected, nil
	var rest, reported []*watch
	for _, w := range m.watched {
		readiness, ok := w.report()
		if !ok || m.limit > 0 && len(m.ready) >= m.limit {
			rest = append(rest, w)
			continue
		}
		w.edge = false
		reported = append(reported, w)
		m.ready = append(m.ready, core.PollEvent{Token: w.token, Readiness: readiness})
	}
	m.watched = append(rest, reported...)
}

// report returns the readiness of w, if it has to be reported now.
func (w *watch) report() (core.Readiness, bool) {
	if w.interest&core.EdgeTriggered != 0 && !w.edge {
		return 0, false
	}
	d := w.d
	readable := w.interest&core.Readable != 0 && (d.input || d.hungUp)
	writable := w.interest&core.Writable != 0 && !d.full
	r := core.NewReadiness(readable, writable, d.hungUp, d.failed)
	return r, r != 0
}

// wakeFor makes a sleeping Wait check again if it has to report w. Requires mu.
func (m *Model) wakeFor(w *watch) {
	if _, ok := w.report(); ok {
		m.sleeps.Wake()
	}
}

// Ready implements core.IOPoller.
func (m *Model) Ready() []core.PollEvent { return m.ready }

// Reopen implements core.IOPoller.
func (m *Model) Reopen() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.begin(Reopen); err != nil {
		return err
	}
	m.watched, m.ready, m.injected = nil, nil, nil
	return nil
}
