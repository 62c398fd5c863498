package faults

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"syscall"
)

// Kind is a way in which a system call fails.
type Kind uint8

// The kinds. A short read is left out, because every read of a stream may be short.
const (
	ReadEINTR Kind = iota
	ReadEAGAIN
	ReadReset
	SendEINTR
	SendEAGAIN
	SendShort
	SendEPIPE
	SendReset
	SendENOMEM
	AcceptEINTR
	AcceptEAGAIN
	AcceptAborted
	AcceptEMFILE
	AcceptENOMEM
	ConnectEINTR
	SocketEMFILE
	SocketENOMEM
	PollEINTR
	PollENOMEM
	AddENOMEM
	CreateEMFILE
	TimerEMFILE
	EventEMFILE
	WakeEINTR
	WakeEAGAIN
	kinds
)

// table has the call, the error and the most frequent rate of each kind. Kinds that end a
// connection, a poller or a constructor are rarer than those that only delay.
var table = [kinds]struct {
	call  string
	errno syscall.Errno // 0: the call transfers fewer bytes
	most  uint64        // failures of a million calls
}{
	ReadEINTR:     {"read", syscall.EINTR, 200_000},
	ReadEAGAIN:    {"read", syscall.EAGAIN, 100_000},
	ReadReset:     {"read", syscall.ECONNRESET, 5_000},
	SendEINTR:     {"send", syscall.EINTR, 200_000},
	SendEAGAIN:    {"send", syscall.EAGAIN, 100_000},
	SendShort:     {"send", 0, 400_000},
	SendEPIPE:     {"send", syscall.EPIPE, 5_000},
	SendReset:     {"send", syscall.ECONNRESET, 5_000},
	SendENOMEM:    {"send", syscall.ENOMEM, 5_000},
	AcceptEINTR:   {"accept", syscall.EINTR, 200_000},
	AcceptEAGAIN:  {"accept", syscall.EAGAIN, 100_000},
	AcceptAborted: {"accept", syscall.ECONNABORTED, 100_000},
	AcceptEMFILE:  {"accept", syscall.EMFILE, 50_000},
	AcceptENOMEM:  {"accept", syscall.ENOMEM, 50_000},
	ConnectEINTR:  {"connect", syscall.EINTR, 300_000},
	SocketEMFILE:  {"socket", syscall.EMFILE, 50_000},
	SocketENOMEM:  {"socket", syscall.ENOMEM, 50_000},
	PollEINTR:     {"epoll_wait", syscall.EINTR, 200_000},
	PollENOMEM:    {"epoll_wait", syscall.ENOMEM, 5_000},
	AddENOMEM:     {"epoll_ctl", syscall.ENOMEM, 100_000},
	CreateEMFILE:  {"epoll_create1", syscall.EMFILE, 60_000},
	TimerEMFILE:   {"timerfd_create", syscall.EMFILE, 60_000},
	EventEMFILE:   {"eventfd", syscall.EMFILE, 150_000},
	WakeEINTR:     {"write", syscall.EINTR, 300_000},
	WakeEAGAIN:    {"write", syscall.EAGAIN, 300_000},
}

// names are the names of errors in texts: those of the manual, not their messages.
var names = map[syscall.Errno]string{
	syscall.EINTR: "EINTR", syscall.EAGAIN: "EAGAIN", syscall.ECONNRESET: "ECONNRESET", syscall.EPIPE: "EPIPE",
	syscall.ENOMEM: "ENOMEM", syscall.EMFILE: "EMFILE", syscall.ECONNABORTED: "ECONNABORTED", 0: "short",
}

// String is the call and the error, such as "send EPIPE".
func (k Kind) String() string {
	if k >= kinds {
		return fmt.Sprintf("Kind(%d)", uint8(k))
	}
	return table[k].call + " " + names[table[k].errno]
}

// Errno is the error of the kind; 0: the call transfers fewer bytes.
func (k Kind) Errno() syscall.Errno { return table[k].errno }

