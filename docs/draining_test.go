package docs

import (
	"context"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"eventide/core/process"
	"eventide/props/draintest"
	servers "eventide/props/draintest/subjects"
)

// TestDrain shuts the server down while clients send requests, and judges the answers.
func TestDrain(t *testing.T) {
	draintest.Run(t, func() (draintest.Server, error) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		health, kit, mux := &process.Health{}, &draintest.Endpoint{}, http.NewServeMux()
		mux.Handle("/readyz", health.Readiness())
		mux.Handle("/draintest/", kit) // what the clients ask for
		srv := &http.Server{Handler: mux}
		srv.RegisterOnShutdown(kit.Leave) // upgraded connections say goodbye
		ctx, shutdown := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() {
			defer close(done)
			process.Run(ctx, process.Plan{
				Health:   health,
				PreDrain: time.Second,
				Start:    serve(srv, l),
				Steps:    []process.Step{process.HTTP(srv, process.HTTPOptions{})},
			})
		}()
		return draintest.Server{Addr: l.Addr().String(), Shutdown: shutdown, Done: done, Endpoint: kit}, err
	})
}

func serve(srv *http.Server, l net.Listener) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := process.Ready(ctx); err != nil {
			return err
		}
		return process.Served(srv.Serve(l))
	}
}

var _ = programDrains

// programDrains has the page's fragment about a program.
func programDrains(t *testing.T) {
	server := draintest.Command{Args: []string{"./server", "-listen", "{addr}"}, Signal: syscall.SIGTERM}
	draintest.Run(t, server.Start)
}

// TestDrainingPageShowsWhatIsPrinted: the table of the page is the kit's, the words of its
// failure are, and each verdict has a repair.
func TestDrainingPageShowsWhatIsPrinted(t *testing.T) {
	p := readPage(t, "docs/draining.md")
	var passed draintest.Result
	var repaired []string
	for _, v := range draintest.Verdicts() {
		passed.Rows = append(passed.Rows, draintest.Row{Verdict: v, Sentence: draintest.Sentence(v), Status: draintest.Pass, Exercised: 1})
		if !strings.Contains(p.text, "\n| "+v) {
			repaired = append(repaired, v)
		}
	}
	if err := shows(p, "none-lost     pass", passed.String(), shape); err != nil {
		t.Error(err)
	}
	if repaired != nil {
		t.Errorf("the page has no repair for %v", repaired)
	}
	wrong := servers.Wrong()[0]
	wrong.Kit.Clients, wrong.Kit.Workers, wrong.Kit.Rounds = []draintest.Client{draintest.SlowBody()}, 1, 1
	r, err := wrong.Kit.Check(wrong.Start)
	if err != nil {
		t.Fatal(err)
	}
	if err := shows(p, "1 of slow body", r.Row(wrong.Breaks).Report, shape); err != nil {
		t.Errorf("%v\n%s", err, r.Row(wrong.Breaks).Report)
	}
}
