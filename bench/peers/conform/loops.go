package conform

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"eventide/props/exectest"

	"github.com/lesismal/nbio"
	nbiolog "github.com/lesismal/nbio/logging"
	"github.com/panjf2000/gnet/v2"
)

// gnetSubject is a loop of gnet, which is handed out with a connection only.
type gnetSubject struct {
	once
	handler *gnetHandler
	loop    gnet.EventLoop
	conn    net.Conn
	ended   chan error
}

type gnetHandler struct {
	gnet.BuiltinEventEngine
	booted chan gnet.Engine
	loops  chan gnet.EventLoop
}

func (h *gnetHandler) OnBoot(e gnet.Engine) gnet.Action {
	h.booted <- e
	return gnet.None
}

func (h *gnetHandler) OnOpen(c gnet.Conn) ([]byte, gnet.Action) {
	h.loops <- c.EventLoop()
	return nil, gnet.None
}

type gnetTask func()

func (t gnetTask) Run(context.Context) error {
	t()
	return nil
}

func newGnet() exectest.Subject {
	port := must(freePort())
	s := &gnetSubject{
		once:    once{done: make(chan struct{})},
		handler: &gnetHandler{booted: make(chan gnet.Engine, 1), loops: make(chan gnet.EventLoop, 1)},
		ended:   make(chan error, 1),
	}
	go func() {
		s.ended <- gnet.Run(s.handler, fmt.Sprintf("tcp://127.0.0.1:%d", port),
			gnet.WithNumEventLoop(1), gnet.WithReuseAddr(true), gnet.WithLogger(silent{}))
	}()
	for range 400 {
		var err error
		if s.conn, err = net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			s.loop = <-s.handler.loops
			return s
		}
		time.Sleep(5 * time.Millisecond)
	}
	panic(errors.New("conform: gnet does not listen"))
}

func (s *gnetSubject) Execute(task func()) error {
	return s.loop.Execute(context.Background(), gnetTask(task))
}

func (s *gnetSubject) Shutdown(_, _ time.Duration) error {
	s.end(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		engine := <-s.handler.booted
		engine.Stop(ctx)
		<-s.ended
		s.conn.Close()
	})
	return nil
}

func gnetSpec() Spec {
	return Spec{
		Name: "gnet", Open: inProcess(newGnet), Options: realTime, RealTime: true,
		Promises: append(line("G3", "G20"),
			Promise{"G2", "EventLoop.Execute: will execute the given runnable on the event-loop, which is one goroutine"}),
	}
}

// silent is a logger that says nothing.
type silent struct{}

func (silent) Debugf(string, ...any) {}
func (silent) Infof(string, ...any)  {}
func (silent) Warnf(string, ...any)  {}
func (silent) Errorf(string, ...any) {}
func (silent) Fatalf(string, ...any) {}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// nbioSubject is the queue of jobs of a connection of nbio.
type nbioSubject struct {
	once
	engine *nbio.Engine
	conn   *nbio.Conn
	peer   net.Conn
}

func newNbio() exectest.Subject {
	nbiolog.SetLevel(nbiolog.LevelNone)
	s := &nbioSubject{once: once{done: make(chan struct{})}, engine: nbio.NewEngine(nbio.Config{NPoller: 1})}
	if err := s.engine.Start(); err != nil {
		panic(err)
	}
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	defer l.Close()
	s.peer = must(net.Dial("tcp", l.Addr().String()))
	s.conn = must(s.engine.AddConn(must(l.Accept())))
	return s
}

func (s *nbioSubject) Execute(task func()) error {
	if !s.conn.Execute(task) {
		return errClosed
	}
	return nil
}

func (s *nbioSubject) Shutdown(_, _ time.Duration) error {
	s.end(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		s.engine.Shutdown(ctx)
		s.peer.Close()
	})
	return nil
}

func nbioSpec() Spec {
	return Spec{
		Name: "nbio", Open: inProcess(newNbio), Options: realTime, RealTime: true,
		Promises: append(line("G3", "G20"),
			Promise{"G2", "Conn.Execute: at most one flow or goroutine running job/jobs for each Conn"},
			Promise{"G4", "Conn.Execute: guarantees all the jobs are executed in order"}),
	}
}
