package process_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"eventide/core/process"
)

// An http.Server under a plan: the request in flight at the signal is answered.
func ExampleHTTP() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, signal := context.WithCancel(context.Background()) // stands for SIGTERM
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		signal()
		time.Sleep(time.Millisecond)
		fmt.Fprint(w, "answered")
	})}
	answer := make(chan string, 1)
	go func() {
		resp, err := http.Get("http://" + l.Addr().String())
		if err != nil {
			answer <- err.Error()
			return
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		answer <- string(body)
	}()
	code := process.Run(ctx, process.Plan{
		Start: func(ctx context.Context) error {
			if err := process.Ready(ctx); err != nil {
				return err
			}
			return process.Served(srv.Serve(l))
		},
		Steps:  []process.Step{process.HTTP(srv, process.HTTPOptions{})},
		Logger: slog.New(slog.DiscardHandler),
	})
	fmt.Println(<-answer, code)
	// Output: answered 0
}

// server has the two ways to end of a grpc.Server.
type server struct{ ended chan struct{} }

func (s server) Serve() error  { <-s.ended; return nil }
func (s server) GracefulStop() { fmt.Println("requests in flight have ended"); close(s.ended) }
func (s server) Stop()         { fmt.Println("requests were cut") }

// Anything with GracefulStop and Stop, such as a grpc.Server. Stop is called only if the time
// is over.
func ExampleGraceful() {
	s := server{ended: make(chan struct{})}
	ctx, signal := context.WithCancel(context.Background())
	code := process.Run(ctx, process.Plan{
		Start: func(ctx context.Context) error {
			signal()
			return s.Serve()
		},
		Steps:  []process.Step{process.Graceful(s)},
		Logger: slog.New(slog.DiscardHandler),
	})
	fmt.Println(code)
	// Output:
	// requests in flight have ended
	// 0
}

// A service listens on what the service manager has opened, or else by itself.
func ExampleListeners() {
	given, err := process.Listeners()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("given:", len(given))
	if len(given) == 0 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		fmt.Println("own:", l != nil, err)
		given = append(given, process.Listener{Name: "http", Listener: l})
	}
	fmt.Println(given[0].Name, given[0].Close())
	// Output:
	// given: 0
	// own: true <nil>
	// http <nil>
}

// The probes of a supervisor, here asked directly.
func ExampleHealth() {
	health := &process.Health{}
	ready := func() string {
		w := newAnswer()
		health.Readiness().ServeHTTP(w, nil)
		return fmt.Sprint(w.code)
	}
	ctx, signal := context.WithCancel(context.Background())
	fmt.Println("before:", ready())
	process.Run(ctx, process.Plan{
		Health: health,
		Start: func(ctx context.Context) error {
			if err := process.Ready(ctx); err != nil {
				return err
			}
			fmt.Println("serving:", ready())
			signal()
			<-ctx.Done()
			fmt.Println("ending:", ready())
			return nil
		},
		Logger: slog.New(slog.DiscardHandler),
	})
	// Output:
	// before: 503
	// serving: 200
	// ending: 503
}

// answer is an http.ResponseWriter that keeps the code.
type answer struct {
	header http.Header
	code   int
}

func newAnswer() *answer                      { return &answer{header: http.Header{}, code: http.StatusOK} }
func (a *answer) Header() http.Header         { return a.header }
func (a *answer) WriteHeader(code int)        { a.code = code }
func (a *answer) Write(p []byte) (int, error) { return len(p), nil }
