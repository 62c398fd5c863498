package exectest

import (
	"fmt"
	"go/format"
	"strings"
	"text/template"
)

// source returns the hammer as a complete test file. It does not use this package, so
// that it can be changed and kept.
func (h hammer) source(guarantee string, bubble bool) string {
	return formatted(sourceText, map[string]any{
		"guarantee": guarantee, "bubble": bubble,
		"producers": h.producers, "calls": h.calls, "yields": h.yields, "dwell": h.dwell,
		"ahead": h.ahead, "busy": h.busy, "inside": h.inside, "atTimeout": h.timeout,
		"order":  guarantee == "G4" || guarantee == "G6",
		"submit": h.call == callSubmit, "hooks": h.call == callAddHook,
		"closing": int(hammerClosing.Milliseconds()), "timeout": int(hammerTimeout.Milliseconds()),
	})
}

// formatted executes the template of a test file and formats the result.
func formatted(text *template.Template, data map[string]any) string {
	var b strings.Builder
	if err := text.Execute(&b, data); err != nil {
		panic(fmt.Sprintf("exectest: %v", err)) // the template is a constant
	}
	source, err := format.Source([]byte(b.String()))
	if err != nil {
		panic(fmt.Sprintf("exectest: %v in\n%s", err, b.String()))
	}
	return string(source)
}

var sourceText = template.Must(template.New("").Parse(`package yours

import (
	{{if or .yields .dwell}}"runtime"
	{{end}}"sync"
	"sync/atomic"
	"testing"
	{{if .bubble}}"testing/synctest"
	{{end}}"time"
)

// newSubject() returns what your factory makes.
func TestHammer{{.guarantee}}(t *testing.T) {
	for round := 0; round < {{if .ahead}}1{{else}}100000{{end}} && !t.Failed(); round++ {
		{{if .bubble}}synctest.Test(t, func(t *testing.T) { hammer{{.guarantee}}(t, round) })
		{{- else}}hammer{{.guarantee}}(t, round){{end}}
	}
}

func hammer{{.guarantee}}(t *testing.T, round int) {
	type call struct {
		accepted bool
		ran      atomic.Int32
		{{- if .submit}}
		ended    <-chan struct{}
		{{- end}}
	}
	s := newSubject()
	done := s.Done()
	var calls [{{.producers}}][{{.calls}}]call
	{{- if eq .guarantee "G2"}}
	var running atomic.Int32
	{{- end}}
	{{- if .order}}
	var last [{{.producers}}]atomic.Int64
	{{- end}}
	shutdown := func(quiet, timeout time.Duration) {
		if err := s.Shutdown(quiet, timeout); err != nil {
			t.Errorf("Shutdown(%v, %v): %v", quiet, timeout, err)
		}
	}
	{{- if .busy}}
	held := make(chan struct{})
	s.Execute(func() { <-held })
	{{- end}}
	{{- if .inside}}
	stop := func() {
		if s.Execute(func() { shutdown(0, {{.timeout}}*time.Millisecond) }) != nil {
			shutdown(0, {{.timeout}}*time.Millisecond)
		}
	}
	{{- if .busy}}
	stop()
	{{- end}}
	{{- end}}
	{{- if .atTimeout}}
	shutdown({{.closing}}*time.Millisecond, {{.closing}}*time.Millisecond)
	{{- end}}
	var producers sync.WaitGroup
	for p := range calls {
		producers.Go(func() {
			{{- if .atTimeout}}
			time.Sleep({{.closing}} * time.Millisecond)
			{{- end}}
			{{- if .ahead}}
			room := make(chan struct{}, {{.ahead}})
			{{- end}}
			for i := range calls[p] {
				{{- if .ahead}}
				select {
				case room <- struct{}{}:
				case <-time.After(time.Minute):
					t.Errorf("producer %d: a task before task %d never ended", p, i)
					return
				}
				{{- end}}
				select {
				case <-done:
					return
				default:
				}
				c := &calls[p][i]
				body := func() {
					select {
					case <-done:
						t.Errorf("round %d: a body began when Done was closed", round)
					default:
					}
					c.ran.Add(1)
					{{- if eq .guarantee "G2"}}
					if running.Add(1) > 1 {
						t.Errorf("round %d: two bodies ran at once", round)
					}
					{{- end}}
					{{- if .order}}
					if last[p].Swap(int64(i+1)) > int64(i+1) {
						t.Errorf("round %d: call %d of producer %d ran after a later one", round, i, p)
					}
					{{- end}}
					{{- if .dwell}}
					for range {{.dwell}} {
						runtime.Gosched()
					}
					{{- end}}
					{{- if eq .guarantee "G2"}}
					running.Add(-1)
					{{- end}}
					{{- if .ahead}}
					select {
					case <-room:
					default: // it runs twice
					}
					{{- end}}
				}
				{{- if .submit}}
				f := s.Submit(func() error { body(); return nil })
				c.accepted, c.ended = !f.Refused(), f.Done()
				{{- else if .hooks}}
				_, err := s.AddShutdownHook(body)
				c.accepted = err == nil
				{{- else}}
				c.accepted = s.Execute(body) == nil
				{{- end}}
			}
		})
	}
	{{- if .yields}}
	for range {{.yields}} {
		runtime.Gosched()
	}
	{{- end}}
	{{- if .busy}}
	close(held)
	{{- end}}
	{{- if and .inside (not .busy)}}
	stop()
	{{- end}}
	{{- if .ahead}}
	producers.Wait()
	{{- end}}
	{{- if not (or .inside .atTimeout)}}
	shutdown(0, {{.timeout}}*time.Millisecond)
	{{- end}}
	producers.Wait()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatalf("round %d: not done after a minute", round)
	}
	for p := range calls {
		for i := range calls[p] {
			c := &calls[p][i]
			want := int32(0)
			if c.accepted {
				want = 1
			}
			if got := c.ran.Load(); got != want {
				t.Errorf("round %d: call %d of producer %d, accepted: %v, ran %d times, want %d", round, i, p, c.accepted, got, want)
			}
			{{- if .submit}}
			if c.accepted {
				select {
				case <-c.ended:
				case <-time.After(time.Minute):
					t.Fatalf("round %d: the future of call %d of producer %d has not ended after a minute", round, i, p)
				}
			}
			{{- end}}
		}
	}
}
`))
