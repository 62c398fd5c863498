package peers

import (
	"context"
	"net"
	"time"

	"eventide/core"
	"eventide/core/tcp"
)

// coreEcho is an echo server on event loops: one that accepts, and echoLoops that
// carry the connections, which a shutdown closes at once, as Netty's does.
func coreEcho(opts ...core.Option) (echoServer, error) {
	opts = append(opts, core.WithDrain(core.CloseChannels))
	boss, err := core.NewGroup(1, opts...)
	if err != nil {
		return nil, err
	}
	workers, err := core.NewGroup(echoLoops, opts...)
	if err != nil {
		boss.Shutdown()
		return nil, err
	}
	l, err := tcp.Listen(boss, workers, "127.0.0.1:0", func() tcp.Handler { return coreEchoHandler{} },
		tcp.WithNoDelay(true), tcp.WithBacklog(4096))
	if err != nil {
		boss.Shutdown()
		workers.Shutdown()
		return nil, err
	}
	return &coreEchoServer{boss, workers, l.Addr().(*net.TCPAddr).Port}, nil
}

type coreEchoHandler struct{ tcp.HandlerBase }

func (coreEchoHandler) Read(ch *tcp.Channel, p []byte) { ch.WriteAndFlush(p) }

type coreEchoServer struct {
	boss, workers *core.Group
	at            int
}

func (s *coreEchoServer) port() int { return s.at }

func (s *coreEchoServer) stop() (time.Duration, error) {
	began := time.Now()
	for _, g := range []*core.Group{s.boss, s.workers} {
		if _, err := g.ShutdownGracefully(0, core.DefaultShutdownTimeout); err != nil {
			return 0, err
		}
	}
	for _, g := range []*core.Group{s.boss, s.workers} {
		if err := g.AwaitTermination(context.Background()); err != nil {
			return 0, err
		}
	}
	return time.Since(began), nil
}
