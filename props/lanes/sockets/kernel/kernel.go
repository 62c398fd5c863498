//go:build linux

package kernel

import (
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Config has the sizes and the latency of a Kernel. The zero value of a field is the default.
type Config struct {
	Send    int           // bytes of a send buffer; default 64 KiB
	Receive int           // bytes of a receive buffer; default 64 KiB
	Latency time.Duration // how long bytes, ends of streams and handshakes are on their way; 0: they arrive within the call
}

// Fault makes one call of the process under test fail or move few bytes.
type Fault struct {
	Op    Op
	Nth   int           // which call of Op, from 1
	Times int           // how many calls in a row have the fault; 0 is one
	Errno syscall.Errno // what it returns; 0: it moves Short bytes at most
	Short int
}

// Op is a system call that can have a fault.
type Op uint8

// The calls with faults.
const (
	OpRead Op = iota
	OpSend
	OpAccept
	OpSocket
	OpConnect
	OpShutdown
	OpAdd
	OpWait
	OpClose // of a socket: it fails after the descriptor is closed
	OpOption
	OpModify // of a file in a set; Linux has no reason to refuse it, and another poller may have one
	OpBind
	OpListen
	OpCreate // of an epoll set, and so on
	OpTimer
	OpEvent
	OpNonblock
	OpPolled // the runtime polls a set
	ops      // how many there are
)

func (o Op) String() string {
	return [...]string{"read", "send", "accept", "socket", "connect", "shutdown", "add to a set", "epoll_wait", "close", "setsockopt", "modify in a set", "bind", "listen", "epoll_create", "timerfd_create", "eventfd", "fcntl", "add to the runtime's poller"}[o]
}

// Kernel is a machine with one network and the descriptor table of one process. All methods
// may be called from any goroutine.
type Kernel struct {
	cfg Config

	mu        sync.Mutex // guards the kernel and all its files
	open      map[int]file
	listeners []*socket
	listened  []*socket // all listeners that the process under test has ever had
	ephemeral uint16
	calls     [ops]int
	made      []*Connection
	misuse    []string
	total     int64
	faults    []Fault
	failures  map[Failure]int
	names     map[string]Name
	files     int // the most descriptors that may be open at once; 0: no limit
}

// New returns a kernel with nothing in it.
func New(cfg Config) *Kernel {
	if cfg.Send == 0 {
		cfg.Send = defaultBuffer
	}
	if cfg.Receive == 0 {
		cfg.Receive = defaultBuffer
	}
	return &Kernel{cfg: cfg, open: map[int]file{}, ephemeral: firstEphemeral}
}

const defaultBuffer = 64 << 10

// current is the kernel that the replaced packages call.
var current atomic.Pointer[Kernel]

// Use makes k the kernel of the process under test, until the next call. The kernel of a
// program must be set before the program begins.
func Use(k *Kernel) { current.Store(k) }

// Current returns the kernel of the process under test. It panics if there is none.
func Current() *Kernel {
	k := current.Load()
	if k == nil {
		panic("kernel: a system call without a kernel, want a call of Use before")
	}
	return k
}

// Inject makes the calls of faults fail. Fault.Nth counts calls from this one on. At most room
// more descriptors can be open than are open now; with a room of 0 there is no limit.
func (k *Kernel) Inject(faults []Fault, room int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.faults, k.calls, k.failures = faults, [ops]int{}, map[Failure]int{}
	k.files = 0
	if room > 0 {
		k.files = len(k.open) + room
	}
}

// file is an open descriptor. The kernel's mu is held in all methods.
type file interface {
	base() *node
	poll() uint32 // what it is ready for
	closed()      // the last descriptor of it was closed
}

// firstDescriptor is the number that the first descriptor gets, after those of the standard
// streams.
const firstDescriptor = 3

// install gives f the lowest free number. Requires mu.
func (k *Kernel) install(f file) (int, syscall.Errno) {
	if k.files > 0 && len(k.open) >= k.files {
		return -1, syscall.EMFILE
	}
	fd := firstDescriptor
	for k.open[fd] != nil {
		fd++
	}
	k.open[fd] = f
	return fd, 0
}

// lookup returns the file of fd. A number that is not open is recorded as misuse: a process
// that still uses a descriptor after its close may reach another file that got the same
// number. Requires mu.
func (k *Kernel) lookup(call string, fd int) (file, syscall.Errno) {
	if f := k.open[fd]; f != nil {
		return f, 0
	}
	k.misuse = append(k.misuse, fmt.Sprintf("%s of descriptor %d, which is not open", call, fd))
	return nil, syscall.EBADF
}

// fault counts a call, and returns the fault of this call, or zeros. Requires mu.
func (k *Kernel) fault(op Op) (short int, errno syscall.Errno) {
	k.calls[op]++
	k.total++
	for _, f := range k.faults {
		if f.Op == op && f.Nth <= k.calls[op] && k.calls[op] < f.Nth+max(f.Times, 1) {
			k.failures[Failure{op, f.Errno}]++
			return f.Short, f.Errno
		}
	}
	return 0, 0
}

// Failure is a call that a Fault has made fail; with an Errno of 0 it has moved few bytes.
type Failure struct {
	Op    Op
	Errno syscall.Errno
}

// Failures returns how many calls of each kind have failed since Inject.
func (k *Kernel) Failures() map[Failure]int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return maps.Clone(k.failures)
}

// create makes a descriptor by a call that may have a fault.
func (k *Kernel) create(op Op, f file) (int, syscall.Errno) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, errno := k.fault(op); errno != 0 {
		return -1, errno
	}
	return k.install(f)
}

// Duplicate is fcntl(2) with F_DUPFD.
func (k *Kernel) Duplicate(fd int) (int, syscall.Errno) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f, errno := k.lookup("fcntl", fd)
	if errno != 0 {
		return -1, errno
	}
	return k.install(f)
}

// Close is close(2) of the process under test.
func (k *Kernel) Close(fd int) syscall.Errno {
	k.mu.Lock()
	defer k.mu.Unlock()
	f, errno := k.lookup("close", fd)
	if errno != 0 {
		return errno
	}
	delete(k.open, fd)
	for _, other := range k.open {
		if other == f {
			return 0 // the file stays open
		}
	}
	b, watched := f.base(), uint32(0)
	for len(b.watches) > 0 {
		watched |= b.watches[0].interest
		b.watches[0].remove()
	}
	f.closed()
	b.wake(0)
	s, ok := f.(*socket)
	if !ok {
		return 0
	}
	if watched&^unix.EPOLLET != 0 {
		k.misuse = append(k.misuse, fmt.Sprintf("close of the socket %d, which is watched for %#x: its number may be another socket's before the watcher knows", fd, watched))
	}
	_, s.closeErr = k.fault(OpClose)
	return s.closeErr
}

// Open returns the kinds of the open descriptors, by number.
func (k *Kernel) Open() map[int]string {
	k.mu.Lock()
	defer k.mu.Unlock()
	kinds := map[int]string{}
	for fd, f := range k.open {
		kinds[fd] = fmt.Sprintf("%T", f)
	}
	return kinds
}

// Misuse returns the calls of the process under test on descriptors that were not open.
func (k *Kernel) Misuse() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return append([]string(nil), k.misuse...)
}

// Calls returns how many calls with possible faults the process under test has made.
func (k *Kernel) Calls() int64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.total
}

// after calls f with mu held, d later.
func (k *Kernel) after(d time.Duration, f func()) *time.Timer {
	return time.AfterFunc(d, func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		f()
	})
}
