package core_test

import (
	"errors"
	"fmt"
	"syscall"
	"testing"
	"testing/synctest"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/pollertest"

	"pgregory.net/rapid"
)

// registrationOp is one call of the property of registrations, or one event.
type registrationOp struct {
	kind     string // register, modify, close, input, stray or reopen
	on       int    // of a descriptor, or of a registration
	interest core.Interest
	refuses  bool // the poller, if the call reaches it
	panics   bool // likewise
	token    uint64
}

// specRegistration is a registration with what it must do.
type specRegistration struct {
	r        *core.Registration
	d        int
	interest core.Interest
	open     bool
	dead     bool   // the descriptor that it watches is closed, and the number is in use again
	token    uint64 // of a dead one
	calls    int    // of the handler
	want     int
	end      ending
	cause    error
}

func (s *specRegistration) watches() bool { return s.open && hasInterest(s.interest) }

func hasInterest(i core.Interest) bool { return i&(core.Readable|core.Writable) != 0 }

// panickingModel is a model whose next call of Add, Modify or Remove may panic: Remove after it has removed.
type panickingModel struct {
	*pollertest.Model
	panics, panicked bool
}

func (m *panickingModel) check() {
	if m.panics {
		m.panics, m.panicked = false, true
		panic(errPoller)
	}
}

func (m *panickingModel) Add(fd int, i core.Interest, token uint64) error {
	m.check()
	return m.Model.Add(fd, i, token)
}

func (m *panickingModel) Modify(fd int, i core.Interest, token uint64) error {
	m.check()
	return m.Model.Modify(fd, i, token)
}

func (m *panickingModel) Remove(fd int) error {
	err := m.Model.Remove(fd)
	m.check()
	return err
}

// panicOf returns the value with which call panics.
func panicOf(call func()) (v any) {
	defer func() { v = recover() }()
	call()
	return nil
}

// registrationSpec says what the calls do. A handler reads all input.
type registrationSpec struct {
	l       *core.EventLoop
	m       *panickingModel
	ds      []*pollertest.Descriptor
	pending []bool // input that no handler has read
	all     []*specRegistration
}

// owner returns the registration that watches descriptor d, or the number of one that is closed, or nil.
func (s *registrationSpec) owner(d int) *specRegistration {
	for _, r := range s.all {
		if r.d == d && r.watches() {
			return r
		}
	}
	return nil
}

// watcher returns the registration whose descriptor d the poller watches, or nil.
func (s *registrationSpec) watcher(d int) *specRegistration {
	if r := s.owner(d); r != nil && !r.dead {
		return r
	}
	return nil
}

// watch makes r watch its descriptor. It ends a registration that was open when its descriptor was closed, and that
// watches the same number.
func (s *registrationSpec) watch(r *specRegistration, interest core.Interest) {
	if old := s.owner(r.d); old != nil && old != r && hasInterest(interest) {
		old.open, old.cause = false, core.ErrDescriptorReused
	}
	if r.interest = interest; !hasInterest(interest) {
		r.dead = false // it watches nothing
	}
}

// deliver calls the handler if there is input.
func (s *registrationSpec) deliver(d int) {
	if r := s.watcher(d); r != nil && s.pending[d] {
		s.pending[d] = false
		r.want++
	}
}

// errPanic stands for a panic of the poller, which reaches the caller.
var errPanic = errors.New("the poller panics")

// poller returns the error of a call that reaches the poller, and makes the poller refuse it.
func (s *registrationSpec) poller(call pollertest.Call, op registrationOp, taken bool) error {
	switch {
	case op.panics:
		return errPanic
	case op.refuses:
		s.m.Fail(call, errPoller)
		return errPoller
	case taken:
		return syscall.EEXIST
	}
	return nil
}

