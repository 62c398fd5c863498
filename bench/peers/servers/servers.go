package servers

import (
	"context"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"eventide/core/process"
	"eventide/props/draintest"
	"eventide/props/draintest/subjects"
)

// Server is a subject of the kit.
type Server struct {
	subjects.Subject

	// Foreign says that the result is of a library of others. What it breaks is a result, and
	// no mistake of this module.
	Foreign bool
}

// All returns the servers: the right ones, those of other libraries, and the ones with a mistake.
func All() []Server {
	var all []Server
	for _, s := range subjects.Right() {
		all = append(all, Server{Subject: s})
	}
	lines := draintest.Kit{Lag: draintest.DefaultLag, Clients: draintest.TCP()}
	streams := draintest.Kit{Lag: draintest.DefaultLag, Clients: []draintest.Client{calls(), longStreams()}}
	all = append(all,
		Server{Subject: subjects.Subject{Name: "gRPC, GracefulStop", Start: startGRPC(graceful), Kit: streams}, Foreign: true},
		Server{Subject: subjects.Subject{Name: "gRPC, Stop", Start: startGRPC(stopped), Kit: streams}, Foreign: true},
		Server{Subject: subjects.Subject{Name: "gnet, Engine.Stop", Start: startGnet, Kit: lines}, Foreign: true},
	)
	for _, s := range subjects.Wrong() {
		all = append(all, Server{Subject: s})
	}
	return all
}

// preDrain is how long a server serves after its readiness has turned.
const preDrain = 4 * draintest.DefaultLag

// probed runs a plan whose Start serves the readiness probe and calls serve, and whose steps
// end the server and then the probe.
func probed(serve func(), steps ...process.Step) (readiness string, shutdown func(), done <-chan struct{}, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, nil, err
	}
	health := &process.Health{}
	srv := &http.Server{Handler: health.Readiness(), ErrorLog: log.New(io.Discard, "", 0), ReadHeaderTimeout: time.Minute}
	plan := process.Plan{
		Health: health, PreDrain: preDrain, Signals: []os.Signal{}, Logger: slog.New(slog.DiscardHandler),
		Start: func(ctx context.Context) error {
			go serve()
			if err := process.Ready(ctx); err != nil {
				return err
			}
			return process.Served(srv.Serve(l))
		},
		Steps: append(steps, process.HTTP(srv, process.HTTPOptions{Name: "probes"})),
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		process.Run(ctx, plan)
		close(ended)
	}()
	return "http://" + l.Addr().String() + "/readyz", cancel, ended, nil
}
