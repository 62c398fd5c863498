package verdicts

import (
	"bufio"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// The world outside is slow in these tests, and no guard may fire because of that.

// slowWrite returns a function that writes to a pipe whose reader begins to read after
// so many seconds, and blocks for so long.
func slowWrite(t *testing.T, seconds string) (write func()) {
	var p [2]int
	if err := syscall.Pipe2(p[:], syscall.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	from := os.NewFile(uintptr(p[0]), "pipe")
	cmd := exec.Command("sh", "-c", "sleep "+seconds+"; exec cat > /dev/null")
	cmd.Stdin = from
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	from.Close()
	return func() {
		for left := 1 << 17; left > 0; { // more than a pipe holds
			n, err := syscall.Write(p[1], make([]byte, left))
			if err != nil {
				panic(err)
			}
			left -= n
		}
		syscall.Close(p[1])
		cmd.Wait()
	}
}

func TestSlowReader(t *testing.T) {
	write := slowWrite(t, "0.1")
	done := make(chan bool)
	go func() { write(); close(done) }()
	select {
	case <-done:
	case <-time.After(2 * time.Minute):
		t.Error("the guard has fired")
	}
}

// A goroutine waits in a loop for one whose write blocks, so long that the clock would leap
// if it made up for the wait when the write returns.
func TestSlowReaderSpin(t *testing.T) {
	write := slowWrite(t, "0.4")
	var done atomic.Bool
	go func() { write(); done.Store(true) }()
	for begin := time.Now(); !done.Load(); {
		if time.Since(begin) > 2*time.Minute {
			t.Fatal("the guard has fired")
		}
	}
}

// The test returns before the write does. Another goroutine waits for that.
func TestSlowReaderLate(t *testing.T) {
	write := slowWrite(t, "0.1")
	done := make(chan bool)
	go func() { write(); close(done) }()
	go func() { <-done }()
}

// A goroutine waits for the first words of a child process.
func TestSlowChild(t *testing.T) {
	cmd := exec.Command("sh", "-c", "sleep 0.1; echo ready")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	ready := make(chan string)
	go func() {
		line, _ := bufio.NewReader(out).ReadString('\n')
		ready <- line
	}()
	select {
	case line := <-ready:
		if line != "ready\n" {
			t.Error(line)
		}
	case <-time.After(2 * time.Minute):
		t.Error("the guard has fired")
	}
	cmd.Wait()
}

// A child process answers again and again. Each answer comes as the engine looks for what
// can go on, and no guard may fire between its arrival and that of its reader.
func TestAnsweringChild(t *testing.T) {
	cmd := exec.Command("cat")
	to, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	from, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	answers := make(chan error)
	go func() {
		for b := make([]byte, 1); ; {
			_, err := from.Read(b)
			answers <- err
			if err != nil {
				return
			}
		}
	}()
	guard := time.NewTimer(2 * time.Minute)
	for n := range 501 {
		if n < 500 {
			to.Write([]byte("x"))
		} else {
			to.Close()
		}
		select {
		case err := <-answers:
			if n < 500 && err != nil {
				t.Fatal(err)
			}
		case <-guard.C:
			t.Fatal("the guard has fired")
		}
	}
	cmd.Wait()
}

// A pipe of the kernel is used once, and no longer matters then.
func TestPipeOnce(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		time.Sleep(time.Millisecond)
		w.Write([]byte("x"))
	}()
	if _, err := r.Read(make([]byte, 1)); err != nil {
		t.Error(err)
	}
	r.Close()
	w.Close()
	for range 500 {
		time.Sleep(time.Millisecond)
	}
}

// Nobody reads, and a guard is there for that.
func TestNoReader(t *testing.T) {
	var p [2]int
	if err := syscall.Pipe2(p[:], syscall.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	done := make(chan bool)
	go func() { syscall.Write(p[1], make([]byte, 1<<17)); close(done) }()
	select {
	case <-done:
		t.Error("there is no reader")
	case <-time.After(100 * time.Millisecond):
	}
	go func() { // lets the write return
		for b := make([]byte, 1<<16); ; {
			if n, err := syscall.Read(p[0], b); n == 0 || err != nil {
				return
			}
		}
	}()
	<-done
	syscall.Close(p[1])
}
