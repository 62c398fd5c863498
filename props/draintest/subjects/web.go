package subjects

import (
	"context"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"eventide/core/process"
	"eventide/core/tracked"
	"eventide/props/draintest"
)

// listen returns a listener of loopback without multipath TCP, which process.HTTP needs to
// turn connections away.
func listen() (net.Listener, error) {
	var c net.ListenConfig
	c.SetMultipathTCP(false)
	return c.Listen(context.Background(), "tcp", "127.0.0.1:0")
}

// newHTTP returns a server of HTTP/1.1 and of HTTP/2 without TLS.
func newHTTP(h http.Handler) *http.Server {
	srv := &http.Server{Handler: h, Protocols: new(http.Protocols), ErrorLog: log.New(io.Discard, "", 0)}
	srv.Protocols.SetHTTP1(true)
	srv.Protocols.SetUnencryptedHTTP2(true)
	return srv
}

// run runs a plan without signals in place of a process. The returned functions begin its
// exit and tell its end.
func run(plan process.Plan) (shutdown func(), done <-chan struct{}) {
	plan.Signals, plan.Logger = []os.Signal{}, slog.New(slog.DiscardHandler)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		process.Run(ctx, plan)
		close(ended)
	}()
	return cancel, ended
}

// httpStep is net/http under a process.Plan.
func httpStep(preDrain time.Duration) draintest.Start {
	return func() (draintest.Server, error) {
		l, err := listen()
		if err != nil {
			return draintest.Server{}, err
		}
		health, kit, mux := &process.Health{}, &draintest.Endpoint{}, http.NewServeMux()
		mux.Handle("/readyz", health.Readiness())
		mux.Handle("/draintest/", kit)
		srv := newHTTP(mux)
		srv.RegisterOnShutdown(kit.Leave)
		plan := process.Plan{Health: health, PreDrain: preDrain, Start: serve(srv, l), Steps: []process.Step{process.HTTP(srv, process.HTTPOptions{})}}
		shutdown, done := run(plan)
		return draintest.Server{Addr: l.Addr().String(), Shutdown: shutdown, Done: done, Endpoint: kit}, nil
	}
}

func serve(srv *http.Server, l net.Listener) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := process.Ready(ctx); err != nil {
			return err
		}
		return process.Served(srv.Serve(l))
	}
}

// trackedGroup runs the work of each request in a tracked.Group, and answers 503 when the
// group is closed.
func trackedGroup() (draintest.Server, error) {
	l, err := listen()
	if err != nil {
		return draintest.Server{}, err
	}
	health, kit, mux, group := &process.Health{}, &draintest.Endpoint{}, http.NewServeMux(), tracked.NewGroup()
	mux.Handle("/readyz", health.Readiness())
	mux.HandleFunc("/draintest/", func(w http.ResponseWriter, r *http.Request) {
		answered := make(chan struct{})
		err := group.Go(r.URL.Path, func(context.Context) error {
			defer close(answered)
			kit.ServeHTTP(w, r)
			return nil
		})
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		<-answered
	})
	srv := newHTTP(mux)
	srv.RegisterOnShutdown(kit.Leave)
	shutdown, done := run(process.Plan{Health: health, PreDrain: preDrain, Start: serve(srv, l), Steps: []process.Step{
		process.HTTP(srv, process.HTTPOptions{}),
		{Name: "work", Executor: group},
	}})
	return draintest.Server{Addr: l.Addr().String(), Shutdown: shutdown, Done: done, Endpoint: kit}, nil
}

// site is a server of net/http without package process, as one writes it.
type site struct {
	*http.Server
	kit      draintest.Endpoint
	l        *listener
	ready    atomic.Bool
	leaving  atomic.Bool // PreDrain has passed
	handlers sync.WaitGroup
	served   chan struct{} // closed when Serve has returned
	done     chan struct{}

	abandon   context.Context // ends after the round
	abandoned sync.WaitGroup
}

// byItself starts a site whose end is a function. front may be nil; otherwise it stands before
// the kit's endpoint.
func byItself(end func(*site), front func(*site, http.ResponseWriter, *http.Request)) draintest.Start {
	return func() (draintest.Server, error) {
		l, err := listen()
		if err != nil {
			return draintest.Server{}, err
		}
		s := &site{served: make(chan struct{}), done: make(chan struct{}), l: &listener{Listener: l}}
		abandon, cancel := context.WithCancel(context.Background())
		s.abandon = abandon
		mux := http.NewServeMux()
		mux.HandleFunc("/readyz", s.readyz)
		mux.HandleFunc("/draintest/", func(w http.ResponseWriter, r *http.Request) {
			// Counted, because Shutdown does not wait for handlers of hijacked connections.
			s.handlers.Add(1)
			defer s.handlers.Done()
			if front == nil {
				s.kit.ServeHTTP(w, r)
				return
			}
			front(s, w, r)
		})
		s.Server = newHTTP(mux)
		s.ready.Store(true)
		go func() {
			defer close(s.served)
			_ = s.Serve(s.l) // http.ErrServerClosed
		}()
		return draintest.Server{
			Addr: l.Addr().String(), Shutdown: func() { end(s) }, Done: s.done, Endpoint: &s.kit,
			Abandon: func() {
				cancel()
				_ = s.Close() // for those whose end is no end
				s.kit.Leave()
				s.abandoned.Wait()
				<-s.served
			},
		}, nil
	}
}

func (s *site) readyz(w http.ResponseWriter, _ *http.Request) {
	if !s.ready.Load() {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

// leave turns the readiness and serves for PreDrain.
func (s *site) leave() {
	s.ready.Store(false)
	time.Sleep(preDrain)
	s.leaving.Store(true)
}

// shut is Shutdown done right: told, waited for, hijacked connections too.
func (s *site) shut() {
	s.RegisterOnShutdown(s.kit.Leave)
	_ = s.Shutdown(context.Background())
	s.handlers.Wait()
	<-s.served
}

func byHand(s *site) {
	s.leave()
	s.shut()
	close(s.done)
}