// do makes the call op, and returns the difference.
func (s *registrationSpec) do(t *testing.T, op registrationOp) (wrong string) {
	var want, got error
	call, d := "Register", op.on%len(s.ds)
	s.m.panics, s.m.panicked = op.panics, false
	defer func() { s.m.panics = false }()
	switch op.kind {
	case "register":
		if hasInterest(op.interest) {
			want = s.poller(pollertest.Add, op, s.watcher(d) != nil)
		}
		r := &specRegistration{d: d}
		got = errPanic // unless the call returns
		panicOf(func() {
			r.r, got = s.l.Register(s.ds[d].FD(), op.interest, func(core.Readiness) { r.calls++; coretest.Must(t, s.ds[d].Drain()) })
		})
		if got == nil {
			r.r.OnClose(r.end.hear)
			s.watch(r, op.interest)
			r.open, s.all = true, append(s.all, r)
		}
	case "input":
		coretest.Must(t, s.ds[d].Input())
		s.pending[d] = true
	case "reopen":
		fd := s.ds[d].FD()
		if r := s.watcher(d); r != nil {
			r.dead = true
			r.token, _, _ = s.m.Watched(fd)
		}
		coretest.Must(t, s.ds[d].Close())
		if s.ds[d], s.pending[d] = s.m.Open(), false; s.ds[d].FD() != fd {
			return fmt.Sprintf("the new descriptor is %d, want %d", s.ds[d].FD(), fd)
		}
	case "stray":
		for _, d := range s.ds {
			if token, _, ok := s.m.Watched(d.FD()); ok && token == op.token {
				return ""
			}
		}
		for _, r := range s.all {
			if r.dead && r.watches() && r.token == op.token {
				return ""
			}
		}
		s.m.Inject(core.PollEvent{Token: op.token, Readiness: core.NewReadiness(true, true, true, true)})
	default:
		if len(s.all) == 0 {
			return ""
		}
		r := s.all[op.on%len(s.all)]
		got = errPanic // unless the call returns
		if d = r.d; op.kind == "close" {
			if r.watches() && op.panics {
				want = errPanic // the registration ends all the same
			}
			r.open = false
			panicOf(func() { got = r.r.Close() })
			break
		}
		call = "Modify"
		switch is := hasInterest(op.interest); {
		case !r.open:
			want = core.ErrRegistrationClosed
		case is && r.watches():
			if want = s.poller(pollertest.Modify, op, false); want == nil && r.dead {
				want = syscall.ENOENT
			}
		case is:
			want = s.poller(pollertest.Add, op, s.watcher(d) != nil)
		case r.watches() && op.panics:
			want = errPanic
			if !r.dead { // the poller has removed what it watches
				r.dead = true
				r.token, _, _ = s.m.Watched(s.ds[d].FD())
			}
		}
		panicOf(func() { got = r.r.Modify(op.interest) })
		if want == nil {
			s.watch(r, op.interest)
		}
	}
	s.deliver(d)
	text := ""
	if want != nil && want != core.ErrRegistrationClosed && want != errPanic {
		text = fmt.Sprintf("core: %s: descriptor %d: %v", call, s.ds[d].FD(), want)
	}
	if s.m.panicked != (want == errPanic) {
		return fmt.Sprintf("the poller has panicked: %v, want the error %v", s.m.panicked, want)
	}
	if !errors.Is(got, want) || want == nil && got != nil || text != "" && got.Error() != text {
		return fmt.Sprintf("the error is %v, want %v, %q", got, want, text)
	}
	synctest.Wait()
	return s.compare()
}

// compare returns the first difference between the loop and the specification.
func (s *registrationSpec) compare() string {
	open := 0
	for i, r := range s.all {
		if r.open {
			open++
		}
		if r.calls != r.want {
			return fmt.Sprintf("the handler of registration %d was called %d times, want %d", i, r.calls, r.want)
		}
		if n := len(r.end.causes); (n == 1) == r.open || n > 1 || n == 1 && !errors.Is(r.end.causes[0], r.cause) {
			return fmt.Sprintf("G3, G22: registration %d is open: %v, and OnClose got %v", i, r.open, r.end.causes)
		}
	}
	if n := s.l.Stats().Registrations; n != int64(open) {
		return fmt.Sprintf("Stats has %d registrations, want %d", n, open)
	}
	for d := range s.ds {
		watcher := s.watcher(d)
		_, interest, ok := s.m.Watched(s.ds[d].FD())
		if ok != (watcher != nil) || ok && interest != watcher.interest {
			return fmt.Sprintf("G24: the poller watches descriptor %d: %v, for %v", d, ok, interest)
		}
	}
	return ""
}

// TestPropG22Registrations: whatever Register, Modify and Close are called for, and whatever the poller
// answers and reports: an error names the call and the descriptor and changes nothing, a panic of the poller
// reaches the caller and changes nothing but the end of a registration (G15), the poller watches the
// descriptors of the open registrations that have an interest, each input is handled once, no event reaches
// another registration, and each registration ends once. If a descriptor is closed and its number used again, the
// registration of the closed one ends when another one watches the number.
func TestPropG22Registrations(t *testing.T) {
	interests := []core.Interest{0, core.EdgeTriggered, core.Readable, core.Readable | core.EdgeTriggered}
	kinds := []string{"register", "register", "modify", "modify", "modify", "close", "close", "input", "stray", "reopen", "reopen"}
	ops := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) registrationOp {
		return registrationOp{
			kind: rapid.SampledFrom(kinds).Draw(t, "kind"), on: rapid.IntRange(0, 5).Draw(t, "on"),
			interest: rapid.SampledFrom(interests).Draw(t, "interest"), refuses: rapid.IntRange(0, 3).Draw(t, "refuses") == 0,
			panics: rapid.IntRange(0, 3).Draw(t, "panics") == 0,
			token:  rapid.Uint64Range(0, 6).Draw(t, "generation")<<32 | rapid.Uint64Range(0, 4).Draw(t, "slot"),
		}
	}), 1, 40)
	rapid.Check(t, func(rt *rapid.T) {
		program := ops.Draw(rt, "operations")
		checkInBubble(t, rt, func(t *testing.T) string { return runRegistrationSpec(t, program) })
	})
}

func runRegistrationSpec(t *testing.T, program []registrationOp) string {
	m := &panickingModel{Model: pollertest.NewModel(nil)}
	l := loopOn(t, m)
	coretest.OnLoop(t, l, func() {}) // a loop that polls gets no event before it has given the token
	s := &registrationSpec{l: l, m: m, ds: []*pollertest.Descriptor{m.Open(), m.Open()}, pending: make([]bool, 2)}
	for i, op := range program {
		if wrong := s.do(t, op); wrong != "" {
			return fmt.Sprintf("operation %d, %+v: %s", i, op, wrong)
		}
	}
	for _, r := range s.all {
		if r.open {
			r.open, r.cause = false, core.ErrShutdown
		}
	}
	coretest.Must(t, l.Close())
	return s.compare()
}
