package measure

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// An observer decides what happens at each stop of a traced process. Its methods are
// called on the one thread that may use ptrace with the process.
type observer interface {
	// began is called once, before the first instruction of the program.
	began(pid int) error
	// stopped is called when a thread has stopped because of sig. It returns the signal
	// that the thread is to get, or 0.
	stopped(tid int, sig syscall.Signal) (syscall.Signal, error)
	// resume returns the ptrace request by which the thread continues.
	resume(tid int) int
}

// syscallStop is the signal of a stop at a system call under PTRACE_O_TRACESYSGOOD.
const syscallStop = syscall.SIGTRAP | 0x80

// trace starts cmd under ptrace, lets o observe all of its threads, and returns when the
// process has ended. Tracing a child needs no privilege. The output of cmd must be files:
// trace waits for the process itself.
func trace(ctx context.Context, cmd *exec.Cmd, o observer) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		done <- traceOnThread(ctx, cmd, o)
	}()
	return <-done
}

func traceOnThread(ctx context.Context, cmd *exec.Cmd, o observer) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	defer stop()
	defer func() { _ = cmd.Process.Release() }()
	err := observe(cmd.Process.Pid, o)
	if err != nil {
		err = errors.Join(err, kill(cmd))
	}
	return errors.Join(ctx.Err(), err)
}

// kill ends a process that is still traced, and waits for its end.
func kill(cmd *exec.Cmd) error {
	if err := cmd.Process.Kill(); err != nil {
		return nil // it has ended
	}
	for {
		var status syscall.WaitStatus
		tid, err := wait(&status)
		if err != nil || tid == cmd.Process.Pid && (status.Exited() || status.Signaled()) {
			return nil
		}
	}
}

// wait returns the next thread of which this thread is the tracer and that has stopped
// or ended.
func wait(status *syscall.WaitStatus) (tid int, err error) {
	for {
		tid, err = syscall.Wait4(-1, status, syscall.WALL|unix.WNOTHREAD, nil)
		if !errors.Is(err, syscall.EINTR) {
			return tid, err
		}
	}
}

const traceOptions = syscall.PTRACE_O_TRACECLONE | syscall.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_EXITKILL

func observe(pid int, o observer) error {
	var status syscall.WaitStatus
	if tid, err := wait(&status); err != nil || tid != pid || !status.Stopped() {
		return fmt.Errorf("the traced process did not start: wait returned %d, status %#x, %w", tid, status, err)
	}
	if err := syscall.PtraceSetOptions(pid, traceOptions); err != nil {
		return fmt.Errorf("setting the options of ptrace: %w", err)
	}
	if err := o.began(pid); err != nil {
		return err
	}
	known := map[int]bool{pid: true}
	if err := resume(pid, o.resume(pid), 0); err != nil {
		return err
	}
	for {
		tid, err := wait(&status)
		if err != nil {
			return fmt.Errorf("waiting for the traced process: %w", err)
		}
		if status.Exited() || status.Signaled() {
			if tid != pid {
				continue
			}
			if status.ExitStatus() != 0 {
				return fmt.Errorf("the traced process ended with exit code %d, signal %v", status.ExitStatus(), status.Signal())
			}
			return nil
		}
		deliver, err := stopped(tid, status, known, o)
		if err != nil {
			return err
		}
		if err := resume(tid, o.resume(tid), deliver); err != nil {
			return err
		}
	}
}

// stopped handles the stops that are ptrace's own, and gives the others to o.
func stopped(tid int, status syscall.WaitStatus, known map[int]bool, o observer) (syscall.Signal, error) {
	sig := status.StopSignal()
	switch {
	case status.TrapCause() > 0: // a thread was created
		return 0, nil
	case sig == syscall.SIGSTOP && !known[tid]: // a new thread begins with it
		known[tid] = true
		return 0, nil
	}
	return o.stopped(tid, sig)
}

// resume continues a thread. A thread that is gone has been killed, which wait reports.
func resume(tid, request int, sig syscall.Signal) error {
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PTRACE, uintptr(request), uintptr(tid), 0, uintptr(sig), 0, 0)
	if errno != 0 && errno != syscall.ESRCH {
		return fmt.Errorf("resuming a traced thread: %w", errno)
	}
	return nil
}
