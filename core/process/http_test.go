package process

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core/internal/coretest"
)

// pipes is a listener in memory, so that a server runs in virtual time.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes", Net: "unix"} }

// dial returns the client's end of a new connection, or false if the listener is closed.
func (p *pipes) dial() (net.Conn, bool) {
	client, server := net.Pipe()
	select {
	case p.conns <- server:
		return client, true
	case <-p.closed:
		return nil, false
	}
}

// get makes one request on a connection of its own and returns the answer; "" if it was cut.
func (p *pipes) get(path string) (body string, closes bool) {
	c, ok := p.dial()
	if !ok {
		return "refused", false
	}
	defer c.Close()
	go fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path)
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return "", false
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return "", false
	}
	return string(text), answer.Close
}

// service is an HTTP server under a Plan, and its clients.
type service struct {
	*trial
	*pipes
	srv *http.Server
}

// serveHTTP runs a plan whose only step is that of a server. Its handler waits as many seconds
// as the path says.
func serveHTTP(t *testing.T, srv *http.Server, plan Plan, opts HTTPOptions) service {
	p := newPipes()
	if srv.Handler == nil {
		srv.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			wait, err := time.ParseDuration(strings.TrimPrefix(r.URL.Path, "/"))
			if err != nil {
				t.Error(err)
			}
			time.Sleep(wait)
			fmt.Fprint(w, "waited ", wait)
		})
	}
	plan.Steps = append([]Step{HTTP(srv, opts)}, plan.Steps...)
	plan.Start = func(ctx context.Context) error { return Served(srv.Serve(p)) }
	return service{launch(t, t.Context(), plan), p, srv}
}

// goGet makes a request and returns where its answer will be.
func (s service) goGet(path string) <-chan string {
	answer := make(chan string, 1)
	go func() {
		body, _ := s.get(path)
		answer <- body
	}()
	synctest.Wait()
	return answer
}

func wantAnswer(t *testing.T, got <-chan string, want string) {
	t.Helper()
	if a := <-got; a != want {
		t.Errorf("the answer is %q, want %q", a, want)
	}
}

// TestHTTPFinishesRequests: a request that takes longer than a step's default has its answer,
// and connections are refused from the begin of the step on, not before.
func TestHTTPFinishesRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveHTTP(t, &http.Server{}, Plan{PreDrain: 4 * time.Second}, HTTPOptions{})
		if body, closes := s.get("/1s"); body != "waited 1s" || closes {
			t.Errorf("before the exit: %q, closes %v; want an answer that keeps the connection", body, closes)
		}
		slow := s.goGet("/20s")
		s.signals <- os.Interrupt
		time.Sleep(time.Second)
		if body, closes := s.get("/1s"); body != "waited 1s" || !closes {
			t.Errorf("during PreDrain: %q, closes %v; want an answer that closes the connection", body, closes)
		}
		time.Sleep(3 * time.Second)
		if body, _ := s.get("/1s"); body != "refused" {
			t.Errorf("during the step: %q, want no connection", body)
		}
		wantAnswer(t, slow, "waited 20s")
		s.wantCode(0)
		// 1 s, and 20 s from the slow request's begin; net/http looks twice a second whether
		// the connections are idle.
		if s.took < 21*time.Second || s.took > 21*time.Second+600*time.Millisecond {
			t.Errorf("Run returned after %v, want 21 s and at most 0.6 s more", s.took)
		}
	})
}

// TestHTTPCutsAtTheDeadline: what runs when the time is over is cut and named, by kind; a later
// step has its time.
func TestHTTPCutsAtTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCalls()
		s := serveHTTP(t, &http.Server{Addr: ":80"}, Plan{Steps: []Step{c.step("database")}}, HTTPOptions{Deadline: 3 * time.Second})
		slow := s.goGet("/1m")
		quick := s.goGet("/2s")
		s.signals <- os.Interrupt
		wantAnswer(t, quick, "waited 2s")
		wantAnswer(t, slow, "")
		s.wantCode(1)
		c.want(t, "database@3s")
		var cut *CutError
		r := s.report.Steps[0]
		if !errors.As(r.Err, &cut) || !errors.Is(r.Err, ErrStepDeadline) || len(cut.Requests) != 1 {
			t.Fatalf("the step: %+v, want one request cut by the step's deadline", r)
		}
		if got, want := cut.Requests[0], (CutRequest{"HTTP/1.1", "GET /1m", s.began, -1, -1}); got != want {
			t.Errorf("cut: %+v, want %+v: a pipe does not count bytes", got, want)
		}
		if r.Name != "http :80" {
			t.Errorf("the step's name is %q, want http :80", r.Name)
		}
		s.wantLine("level=ERROR", "1 requests cut", "HTTP/1.1 GET /1m")
		time.Sleep(time.Minute) // the handler's
	})
}

