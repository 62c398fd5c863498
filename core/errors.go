package core

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"sync"
)

// Sentinels, to be compared with errors.Is.
var (
	// ErrRejected is in the chain of every refusal of work. A bad argument is not a
	// refusal: its error is the same in every state, and does not match ErrRejected.
	ErrRejected = errors.New("core: rejected")

	// ErrQueueFull is the reason of a refusal by WithMaxPendingTasks.
	ErrQueueFull = errors.New("core: task queue is full")

	// ErrStarting is returned by a call that an executor's own spawner makes, if the call
	// would wait for the start of that executor: the spawner would wait for itself.
	ErrStarting = errors.New("core: called from inside the executor's own spawner")

	// ErrCancelled is the result of a cancelled Future or Timer.
	ErrCancelled = errors.New("core: cancelled")

	// ErrTimerActive is returned by ScheduleTimer for a timer that has not ended.
	ErrTimerActive = errors.New("core: ScheduleTimer: timer has not ended")

	// ErrGoexit means that user code called runtime.Goexit, as t.FailNow does. The code is
	// the body of a Future or Timer, a spawner, a poller or an alarm.
	ErrGoexit = errors.New("core: runtime.Goexit was called")

	// ErrShutdown is the cause of Context, and the reason of refusals, after Shutdown or the
	// end of a quiet period has closed admission.
	ErrShutdown = errors.New("core: executor is shut down")

	// ErrShutdownTimeout is the cause of Context, and the reason of refusals, after the
	// timeout of ShutdownGracefully has closed admission.
	ErrShutdownTimeout = errors.New("core: executor is shut down: timeout of the graceful shutdown passed")

	// ErrInEventLoop is returned by a call that would wait for the loop, if a body of the
	// loop makes the call (G18).
	ErrInEventLoop = errors.New("core: would wait for the loop from inside it")

	// ErrNotInEventLoop is returned by calls that only a body may make.
	ErrNotInEventLoop = errors.New("core: not called from inside a loop")
)

// RejectedError is the error of refused work, which never runs (G3). errors.Is and
// errors.As find ErrRejected and the Reason in it: ErrQueueFull, ErrStarting, ErrShutdown,
// ErrShutdownTimeout, the spawner's error, or the error that ended the loop.
type RejectedError struct {
	State  State // of the executor at the refusal
	Reason error
}

func (r *RejectedError) Error() string {
	return fmt.Sprintf("core: rejected in state %v: %v", r.State, r.Reason)
}

// Unwrap makes both ErrRejected and the Reason visible to errors.Is.
func (r *RejectedError) Unwrap() []error { return []error{ErrRejected, r.Reason} }

// PanicError is a recovered panic of code of the user. It is the error of the Future or Timer
// whose body panicked, the argument of the function set by WithPanicHandler, and in
// Termination.Err the panic of a spawner, a poller, a clock or a source of jitter.
type PanicError struct {
	Value any    // the argument of panic
	Stack []byte // of the panicking goroutine, at the panic
}

func newPanicError(value any) *PanicError {
	return &PanicError{Value: value, Stack: currentStack()}
}

// firstStack is the first size that currentStack tries, in bytes. Few stacks are larger. debug.Stack begins
// at 1024 and formats the stack again for each doubling.
const firstStack = 8 << 10

// stackRoom has buffers of firstStack bytes for currentStack, which copies the stack out of them: the room is
// much larger than most stacks, and a body that panics often would leave it as garbage each time.
var stackRoom = sync.Pool{New: func() any { return new([firstStack]byte) }}

// currentStack is debug.Stack.
func currentStack() []byte {
	room := stackRoom.Get().(*[firstStack]byte)
	defer stackRoom.Put(room)
	if n := runtime.Stack(room[:], false); n < firstStack {
		return bytes.Clone(room[:n])
	}
	for size := 2 * firstStack; ; size *= 2 {
		stack := make([]byte, size)
		if n := runtime.Stack(stack, false); n < size {
			return bytes.Clone(stack[:n])
		}
	}
}

func (p *PanicError) Error() string { return fmt.Sprintf("core: panic: %v", p.Value) }

// Unwrap returns the panic value if it was an error.
func (p *PanicError) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// prefixedError is an error with a text in front. It calls the Error method of err, which may be
// user code, only when it is read, so it can be made with a lock held.
type prefixedError struct {
	prefix string
	err    error
}

func (p *prefixedError) Error() string { return fmt.Sprintf("%s: %v", p.prefix, p.err) }

func (p *prefixedError) Unwrap() error { return p.err }

// argumentError returns the error of a bad argument: it names the call, the value, and
// the expected value. A call with a bad argument has no effect in any state, and its
// error is not ErrRejected.
func argumentError(call, format string, args ...any) error {
	return fmt.Errorf("core: %s: %s", call, fmt.Sprintf(format, args...))
}

func nilFunc(call, what string) error {
	return argumentError(call, "%s is nil, want a function", what)
}
