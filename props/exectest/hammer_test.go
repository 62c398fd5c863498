package exectest_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"eventide/props/exectest"
	"eventide/props/exectest/subjects"
)

// TestASelfDeadlockIsNotG3 wants an executor whose Shutdown may wait for ever inside a
// task, which is G18's, to pass G3: after one such hammer the kit strikes on, without tasks
// that shut down. What is stuck stays so, hence a process of its own. How many hammers
// there are depends on the machine, so none is counted.
func TestASelfDeadlockIsNotG3(t *testing.T) {
	if os.Getenv(asChild) != "" {
		fmt.Println(judgeLocked())
		os.Exit(0)
	}
	if out, err := inChild(t, "locked"); err != nil || !strings.Contains(out, "G3: pass, and hammers after the one that was stuck") {
		t.Errorf("got %v and\n%s\nwant a pass, and hammers after one that was stuck", err, out)
	}
}

// askedLocked knows whether a Shutdown of the executor has not returned.
type askedLocked struct {
	*subjects.Locked
	asked, answered atomic.Int64
}

func (l *askedLocked) Shutdown(quiet, timeout time.Duration) error {
	l.asked.Add(1)
	defer l.answered.Add(1)
	return l.Locked.Shutdown(quiet, timeout)
}

// judgeLocked runs the kit with one seed after the other until a hammer is stuck and
// others follow it. On a busy machine there may be none in the time of one run.
func judgeLocked() string {
	for seed := range uint64(20) {
		var mu sync.Mutex
		var made []*askedLocked
		factory := func() exectest.Subject {
			mu.Lock()
			defer mu.Unlock()
			made = append(made, &askedLocked{Locked: subjects.NewLocked()})
			return made[len(made)-1]
		}
		row := exectest.Check(factory, exectest.Only("G3"), exectest.Seed(seed+1)).Rows[0]
		mu.Lock()
		first, stuck := -1, 0
		for i, l := range made {
			if l.asked.Load() != l.answered.Load() {
				if stuck++; stuck == 1 {
					first = i
				}
			}
		}
		after := len(made) - 1 - first
		mu.Unlock()
		switch {
		case row.Status != exectest.Pass:
			return fmt.Sprintf("G3: %v %s", row.Status, row.Text)
		case stuck > 1:
			return fmt.Sprintf("G3: pass, but %d hammers were stuck", stuck)
		case stuck == 1 && after > 0:
			return "G3: pass, and hammers after the one that was stuck"
		}
	}
	return "G3: in no run a hammer was stuck and others followed it"
}

// forgetful loses one of the things that it accepts, without any race: enough for
// each kind of test in a report to find something.
const forgetful = `package yours

import (
	"errors"
	"sync"
	"time"
)

type executor struct {
	mu     sync.Mutex
	tasks  int
	queue  []func()
	closed bool
	wake   chan struct{}
	done   chan struct{}
}

type future struct {
	done    chan struct{}
	refused bool
}

func (f future) Done() <-chan struct{} { return f.done }
func (f future) Refused() bool         { return f.refused }

func newSubject() *executor {
	e := &executor{wake: make(chan struct{}, 1), done: make(chan struct{})}
	go e.loop()
	return e
}

func (e *executor) Execute(task func()) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return errors.New("closed")
	}
	e.tasks++
	if e.tasks != LOST {
		e.queue = append(e.queue, task)
	}
	e.rouse()
	return nil
}

func (e *executor) rouse() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

func (e *executor) Submit(task func() error) future {
	f := future{done: make(chan struct{})}
	if e.Execute(func() { task(); close(f.done) }) != nil {
		f.refused = true
		close(f.done)
	}
	return f
}

func (e *executor) AddShutdownHook(hook func()) (func() bool, error) {
	return func() bool { return false }, e.Execute(hook)
}

func (e *executor) Shutdown(quiet, timeout time.Duration) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	time.AfterFunc(quiet, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.closed = true
		e.rouse()
	})
	return nil
}

func (e *executor) Done() <-chan struct{} { return e.done }

func (e *executor) loop() {
	defer close(e.done)
	for {
		e.mu.Lock()
		queue, closed := e.queue, e.closed
		e.queue = nil
		e.mu.Unlock()
		for _, task := range queue {
			task()
		}
		switch {
		case len(queue) > 0:
		case closed:
			return
		default:
			<-e.wake
		}
	}
}
`

// TestTheTestInTheReportRuns builds the tests that reports print, of every kind, in
// a module of their own, and wants them to fail on a broken executor, and a correct
// one to pass.
func TestTheTestInTheReportRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a module for each report")
	}
	dir := t.TempDir()
	write(t, dir, "go.mod", "module yours\n\ngo 1.26.0\n")
	want := map[string]string{} // by the name of the package
	for i, source := range exectest.Sources() {
		for lost, word := range map[string]string{"0": "ok  \t", "5": "FAIL\t"} {
			name := fmt.Sprintf("test%dlosing%s", i, lost)
			want[name] = word
			if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, dir, name+"/executor.go", strings.Replace(forgetful, "LOST", lost, 1))
			write(t, dir, name+"/hammer_test.go", strings.Replace(source, "100000", "20", 1))
		}
	}
	test := exec.Command("go", "test", "./...")
	test.Dir = dir
	test.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	out, _ := test.CombinedOutput() // some fail
	for name, word := range want {
		if !strings.Contains(string(out), "\n"+word+"yours/"+name+"\t") && !strings.HasPrefix(string(out), word+"yours/"+name+"\t") {
			t.Errorf("%s: want %q, got\n%s", name, word, out)
		}
	}
	if strings.Contains(string(out), "[build failed]") {
		t.Errorf("a test does not compile:\n%s", out)
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
