package subjects

import (
	"context"
	"net"
	"net/http"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/core/process"
	"eventide/core/tcp"
	"eventide/props/draintest"
)

// probes is the HTTP server for the probes of a server of lines. It ends last.
type probes struct {
	health *process.Health
	srv    *http.Server
	l      net.Listener
}

func newProbes() (*probes, error) {
	l, err := listen()
	if err != nil {
		return nil, err
	}
	p := &probes{health: &process.Health{}, l: l}
	p.srv = newHTTP(p.health.Readiness())
	return p, nil
}

// plan returns a plan whose Start serves the probes, and whose steps end them last.
func (p *probes) plan(steps ...process.Step) process.Plan {
	end := process.HTTP(p.srv, process.HTTPOptions{Name: "probes"})
	return process.Plan{Health: p.health, PreDrain: preDrain, Start: serve(p.srv, p.l), Steps: append(steps, end)}
}

func (p *probes) url() string { return "http://" + p.l.Addr().String() + "/readyz" }

// tcpLines is a server of lines on core/tcp.
func tcpLines() (draintest.Server, error) {
	p, err := newProbes()
	if err != nil {
		return draintest.Server{}, err
	}
	boss, err := core.NewGroup(1)
	if err != nil {
		return draintest.Server{}, err
	}
	workers, err := core.NewGroup(2)
	if err != nil {
		return draintest.Server{}, err
	}
	kit := &draintest.Endpoint{}
	l, err := tcp.Listen(boss, workers, "127.0.0.1:0", func() tcp.Handler { return &tcpHandler{answer: kit.Lines()} })
	if err != nil {
		return draintest.Server{}, err
	}
	shutdown, done := run(p.plan(
		process.Step{Name: "boss", Executor: boss}, process.Step{Name: "workers", Executor: workers}))
	return draintest.Server{Addr: l.Addr().String(), Readiness: p.url(), Shutdown: shutdown, Done: done, Endpoint: kit}, nil
}

type tcpHandler struct {
	tcp.HandlerBase
	answer func([]byte) []byte
}

func (h *tcpHandler) Read(ch *tcp.Channel, p []byte) { ch.Write(h.answer(p)) }
func (h *tcpHandler) ReadComplete(ch *tcp.Channel)   { ch.Flush() }

// blockingLines is a server of lines on core/blocking.
func blockingLines() (draintest.Server, error) {
	p, err := newProbes()
	if err != nil {
		return draintest.Server{}, err
	}
	l, err := listen()
	if err != nil {
		return draintest.Server{}, err
	}
	group, err := blocking.NewGroup(0)
	if err != nil {
		return draintest.Server{}, err
	}
	kit, served := &draintest.Endpoint{}, make(chan error, 1)
	go func() {
		served <- group.Serve(l, func() blocking.Handler { return &blockingHandler{answer: kit.Lines()} })
	}()
	shutdown, done := run(p.plan(
		process.Step{Name: "group", Executor: group},
		process.Step{Name: "accepting", Run: func(context.Context) error { return <-served }}))
	return draintest.Server{Addr: l.Addr().String(), Readiness: p.url(), Shutdown: shutdown, Done: done, Endpoint: kit}, nil
}

type blockingHandler struct {
	blocking.HandlerBase
	answer func([]byte) []byte
}

func (h *blockingHandler) Read(ch *blocking.Channel, p []byte) { ch.Write(h.answer(p)) }
func (h *blockingHandler) ReadComplete(ch *blocking.Channel)   { ch.Flush() }
