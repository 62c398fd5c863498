package servers

import (
	"context"
	"fmt"
	"net"

	"eventide/core/process"
	"eventide/props/draintest"

	"github.com/panjf2000/gnet/v2"
)

// lineServer answers lines on the loops of gnet.
type lineServer struct {
	gnet.BuiltinEventEngine
	kit    *draintest.Endpoint
	booted chan gnet.Engine
}

func (s *lineServer) OnBoot(e gnet.Engine) gnet.Action {
	s.booted <- e
	return gnet.None
}

func (s *lineServer) OnOpen(c gnet.Conn) ([]byte, gnet.Action) {
	c.SetContext(s.kit.Lines())
	return nil, gnet.None
}

func (s *lineServer) OnTraffic(c gnet.Conn) gnet.Action {
	input, err := c.Next(-1)
	if err != nil {
		return gnet.Close
	}
	if _, err := c.Write(c.Context().(func([]byte) []byte)(input)); err != nil {
		return gnet.Close
	}
	return gnet.None
}

// startGnet starts a server of lines that ends by Engine.Stop.
func startGnet() (draintest.Server, error) {
	addr, err := freeAddr()
	if err != nil {
		return draintest.Server{}, err
	}
	s := &lineServer{kit: &draintest.Endpoint{}, booted: make(chan gnet.Engine, 1)}
	served := make(chan error, 1)
	go func() {
		served <- gnet.Run(s, "tcp://"+addr, gnet.WithNumEventLoop(2), gnet.WithReuseAddr(true), gnet.WithLogger(silent{}))
	}()
	var engine gnet.Engine
	select {
	case engine = <-s.booted:
	case err := <-served:
		return draintest.Server{}, fmt.Errorf("servers: gnet does not start: %w", err)
	}
	readiness, shutdown, done, err := probed(func() {}, process.Step{Name: "gnet", Run: func(ctx context.Context) error {
		if err := engine.Stop(ctx); err != nil {
			return err
		}
		return <-served
	}})
	return draintest.Server{Addr: addr, Readiness: readiness, Shutdown: shutdown, Done: done, Endpoint: s.kit}, err
}

func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// silent is a logger that prints nothing.
type silent struct{}

func (silent) Debugf(string, ...any) {}
func (silent) Infof(string, ...any)  {}
func (silent) Warnf(string, ...any)  {}
func (silent) Errorf(string, ...any) {}
func (silent) Fatalf(string, ...any) {}
