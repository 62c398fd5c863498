package process

import (
	"context"
	"net/http"
	"os"
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
