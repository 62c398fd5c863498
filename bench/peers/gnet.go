package peers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/panjf2000/gnet/v2"
)

func gnetImpl() impl {
	return impl{
		version: moduleVersion("github.com/panjf2000/gnet/v2"),
		open:    openGnet,
		echo:    echoGnet,
		lacks: map[string]string{
			"timers": "EventLoop.Schedule returns ErrUnsupportedOp", "quiet": "gnet has no quiet period",
		},
		slowStop: true, kept: new(executor),
	}
}

// gnetHandler serves both uses: it hands out its first loop, and echoes.
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
	select {
	case h.loops <- c.EventLoop():
	default:
	}
	return nil, gnet.None
}

func (h *gnetHandler) OnTraffic(c gnet.Conn) gnet.Action {
	data, err := c.Next(-1)
	if err == nil {
		_, err = c.Write(data)
	}
	if err != nil {
		return gnet.Close
	}
	return gnet.None
}

// startGnet starts an engine on a free port of the loopback.
func startGnet(loops int) (*gnetHandler, gnet.Engine, int, chan error, error) {
	port, err := freePort()
	if err != nil {
		return nil, gnet.Engine{}, 0, nil, err
	}
	h := &gnetHandler{booted: make(chan gnet.Engine, 1), loops: make(chan gnet.EventLoop, 1)}
	ended := make(chan error, 1)
	go func() {
		ended <- gnet.Run(h, fmt.Sprintf("tcp://127.0.0.1:%d", port),
			gnet.WithNumEventLoop(loops), gnet.WithReuseAddr(true), gnet.WithTCPNoDelay(gnet.TCPNoDelay),
			gnet.WithLogger(silent{}))
	}()
	select {
	case engine := <-h.booted:
		return h, engine, port, ended, nil
	case err := <-ended:
		return nil, gnet.Engine{}, 0, nil, errors.Join(errors.New("gnet ended before it began"), err)
	}
}

// freePort returns one that was free a moment ago.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// gnetLoop runs tasks on a loop of gnet. A loop is handed out with a connection
// only, so there is one.
type gnetLoop struct {
	loop   gnet.EventLoop
	engine gnet.Engine
	conn   net.Conn
	ended  chan error
}

func openGnet() (executor, error) {
	h, engine, port, ended, err := startGnet(1)
	if err != nil {
		return nil, err
	}
	conn, err := dial(port)
	if err != nil {
		return nil, errors.Join(err, engine.Stop(context.Background()))
	}
	return &gnetLoop{loop: <-h.loops, engine: engine, conn: conn, ended: ended}, nil
}

// dial tries for a while: an engine that has booted may not listen yet.
func dial(port int) (net.Conn, error) {
	var err error
	for range 200 {
		var conn net.Conn
		if conn, err = net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			return conn, nil
		}
		time.Sleep(5 * time.Millisecond)
	}
	return nil, err
}

// gnetTask is a func as a gnet.Runnable.
type gnetTask func()

func (t gnetTask) Run(context.Context) error {
	t()
	return nil
}

func (g *gnetLoop) Execute(task func()) error {
	return g.loop.Execute(context.Background(), gnetTask(task))
}

func (g *gnetLoop) Close() error {
	err := g.engine.Stop(context.Background())
	return errors.Join(err, <-g.ended, g.conn.Close())
}

type gnetEcho struct {
	engine gnet.Engine
	at     int
	ended  chan error
}

func echoGnet() (echoServer, error) {
	_, engine, port, ended, err := startGnet(echoLoops)
	if err != nil {
		return nil, err
	}
	conn, err := dial(port) // it listens from here on
	if err != nil {
		return nil, errors.Join(err, engine.Stop(context.Background()))
	}
	return &gnetEcho{engine, port, ended}, conn.Close()
}

func (g *gnetEcho) port() int { return g.at }

func (g *gnetEcho) stop() (time.Duration, error) {
	began := time.Now()
	err := g.engine.Stop(context.Background())
	return time.Since(began), errors.Join(err, <-g.ended)
}

// silent is a logger that says nothing: gnet's own writes to standard output.
type silent struct{}

func (silent) Debugf(string, ...any) {}
func (silent) Infof(string, ...any)  {}
func (silent) Warnf(string, ...any)  {}
func (silent) Errorf(string, ...any) {}
func (silent) Fatalf(string, ...any) {}
