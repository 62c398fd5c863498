package exectest

import "text/template"

// source returns the waker as a complete test file, which does not use this package.
func (w waker) source(string, bool) string {
	return formatted(wakerText, map[string]any{
		"rounds": w.rounds, "callers": w.callers, "sweep": w.sweep,
		"trip": w.way == roundTrip, "spins": w.way == sleepWindow, "most": mostSpins,
	})
}

var wakerText = template.Must(template.New("").Parse(`package yours

import (
	{{if not (or .spins .trip)}}"runtime"
	{{end}}{{if not .trip}}"sync"
	{{end}}{{if or .spins .trip}}"sync/atomic"
	{{end}}"testing"
	"testing/synctest"
	"time"
)

// newSubject() returns what your factory makes.
func TestWakerG12(t *testing.T) {
	for round := 0; round < 100000 && !t.Failed(); round++ {
		synctest.Test(t, wakerG12)
	}
}

{{if or .spins .trip}}
var spun atomic.Int64

func spin(steps int) {
	for range steps {
		spun.Load()
	}
}
{{end}}
{{if .trip}}
func wakerG12(t *testing.T) {
	a, b := newSubject(), newSubject()
	over := make(chan struct{})
	hops := 0
	var hop func(bool)
	hop = func(toA bool) {
		to := b
		if toA {
			to = a
		}
		err := to.Execute(func() {
			spin(hops % {{.sweep}})
			if hops++; hops == {{.rounds}} {
				close(over)
			} else {
				hop(!toA)
			}
		})
		if err != nil {
			t.Errorf("pass %d: %v", hops, err)
		}
	}
	hop(true)
	select {
	case <-over:
	case <-time.After(time.Hour):
		t.Errorf("pass %d: an idle loop never began an accepted task", hops)
	}
	a.Shutdown(0, time.Second)
	b.Shutdown(0, time.Second)
	<-a.Done()
	<-b.Done()
}
{{else}}
func wakerG12(t *testing.T) {
	s := newSubject()
	for i := range {{.rounds}} {
		var callers sync.WaitGroup
		for range {{.callers}} {
			callers.Go(func() {
				{{if .spins}}spin(i * {{.sweep}} / {{.rounds}})
				{{else}}for range i % 4 {
					runtime.Gosched()
				}
				{{end}}ran := make(chan struct{})
				{{if .spins}}var began atomic.Bool
				{{end}}if err := s.Execute(func() { {{if .spins}}began.Store(true); {{end}}close(ran) }); err != nil {
					t.Error(err)
					return
				}
				{{if .spins}}for n := 0; !began.Load() && n < {{.most}}; n++ {
				}
				{{end}}select {
				case <-ran:
				case <-time.After(time.Hour):
					t.Errorf("round %d: an idle loop never began an accepted task", i)
				}
			})
		}
		callers.Wait()
	}
	s.Shutdown(0, time.Second)
	<-s.Done()
}
{{end}}
`))
