package measure

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// quietEnv makes counted runs repeatable: no collections, unless the memory reaches the limit.
var quietEnv = []string{"GOMAXPROCS=1", "GOGC=off", "GOMEMLIMIT=1GiB", "GODEBUG=asyncpreemptoff=1"}

// CountSyscalls runs a benchmark for ops operations and returns how many system calls its process
// makes, without the calls of Go's scheduler and memory manager.
func (b Binary) CountSyscalls(ctx context.Context, name string, ops int) (float64, error) {
	c := &syscallCounter{}
	err := b.traced(ctx, name, ops, c)
	return float64(c.calls), err
}

// CountInstructions runs a benchmark for ops operations and returns how many instructions its
// process executes in user mode. It returns an error if the machine or the kernel cannot count
// them.
func (b Binary) CountInstructions(ctx context.Context, name string, ops int) (float64, error) {
	c := &instructionCounter{}
	if err := b.traced(ctx, name, ops, c); err != nil {
		return 0, err
	}
	var count [8]byte
	_, err := c.counter.Read(count[:])
	return float64(binary.NativeEndian.Uint64(count[:])), errors.Join(err, c.counter.Close())
}

func (b Binary) traced(ctx context.Context, name string, ops int, o observer) error {
	output, err := os.CreateTemp("", "gate-output-")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(output.Name()); _ = output.Close() }()
	cmd := b.command(ctx, quietEnv, "-test.bench="+Pattern(name), "-test.benchtime="+strconv.Itoa(ops)+"x")
	traced := exec.Command(cmd.Path, cmd.Args[1:]...) // without cmd's context: trace has it
	traced.Dir, traced.Env, traced.Stdout, traced.Stderr = cmd.Dir, cmd.Env, output, output
	if err := trace(ctx, traced, o); err != nil {
		said, _ := os.ReadFile(output.Name())
		return fmt.Errorf("%s: %w: %s", name, err, Tail(said))
	}
	return nil
}

// instructionCounter makes the processor count instructions.
type instructionCounter struct{ counter *os.File }

func (c *instructionCounter) began(pid int) (err error) {
	c.counter, err = openInstructions(pid)
	return err
}
func (c *instructionCounter) resume(int) int { return syscall.PTRACE_CONT }
func (c *instructionCounter) stopped(_ int, sig syscall.Signal) (syscall.Signal, error) {
	return sig, nil
}

// openInstructions counts the instructions in user mode of a process and of all threads
// that it creates from now on.
func openInstructions(pid int) (*os.File, error) {
	attr := unix.PerfEventAttr{
		Type: unix.PERF_TYPE_HARDWARE, Config: unix.PERF_COUNT_HW_INSTRUCTIONS,
		Bits: unix.PerfBitInherit | unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv,
	}
	attr.Size = uint32(unsafe.Sizeof(attr))
	fd, err := unix.PerfEventOpen(&attr, pid, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	switch {
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return nil, fmt.Errorf("the kernel does not let this user count (kernel.perf_event_paranoid): %w", err)
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENODEV):
		return nil, fmt.Errorf("this machine has no counter of instructions: %w", err)
	case err != nil:
		return nil, fmt.Errorf("perf_event_open: %w", err)
	}
	return os.NewFile(uintptr(fd), "perf"), nil
}

// InstructionsMissing returns why instructions cannot be counted here, or nil.
func InstructionsMissing() error {
	counter, err := openInstructions(0)
	if err != nil {
		return err
	}
	return counter.Close()
}
