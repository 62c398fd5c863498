package sockets

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"eventide/props/lanes/sockets/kernel"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// osFile is what an *os.File and a *kernel.File have in common.
type osFile interface {
	SyscallConn() (syscall.RawConn, error)
	SetReadDeadline(time.Time) error
	Close() error
}

// fileScript makes steps with a file of an eventfd.
type fileScript struct {
	file  osFile
	raw   syscall.RawConn    // from before the steps
	write func(fd int) error // adds one to the counter of a descriptor
}

var fileSteps = []string{"conn", "control", "control of an old conn", "read", "wait for a write", "late", "in time", "close", "close in use", "close in a read"}

// step makes a step. None of them waits for ever.
func (s *fileScript) step(what string) error {
	switch what {
	case "conn":
		_, err := s.file.SyscallConn()
		return err
	case "control":
		raw, err := s.file.SyscallConn()
		if err != nil {
			return err
		}
		return raw.Control(func(uintptr) {})
	case "control of an old conn":
		return s.raw.Control(func(uintptr) {})
	case "read":
		return s.raw.Read(func(uintptr) bool { return true })
	case "wait for a write":
		return s.await()
	case "late":
		return s.file.SetReadDeadline(longAgo)
	case "in time":
		return s.file.SetReadDeadline(time.Time{})
	case "close":
		return s.file.Close()
	case "close in use":
		return s.closeInUse()
	case "close in a read":
		return s.closeInRead()
	}
	panic("no step " + what)
}

// await waits for an edge that comes when it has found nothing.
func (s *fileScript) await() error {
	wrote := false
	var failed error
	err := s.raw.Read(func(fd uintptr) bool {
		if wrote {
			return true
		}
		wrote, failed = true, s.write(int(fd))
		return false
	})
	return errors.Join(err, failed)
}

// closeInUse closes the file on another goroutine beside a call that has its descriptor. Close waits for this call.
func (s *fileScript) closeInUse() error {
	closed := make(chan error, 1)
	var failed error
	err := s.raw.Control(func(fd uintptr) {
		go func() { closed <- s.file.Close() }()
		for s.file.SetReadDeadline(longAgo) == nil {
			runtime.Gosched()
		}
		failed = s.write(int(fd))
	})
	if err != nil {
		return err
	}
	return errors.Join(<-closed, failed)
}

// closeInRead closes the file on another goroutine beside a read that waits. Close ends this read.
func (s *fileScript) closeInRead() error {
	closed := make(chan error, 1)
	began := false
	err := s.raw.Read(func(uintptr) bool {
		if !began {
			go func() { closed <- s.file.Close() }()
		}
		began = true
		return false
	})
	if began {
		err = errors.Join(err, <-closed)
	}
	return err
}

// one is what a write adds to the counter of an eventfd.
var one = []byte{0: 1, 7: 0}

// TestFileSameAsOS: the calls of a file that the runtime polls have the same results on the model and in package os.
func TestFileSameAsOS(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := kernel.New(kernel.Config{})
		modelled, errno := k.Eventfd()
		if errno != 0 {
			t.Fatal(errno)
		}
		real, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
		if err != nil {
			t.Fatal(err)
		}
		model := &fileScript{file: k.NewFile(modelled), write: func(fd int) error {
			_, errno := k.Write(fd, one)
			if errno != 0 {
				return errno
			}
			return nil
		}}
		linux := &fileScript{file: os.NewFile(uintptr(real), "eventfd"), write: func(fd int) error {
			_, err := unix.Write(fd, one)
			return err
		}}
		scripts := [2]*fileScript{model, linux}
		for _, s := range scripts {
			defer s.file.Close()
			if s.raw, err = s.file.SyscallConn(); err != nil {
				t.Fatal(err)
			}
		}
		var done []string
		for _, what := range rapid.SliceOfN(rapid.SampledFrom(fileSteps), 1, 12).Draw(t, "script") {
			want, got := errorKind(model.step(what)), errorKind(linux.step(what))
			done = append(done, what+": "+got)
			if want != got {
				t.Fatalf("the model has %s\n%s", want, strings.Join(done, "\n"))
			}
		}
	})
}