// TestHTTPWaitsForHijacked: the step waits for the handler of a hijacked connection, which hears
// of the end by RegisterOnShutdown. If it does not end, it is named as hijacked, and its
// connection is closed.
func TestHTTPWaitsForHijacked(t *testing.T) {
	for _, heeds := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			told := make(chan struct{})
			srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				c, _, err := http.NewResponseController(w).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				defer c.Close()
				<-told
				if !heeds {
					time.Sleep(time.Minute)
				}
				time.Sleep(time.Second)
				fmt.Fprint(c, "bye")
			})}
			srv.RegisterOnShutdown(func() { close(told) })
			s := serveHTTP(t, srv, Plan{}, HTTPOptions{Deadline: 10 * time.Second})
			client, _ := s.dial()
			go fmt.Fprint(client, "GET /chat HTTP/1.1\r\nHost: x\r\n\r\n")
			heard := make(chan string, 1)
			go func() { text, _ := io.ReadAll(client); heard <- string(text) }()
			synctest.Wait()
			s.signals <- os.Interrupt
			if heeds {
				s.wantCode(0)
				s.wantTook(time.Second)
				wantAnswer(t, heard, "bye")
				return
			}
			s.wantCode(1)
			s.wantLine("1 requests cut", "hijacked GET /chat")
			wantAnswer(t, heard, "") // its connection is closed before the handler says bye
			time.Sleep(time.Minute)  // the handler's
		})
	}
}

// TestHTTPKeepsTheHooks: the server's own hooks and handler are called as before.
func TestHTTPKeepsTheHooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		var mu sync.Mutex
		states := map[http.ConnState]int{}
		srv := &http.Server{
			ConnState:   func(_ net.Conn, s http.ConnState) { mu.Lock(); states[s]++; mu.Unlock() },
			ConnContext: func(ctx context.Context, _ net.Conn) context.Context { return context.WithValue(ctx, key{}, "mine") },
			Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				fmt.Fprint(w, r.Context().Value(key{}))
			}),
		}
		s := serveHTTP(t, srv, Plan{}, HTTPOptions{Name: "api"})
		if body, _ := s.get("/"); body != "mine" {
			t.Errorf("the handler saw %q, want the value of ConnContext", body)
		}
		s.signals <- os.Interrupt
		s.wantCode(0)
		synctest.Wait() // the server's goroutines
		mu.Lock()
		defer mu.Unlock()
		if states[http.StateNew] != 1 || states[http.StateClosed] != 1 || s.report.Steps[0].Name != "api" {
			t.Errorf("states %v, step %q; want one connection, api", states, s.report.Steps[0].Name)
		}
	})
}

// fakeGRPC ends as a grpc.Server does: GracefulStop waits for streams, Stop cuts them.
type fakeGRPC struct {
	takes time.Duration
	stop  chan struct{}
}

func (f fakeGRPC) GracefulStop() {
	select {
	case <-time.After(f.takes):
	case <-f.stop:
	}
}

func (f fakeGRPC) Stop() { close(f.stop) }

// panicky is a server that panics.
type panicky struct{}

func (panicky) GracefulStop() { panic("p") }
func (panicky) Stop()         {}

// brittle is a server whose GracefulStop panics when Stop is called.
type brittle struct{ stop chan struct{} }

func (b brittle) GracefulStop() { <-b.stop; panic("p") }
func (b brittle) Stop()         { close(b.stop) }