// Kinds returns all kinds.
func Kinds() (all []Kind) {
	for k := range kinds {
		all = append(all, k)
	}
	return all
}

// Of reports whether the kind is a failure of one of the calls.
func (k Kind) Of(calls ...string) bool {
	for _, call := range calls {
		if table[k].call == call {
			return true
		}
	}
	return false
}

// Pollers are the calls of pollers, and not of sockets.
var Pollers = []string{"epoll_wait", "epoll_ctl", "epoll_create1", "timerfd_create", "eventfd", "write"}

// Plan says how often each kind occurs.
type Plan struct {
	seed uint64
	rate [kinds]uint64 // failures of a million calls
}

// Draw draws a plan: each kind is left out with a chance of one half, and has its most
// frequent rate, a third or a tenth of it otherwise.
func Draw(rng *rand.Rand) Plan {
	p := Plan{seed: rng.Uint64()}
	for k := range kinds {
		rate := table[k].most / [...]uint64{1, 3, 10}[rng.IntN(3)]
		if rng.IntN(2) == 0 {
			p.rate[k] = rate
		}
	}
	return p
}

// Only returns the plan without the kinds that are not of the calls.
func (p Plan) Only(calls ...string) Plan {
	for k := range kinds {
		if !k.Of(calls...) {
			p.rate[k] = 0
		}
	}
	return p
}

// Always returns a plan in which every call fails in this way, for tests.
func Always(k Kind) (p Plan) {
	p.rate[k] = 1_000_000
	return p
}

var (
	installed atomic.Bool
	current   atomic.Pointer[Plan] // nil: no call fails
	draws     atomic.Uint64
	injected  [kinds]atomic.Int64
	sent      atomic.Int64
)

// Install is called by the files of the overlay.
func Install() { installed.Store(true) }

// Installed reports whether the system calls of core are those of this package.
func Installed() bool { return installed.Load() }

// Use makes calls fail by the plan from now on, until stop is called. Plans do not nest.
func Use(p Plan) (stop func()) {
	current.Store(&p)
	return sync.OnceFunc(func() { current.Store(nil) })
}

// Counts returns how often each kind has been injected since the process began. A kind that
// was not is in the map, too.
func Counts() map[string]int64 {
	counts := make(map[string]int64, kinds)
	for k := range kinds {
		counts[k.String()] = k.Count()
	}
	return counts
}

// Count returns how often the kind has been injected since the process began.
func (k Kind) Count() int64 { return injected[k].Load() }

// Explains reports whether an error can be one that was injected: an error of the chain is that
// of a kind which has been, and that a caller may see. EINTR, EAGAIN and ECONNABORTED are for the
// code that makes the call.
func Explains(err error) bool {
	for k := range kinds {
		switch errno := table[k].errno; errno {
		case 0, syscall.EINTR, syscall.EAGAIN, syscall.ECONNABORTED:
		default:
			if k.Count() > 0 && errors.Is(err, errno) {
				return true
			}
		}
	}
	return false
}

// Sent returns how many bytes the kernel has taken from core since the process began.
func Sent() int64 { return sent.Load() }

// draw returns the first of the kinds that occurs now, or false. It does not count it.
func draw(of ...Kind) (Kind, bool) {
	p := current.Load()
	if p == nil {
		return 0, false
	}
	for _, k := range of {
		if rate := p.rate[k]; rate > 0 && mix(p.seed, draws.Add(1))%1_000_000 < rate {
			return k, true
		}
	}
	return 0, false
}

// hit counts a kind and returns its error.
func hit(k Kind) syscall.Errno {
	injected[k].Add(1)
	return table[k].errno
}

// fails is draw and hit for calls without a condition.
func fails(of ...Kind) syscall.Errno {
	if k, ok := draw(of...); ok {
		return hit(k)
	}
	return 0
}

// mix is the n-th number of a sequence by the seed (SplitMix64).
func mix(seed, n uint64) uint64 {
	z := seed + n*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
