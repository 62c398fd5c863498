// Package failing has executors that the kit finds guilty, each in another way. Its
// tests fail; those of package exectest run them.
package failing

import (
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"eventide/props/exectest"
)

// executor runs tasks on a goroutine that it starts for them. It loses the task with
// the number lost, and ends when a task calls Goexit, if it is fragile.
type executor struct {
	lost    int
	fragile bool
	spins   bool // Execute never returns

	mu      sync.Mutex
	tasks   int
	queue   []func()
	running bool
	shut    bool
	ended   bool
	done    chan struct{}
}

var errClosed = errors.New("closed")

func (e *executor) Execute(task func()) error {
	for e.spins {
		runtime.Gosched()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.shut || e.ended {
		return errClosed
	}
	if e.tasks++; e.tasks == e.lost {
		return nil
	}
	e.queue = append(e.queue, task)
	if !e.running {
		e.running = true
		go e.loop()
	}
	return nil
}

func (e *executor) loop() {
	ended := false
	defer func() {
		if e.fragile && !ended {
			e.end()
		}
	}()
	for {
		e.mu.Lock()
		if len(e.queue) == 0 {
			ended, e.running = true, false
			e.mu.Unlock()
			if e.shut {
				e.end()
			}
			return
		}
		task := e.queue[0]
		e.queue = e.queue[1:]
		e.mu.Unlock()
		task()
	}
}

func (e *executor) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.ended {
		e.ended = true
		close(e.done)
	}
}

func (e *executor) Shutdown(quiet, timeout time.Duration) error {
	if quiet < 0 || timeout < quiet {
		return errClosed
	}
	e.mu.Lock()
	e.shut = true
	idle := !e.running
	e.mu.Unlock()
	if idle {
		e.end()
	}
	return nil
}

func (e *executor) Done() <-chan struct{} { return e.done }

// twice runs each timer twice.
type twice struct{ exectest.Subject }

func (e twice) Schedule(delay time.Duration, f func()) (cancel func() bool, err error) {
	t := time.AfterFunc(max(delay, 0), func() { e.Execute(func() { f(); f() }) })
	return t.Stop, nil
}

// made returns a factory of executors like this one.
func made(like executor) func() exectest.Subject {
	return func() exectest.Subject {
		return &executor{lost: like.lost, fragile: like.fragile, spins: like.spins, done: make(chan struct{})}
	}
}

func TestProgram(t *testing.T) {
	exectest.Run(t, made(executor{lost: 2}), exectest.Only("G2", "G3", "G4"))
}

// TestHammer loses a task that no program reaches.
func TestHammer(t *testing.T) { exectest.Run(t, made(executor{lost: 100}), exectest.Only("G2", "G3")) }

// TestElsewhere breaks G3 in the programs of G7.
func TestElsewhere(t *testing.T) {
	exectest.Run(t, func() exectest.Subject { return twice{made(executor{})()} }, exectest.Only("G3", "G7", "G8"))
}

func TestHung(t *testing.T) {
	exectest.Run(t, made(executor{spins: true}), exectest.Only("G4"), exectest.Patience(time.Second))
}

func TestDeclared(t *testing.T) {
	exectest.Run(t, made(executor{}), exectest.Only("G4", "G14"), exectest.PanicsEscape())
}

func TestPanic(t *testing.T) { exectest.Run(t, made(executor{}), exectest.Only("G4", "G14")) }

// TestNames has what a shell and a regular expression each read in their own way.
func TestNames(t *testing.T) {
	t.Run("it's (not) a+b/$HOME [c]", func(t *testing.T) {
		exectest.Run(t, made(executor{lost: 2}), exectest.Only("G3", "G4"))
	})
}
