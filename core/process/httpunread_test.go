package process

import (
	"net/http"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core/internal/coretest"
)

// TestHTTPClosesASilentConnectionAtTheDeadline: srv.Shutdown leaves a connection open whose first request it awaits. If the
// time of the step is over first, the step closes that connection, though no handler runs.
func TestHTTPClosesASilentConnectionAtTheDeadline(t *testing.T) {
	for range 10 { // the end of the handlers and that of the time are both due: a select takes any
		synctest.Test(t, func(t *testing.T) {
			s := serveHTTP(t, &http.Server{}, Plan{}, HTTPOptions{Deadline: time.Second})
			client, ok := s.dial()
			coretest.Want(t, "connected", ok, true)
			defer client.Close()
			closed := make(chan time.Duration, 1)
			go func() {
				_, _ = client.Read(make([]byte, 1)) // returns at the close
				closed <- time.Since(s.began)
			}()
			synctest.Wait()
			s.signals <- os.Interrupt
			coretest.Want(t, "time of the close", <-closed, time.Second)
			s.wantCode(CodeFailed)
		})
	}
}