func TestGraceful(t *testing.T) {
	grpc := func(takes time.Duration) func() GracefulServer {
		return func() GracefulServer { return fakeGRPC{takes, make(chan struct{})} }
	}
	for name, c := range map[string]struct {
		server   func() GracefulServer // called in the bubble
		deadline time.Duration
		took     time.Duration
		code     int
		line     string
	}{
		"ends":          {grpc(20 * time.Second), 0, 20 * time.Second, 0, "step done"},
		"hangs":         {grpc(time.Hour), 3 * time.Second, 3 * time.Second, 1, ErrStopped.Error()},
		"hangs, no own": {grpc(time.Hour), 0, DefaultDeadline - heedTime, 1, ErrStopped.Error()},
		"panics":        {func() GracefulServer { return panicky{} }, 0, 0, 1, "panic: p"},
		"panics late":   {func() GracefulServer { return brittle{make(chan struct{})} }, time.Second, time.Second, 1, "panic: p"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				step := Graceful(c.server())
				step.Deadline = c.deadline
				tr := launch(t, t.Context(), Plan{Steps: []Step{step}})
				tr.signals <- os.Interrupt
				tr.wantCode(c.code)
				tr.wantTook(c.took)
				tr.wantLine(c.line)
				err := tr.report.Steps[0].Err
				coretest.Want(t, "the error is ErrStopped", errors.Is(err, ErrStopped), c.line == ErrStopped.Error())
				if errors.Is(err, ErrStopped) {
					coretest.WantErr(t, "its reason", err, ErrStepDeadline)
					coretest.WantText(t, "its text", err, ErrStopped.Error()+": "+ErrStepDeadline.Error())
				}
			})
		})
	}
}

// TestServerStepsRefuse: a mistake in the call that made a step is one of the plan.
func TestServerStepsRefuse(t *testing.T) {
	var none *fakePointer
	for want, step := range map[string]Step{
		"Steps[0]: HTTP: srv is nil, want a server":       HTTP(nil, HTTPOptions{}),
		"Steps[0]: Graceful: the server is nil, want one": Graceful(nil),
		"Graceful: the server is nil":                     Graceful(none),
		"Deadline is -1s, want 0 or more":                 HTTP(&http.Server{}, HTTPOptions{Deadline: -time.Second}),
	} {
		if err := (Plan{Steps: []Step{step}}).Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
		if strings.Contains(want, "is nil") && step.Run != nil {
			t.Errorf("%s: the step has a Run, want none without a server", want)
		}
	}
	coretest.Want(t, "name of the step without a server", HTTP(nil, HTTPOptions{Name: "api"}).Name, "api")
	coretest.Want(t, "its name by default", HTTP(nil, HTTPOptions{}).Name, "http")
}

type fakePointer struct{}

func (*fakePointer) GracefulStop() {}
func (*fakePointer) Stop()         {}

// TestHTTPDefaultHandler: a server without a Handler serves http.DefaultServeMux, as before.
func TestHTTPDefaultHandler(t *testing.T) {
	defer func(mux *http.ServeMux) { http.DefaultServeMux = mux }(http.DefaultServeMux)
	http.DefaultServeMux = http.NewServeMux() // for -count
	http.HandleFunc("/process-test-default", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "default") })
	srv := &http.Server{}
	HTTP(srv, HTTPOptions{})
	w := httptest.NewRecorder()
	srv.Handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/process-test-default", nil))
	if w.Body.String() != "default" {
		t.Errorf("got %q, want the answer of the default handler", w.Body.String())
	}
}

func TestServed(t *testing.T) {
	if err := Served(http.ErrServerClosed); err != nil {
		t.Errorf("got %v, want nil", err)
	}
	if err := Served(io.ErrUnexpectedEOF); err != io.ErrUnexpectedEOF {
		t.Errorf("got %v, want the error as it is", err)
	}
}

// TestCutErrorCountsByKind: the text names ten requests, and the counts have all.
func TestCutErrorCountsByKind(t *testing.T) {
	c := &CutError{Requests: []CutRequest{{Kind: "HTTP/1.1"}, {Kind: "hijacked"}, {Kind: "HTTP/1.1"}}}
	if got := c.ByKind(); len(got) != 2 || got["HTTP/1.1"] != 2 || got["hijacked"] != 1 {
		t.Errorf("got %v, want 2 of HTTP/1.1 and 1 hijacked", got)
	}
}

// TestCutErrorNamesTen: an error of many requests stays short.
func TestCutErrorNamesTen(t *testing.T) {
	c := &CutError{Requests: make([]CutRequest, 12), Reason: ErrDeadline}
	if text := c.Error(); !strings.Contains(text, "12 requests cut") || !strings.HasSuffix(text, "and 2 more") {
		t.Errorf("got %s", text)
	}
}
