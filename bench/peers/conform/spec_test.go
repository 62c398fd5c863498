package conform

import (
	"testing"
	"time"

	"eventide/props/exectest"
)

func TestSubjectsAreNamedOnce(t *testing.T) {
	known := map[string]bool{}
	for _, g := range Guarantees() {
		known[g.Guarantee] = true
	}
	if len(known) < 20 {
		t.Errorf("got %d guarantees, want all of the kit's", len(known))
	}
	seen := map[string]bool{}
	for _, s := range Specs() {
		if seen[s.Name] {
			t.Errorf("two subjects are called %q", s.Name)
		}
		seen[s.Name] = true
		for _, p := range s.Promises {
			if !known[p.Guarantee] || p.Source == "" {
				t.Errorf("%s: promise %+v, want a guarantee of the kit, and where it is promised", s.Name, p)
			}
			if _, both := s.Unjudged[p.Guarantee]; both && s.RealTime {
				t.Errorf("%s: %s is both judged and not", s.Name, p.Guarantee)
			}
		}
		if _, ok := s.Promise("G3"); !ok {
			t.Errorf("%s: want G3 judged: it is the promise in one line", s.Name)
		}
	}
}

func TestCoreKeepsG3(t *testing.T) {
	row, err := coreSpec().Check("G3", "", 1)
	if err != nil || row.Status != exectest.Pass {
		t.Errorf("got %+v, %v; want a pass", row, err)
	}
}

// TestALosingExecutorIsSeen: the matrix says no if a subject breaks the one line.
func TestALosingExecutorIsSeen(t *testing.T) {
	s := channelSpec()
	s.Open = inProcess(func() exectest.Subject { return &losing{newChannel().(*channelSubject), 0} })
	row, err := s.Check("G3", "", 1)
	if err != nil || row.Status != exectest.Fail || row.Text == "" {
		t.Errorf("got %+v, %v; want a failure with its counterexample", row, err)
	}
}

// losing accepts its third task and forgets it.
type losing struct {
	*channelSubject
	n int
}

func (l *losing) Execute(task func()) error {
	l.mu.Lock()
	l.n++
	lost := l.n == 3 && !l.closed
	l.mu.Unlock()
	if lost {
		return nil
	}
	return l.channelSubject.Execute(task)
}

func (l *losing) Shutdown(quiet, timeout time.Duration) error {
	return l.channelSubject.Shutdown(quiet, timeout)
}
