//go:build linux

package exits

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"strings"
	"time"

	"eventide/core/process"
)

// silentLog takes what net/http logs.
var silentLog = log.New(io.Discard, "", 0)

// closeServers closes the servers whose steps were not begun, and the connections that their handlers
// have hijacked.
func (r *run) closeServers() {
	for _, s := range r.servers {
		s.closed = time.Since(r.began)
		_ = s.srv.Close()
		e := r.want.servers[s.i]
		if s.below == nil {
			continue
		}
		if _, ever := s.below.DropsSYN(); ever != (e.begin != never && e.filters()) {
			r.violate("step %d: new connections are turned away: %v, want %v", s.i, ever, !ever)
		}
	}
}

// judgeServers compares what became of the requests. Every client and every handler has ended.
func (r *run) judgeServers() {
	r.mu.Lock()
	hijacked := r.hijacked
	r.mu.Unlock()
	for _, conn := range hijacked {
		_ = conn.Close()
	}
	for _, s := range r.servers {
		s.judge()
		if s.below == nil {
			continue
		}
		if now, _ := s.below.DropsSYN(); now {
			r.violate("step %d: the filter of the listener is left attached", s.i)
		}
	}
	for fd, kind := range r.k.Open() {
		r.violate("G24: descriptor %d (%s) is open after the end", fd, kind)
	}
	for _, text := range r.k.Misuse() {
		r.violate("G24: %s", text)
	}
}

func (s *server) judge() {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, e := s.r, s.r.want.servers[s.i]
	want := e.outcomes(s.closed)
	for name, w := range want {
		if got := s.got[name]; got.what != w.what || w.at > 0 && got.at != w.at {
			r.violate("step %d, request %s: %q at %v, want %q at %v; the step begins at %v, calls Shutdown at %v and is cut at %v", s.i, name, got.what, got.at, w.what, w.at, e.begin, e.shutdown, e.cut)
		}
	}
	if len(s.got) > len(want) {
		r.violate("step %d: %d requests have an outcome, want %d", s.i, len(s.got), len(want))
	}
	accepted := 0
	for n := range s.spec.Clients {
		if e.accepted(n) != never {
			accepted++
		}
	}
	if n := s.states[http.StateNew]; s.spec.Hooks && n != accepted {
		r.violate("step %d: ConnState of the server was called for %d new connections, want %d", s.i, n, accepted)
	}
}

// judgeCut checks the other methods of the error of a step that has cut requests.
func (r *run) judgeCut(i int, s process.StepReport) {
	var cut *process.CutError
	if !errors.As(s.Err, &cut) {
		return
	}
	kinds := map[string]int{}
	var names []string
	for _, one := range cut.Requests {
		kinds[one.Kind]++
		if len(names) < 10 {
			names = append(names, one.Kind+" "+one.What+r.judgeBytes(i, one))
		}
	}
	if more := len(cut.Requests) - 10; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	want := fmt.Sprintf("process: %d requests cut (%v): %s", len(cut.Requests), cut.Reason, strings.Join(names, ", "))
	if cut.Error() != want || fmt.Sprint(cut.ByKind()) != fmt.Sprint(kinds) {
		r.violate("%s: the error is %q with the kinds %v, want %q and %v", s.Name, cut, cut.ByKind(), want, kinds)
	}
	r.checkReason(s.Name, cut.Reason, errors.Unwrap(cut))
}

// judgeBytes compares the bytes of a request that was cut with those that its client has got, and
// returns the text about them.
func (r *run) judgeBytes(i int, one process.CutRequest) string {
	s, client := r.servers[i], 0
	if _, err := fmt.Sscanf(one.What, "GET /%d/", &client); err != nil {
		r.violate("step %d: the request %q was cut", i, one.What)
	}
	s.mu.Lock()
	acked, unacked := s.read[client], int64(0)
	s.mu.Unlock()
	if s.pipes != nil || s.spec.Conns == "hidden" || s.spec.Conns == "uncomparable" {
		acked, unacked = -1, -1 // the step does not know the socket
	}
	if one.Acked != acked || one.Unacked != unacked {
		r.violate("step %d: of the request %q, which was cut, %d bytes are acknowledged and %d are not, want %d and %d", i, one.What, one.Acked, one.Unacked, acked, unacked)
	}
	if acked < 0 {
		return ""
	}
	return fmt.Sprintf(" (%d bytes acknowledged, %d not)", acked, unacked)
}

// checkReason checks why a step was cut.
func (r *run) checkReason(step string, reason, wrapped error) {
	x := r.want
	var second *process.SignalError
	ok := reason == wrapped
	switch {
	case errors.As(reason, &second):
		ok = ok && second.Second && x.now == x.forced
	case reason == process.ErrDeadline:
		ok = ok && x.now >= x.deadline
	default:
		ok = ok && reason == process.ErrStepDeadline
	}
	if !ok {
		r.violate("%s: it was cut because of %v, and wraps %v; the exit ends at %v, its deadline is at %v", step, reason, wrapped, x.now, x.deadline)
	}
}
