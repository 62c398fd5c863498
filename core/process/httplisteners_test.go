package process

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core/internal/coretest"
)

// TestHTTPServesTwoListenersAtOnce: a server may begin to serve two listeners at the same time. Requests at both have their
// answers, and the step ends both.
func TestHTTPServesTwoListenersAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(5 * time.Second) // of the bubble
			_, _ = w.Write([]byte("served"))
		})}
		plan := Plan{Steps: []Step{HTTP(srv, HTTPOptions{})}}
		var all []service
		for _, name := range []string{"public", "internal"} {
			p := newPipes()
			all = append(all, service{pipes: p, srv: srv})
			plan.Starts = append(plan.Starts, Part{name, func(context.Context) error { return Served(srv.Serve(p)) }})
		}
		tr := launch(t, t.Context(), plan)
		var answers []<-chan string
		for _, s := range all {
			answers = append(answers, s.goGet("/"))
		}
		tr.signals <- os.Interrupt
		for i, s := range all {
			wantAnswer(t, answers[i], "served")
			body, _ := s.get("/")
			coretest.Want(t, "the answer during the step", body, "refused")
		}
		tr.wantCode(CodeClean)
	})
}

// unclosed is a listener whose Close ends it, and returns an error.
type unclosed struct {
	*pipes
	err error
}

func (l unclosed) Close() error { return errors.Join(l.pipes.Close(), l.err) }

// TestHTTPFailsWithTheErrorOfAListener: if a listener does not close, the step fails with its error, though no request was cut.
func TestHTTPFailsWithTheErrorOfAListener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failure := errors.New("no luck")
		srv, l := &http.Server{}, unclosed{newPipes(), failure}
		tr := launch(t, t.Context(), Plan{
			Steps: []Step{HTTP(srv, HTTPOptions{})},
			Start: func(context.Context) error { return Served(srv.Serve(l)) },
		})
		tr.signals <- os.Interrupt
		tr.wantCode(CodeFailed)
		coretest.WantErr(t, "error of the step", tr.report.Steps[0].Err, failure)
	})
}

// TestHTTPLeavesTheListenersOfItsOptions: the server's own listeners do not get into the slice of the caller.
func TestHTTPLeavesTheListenersOfItsOptions(t *testing.T) {
	given := []net.Listener{newPipes(), newPipes()}
	before := slices.Clone(given)
	srv := &http.Server{}
	HTTP(srv, HTTPOptions{Listeners: given[:1]})
	srv.BaseContext(newPipes())
	coretest.Want(t, "the listeners are as before", slices.Equal(given, before), true)
}
