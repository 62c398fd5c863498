// Command grpc is a gRPC server that loses no call at SIGTERM or SIGINT: it answers every call
// that a handler has begun. It is a module of its own, so that eventide does not depend on gRPC.
//
//	cd core/examples/grpc && go run . -addr 127.0.0.1:7007
//
// The service has no .proto file, so that the example is one file: a generated
// RegisterDigestServer takes the place of service. Sum answers with the SHA-256 of its request.
// Count sends numbers until the exit begins.
package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync/atomic"
	"time"

	"eventide/core/process"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// handshakeTime bounds the handshake of a connection. GracefulStop waits for connections in the
// handshake, and Stop does not end it either: with gRPC's default, a client that connects and
// sends nothing would hold up the exit for two minutes.
const handshakeTime = 2 * time.Second

func main() { os.Exit(run()) }

func run() int {
	addr := flag.String("addr", "127.0.0.1:0", "where to listen")
	preDrain := flag.Duration("predrain", 100*time.Millisecond, "how long the balancer takes to learn of the exit")
	grace := flag.Duration("grace", 10*time.Second, "how long calls in flight have to end")
	flag.Parse()

	probes := health.NewServer() // for the gRPC probes of Kubernetes and of load balancers
	probes.SetServingStatus("", grpc_health_v1.HealthCheckResponse_NOT_SERVING)
	server := grpc.NewServer(grpc.ConnectionTimeout(handshakeTime))
	grpc_health_v1.RegisterHealthServer(server, probes)
	d := &digest{}
	server.RegisterService(&service, d)
	end := process.Graceful(server)
	end.Name, end.Deadline = "grpc", *grace
	return process.Run(context.Background(), process.Plan{
		Start: func(ctx context.Context) error {
			exiting, err := process.Exiting(ctx)
			if err != nil {
				return err
			}
			d.exiting = exiting.Done()
			l, err := net.Listen("tcp", *addr)
			if err != nil {
				return err
			}
			if err := process.Ready(ctx); err != nil {
				return err
			}
			probes.SetServingStatus("", grpc_health_v1.HealthCheckResponse_SERVING)
			fmt.Println("listening on", l.Addr())
			return served(server.Serve(l))
		},
		NotReady: probes.Shutdown,
		PreDrain: *preDrain,
		Steps: []process.Step{
			end,
			// A step, because after Run SIGPIPE is fatal again if the reader of the output is gone.
			{Name: "figures", Run: func(context.Context) error {
				fmt.Printf("calls %d counted %d\n", d.calls.Load(), d.counted.Load())
				return nil
			}},
		},
		Deadline: *preDrain + *grace + 5*time.Second,
		Logger:   slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
}

// served returns err, or nil if the exit began before Serve was called.
func served(err error) error {
	if errors.Is(err, grpc.ErrServerStopped) {
		return nil
	}
	return err
}

// digest implements the service.
type digest struct {
	exiting        <-chan struct{} // closed when the exit begins
	calls, counted atomic.Int64
}

// Sum takes a moment, so that calls are in flight when the exit begins.
func (d *digest) Sum(_ context.Context, request *wrapperspb.BytesValue) (*wrapperspb.BytesValue, error) {
	d.calls.Add(1)
	time.Sleep(time.Millisecond)
	sum := sha256.Sum256(request.Value)
	return wrapperspb.Bytes(sum[:]), nil
}

// Count sends numbers until the exit begins or the client leaves. GracefulStop waits for
// streams, so a stream without an end of its own must end when the exit begins.
func (d *digest) Count(stream grpc.ServerStreamingServer[wrapperspb.Int64Value]) error {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for n := int64(1); ; n++ {
		if err := stream.Send(wrapperspb.Int64(n)); err != nil {
			return err
		}
		d.counted.Add(1)
		select {
		case <-tick.C:
		case <-d.exiting:
			return nil
		case <-stream.Context().Done():
			return context.Cause(stream.Context())
		}
	}
}

const (
	sumMethod   = "/eventide.Digest/Sum"
	countMethod = "/eventide.Digest/Count"
)

// service is what protoc would generate.
var service = grpc.ServiceDesc{
	ServiceName: "eventide.Digest",
	HandlerType: (*any)(nil),
	Methods: []grpc.MethodDesc{{MethodName: "Sum", Handler: func(srv any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		request := new(wrapperspb.BytesValue)
		if err := decode(request); err != nil {
			return nil, err
		}
		return srv.(*digest).Sum(ctx, request)
	}}},
	Streams: []grpc.StreamDesc{{StreamName: "Count", ServerStreams: true, Handler: func(srv any, stream grpc.ServerStream) error {
		if err := stream.RecvMsg(new(emptypb.Empty)); err != nil {
			return err
		}
		return srv.(*digest).Count(&grpc.GenericServerStream[emptypb.Empty, wrapperspb.Int64Value]{ServerStream: stream})
	}}},
}
