package servers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"

	"eventide/core/process"
	"eventide/props/draintest"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
)

// raw is the codec of messages that are bytes.
type raw struct{}

func (raw) Name() string { return "raw" }

func (raw) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(*v.(*[]byte))}, nil
}

func (raw) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}

// graceful is the end that gRPC means for a shutdown.
func graceful(s *grpc.Server) process.Step { return process.Graceful(s) }

// stopped is the end that cuts.
func stopped(s *grpc.Server) process.Step {
	return process.Step{Name: "stop", Run: func(context.Context) error { s.Stop(); return nil }}
}

// startGRPC starts a server that answers each message of a stream with the message.
func startGRPC(end func(*grpc.Server) process.Step) draintest.Start {
	return func() (draintest.Server, error) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return draintest.Server{}, err
		}
		kit := &draintest.Endpoint{}
		s := grpc.NewServer(grpc.ForceServerCodecV2(raw{}), grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
			return answer(kit, stream)
		}))
		readiness, shutdown, done, err := probed(func() { _ = s.Serve(l) }, end(s))
		return draintest.Server{
			Addr: l.Addr().String(), Readiness: readiness, Shutdown: shutdown, Done: done, Endpoint: kit, Abandon: s.Stop,
		}, err
	}
}

func answer(kit *draintest.Endpoint, stream grpc.ServerStream) error {
	for {
		var message []byte
		if err := stream.RecvMsg(&message); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		kit.Lines()(append(message, '\n'))
		if err := stream.SendMsg(&message); err != nil {
			return err
		}
	}
}

// calls makes one call after the other on a connection.
func calls() draintest.Client {
	return draintest.Client{Name: "gRPC call", Open: onConnection(func(c *draintest.Call, stream grpc.ClientStream) error {
		if err := echo(c, stream, 0); err != nil {
			return err
		}
		return finish(stream)
	})}
}

// longStreams holds streams open through the shutdown.
func longStreams() draintest.Client {
	return draintest.Client{Name: "gRPC stream", Long: true, Open: onConnection(func(c *draintest.Call, stream grpc.ClientStream) error {
		for n := 0; ; n++ {
			if err := echo(c, stream, n); err != nil {
				return err
			}
			if n == 0 {
				c.Begun("the first answer")
			}
			select {
			case <-c.Ended():
				return c.EndedError()
			case <-c.Held():
				return finish(stream)
			default:
				c.Pause()
			}
		}
	})}
}

// echo sends a message and waits for its answer.
func echo(c *draintest.Call, stream grpc.ClientStream, n int) error {
	message := fmt.Appendf(nil, "%s-%d", c.ID(), n)
	c.Unit(string(message))
	if err := stream.SendMsg(&message); err != nil {
		return errors.Join(err, stream.RecvMsg(&message)) // the second has the status
	}
	var got []byte
	if err := stream.RecvMsg(&got); err != nil {
		return err
	}
	if string(got) != string(message) {
		return fmt.Errorf("the answer is %q, want %q", got, message)
	}
	return nil
}

func finish(stream grpc.ClientStream) error {
	if err := stream.CloseSend(); err != nil {
		return err
	}
	var more []byte
	if err := stream.RecvMsg(&more); !errors.Is(err, io.EOF) {
		return fmt.Errorf("the end of the stream: %w", err)
	}
	return nil
}

// onConnection is the Open of a client whose calls share a connection, and make one if there
// is none.
func onConnection(talk func(*draintest.Call, grpc.ClientStream) error) func() (func(*draintest.Call) error, func()) {
	return func() (func(*draintest.Call) error, func()) {
		var conn *grpc.ClientConn
		var now atomic.Pointer[draintest.Call] // the one for which the library dials
		dial := func(ctx context.Context, _ string) (net.Conn, error) { return now.Load().Dial(ctx) }
		one := func(c *draintest.Call) error {
			now.Store(c)
			if conn == nil {
				made, err := grpc.NewClient("passthrough:///"+c.Addr(), grpc.WithContextDialer(dial), grpc.WithTransportCredentials(insecure.NewCredentials()))
				if err != nil {
					return err
				}
				conn = made
			}
			desc := &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			stream, err := conn.NewStream(ctx, desc, "/draintest/echo", grpc.ForceCodecV2(raw{}))
			if err != nil {
				return err
			}
			return talk(c, stream)
		}
		return one, func() {
			if conn != nil {
				_ = conn.Close()
			}
		}
	}
}
