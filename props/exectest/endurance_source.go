package exectest

import "text/template"

var enduranceText = template.Must(template.New("").Parse(`package yours

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// newSubject() returns what your factory makes.
func TestEndurance(t *testing.T) {
	s := newSubject()
	var accepted, ran atomic.Int64
	var producers sync.WaitGroup
	for p := range {{.producers}} {
		producers.Go(func() {
			var last atomic.Int64
			room := make(chan struct{}, {{.ahead}})
			for i := range {{.calls}} {
				select {
				case room <- struct{}{}:
				case <-time.After(time.Minute):
					t.Errorf("producer %d: a task before task %d never ended", p, i)
					return
				}
				err := s.Execute(func() {
					ran.Add(1)
					if now := int64(i + 1); last.Swap(now) >= now {
						t.Errorf("producer %d: task %d began twice, or after a later one", p, i)
					}
					select {
					case <-room:
					default:
					}
				})
				if err != nil {
					t.Errorf("producer %d: task %d: %v", p, i, err)
					return
				}
				accepted.Add(1)
			}
		})
	}
	producers.Wait()
	s.Shutdown(0, time.Minute)
	select {
	case <-s.Done():
	case <-time.After(2 * time.Minute):
		t.Error("not done two minutes after the shutdown")
	}
	if ran.Load() != accepted.Load() {
		t.Errorf("%d tasks were accepted and %d ran", accepted.Load(), ran.Load())
	}
}
`))
