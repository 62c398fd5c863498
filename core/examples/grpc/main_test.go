//go:build unix

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"eventide/core/internal/coretest/underload"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

func TestMain(m *testing.M) { underload.Main(m, main) }

// TestEveryAcceptedCallIsAnswered sends SIGTERM to the server while clients call it as fast as
// they can. The number of calls that its handlers began is the number of answers that the
// clients got, each stream ends without an error after its last number, and the exit code is 0.
// One connection sends nothing: it must not hold up the exit.
func TestEveryAcceptedCallIsAnswered(t *testing.T) {
	const connections, callers, before = 4, 4, 50
	server := underload.Start(t, "-grace", "50s")
	silent, err := net.Dial("tcp", server.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()

	var answers, numbers atomic.Int64
	var flowing, over sync.WaitGroup
	for range connections {
		conn, err := grpc.NewClient("passthrough:///"+server.Addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		flowing.Add(callers + 1)
		for range callers {
			over.Go(func() {
				if err := call(conn, &answers, before, sync.OnceFunc(flowing.Done)); err != nil {
					t.Error(err)
				}
			})
		}
		over.Go(func() {
			if err := count(conn, &numbers, before, sync.OnceFunc(flowing.Done)); err != nil {
				t.Error(err)
			}
		})
	}
	flowing.Wait()
	if err := healthy(server.Addr); err != nil {
		t.Error(err)
	}
	server.Terminate()
	over.Wait()
	server.WantEnd(fmt.Sprintf("calls %d counted %d\n", answers.Load(), numbers.Load()))
	t.Logf("%d calls answered, %d numbers", answers.Load(), numbers.Load())
}

// call calls Sum until the server refuses. It calls flowing after some answers.
func call(conn *grpc.ClientConn, answers *atomic.Int64, before int, flowing func()) error {
	defer flowing()
	for n := 0; ; n++ {
		if n == before {
			flowing()
		}
		request := fmt.Append(nil, n)
		var answer wrapperspb.BytesValue
		err := conn.Invoke(context.Background(), sumMethod, wrapperspb.Bytes(request), &answer)
		switch want := sha256.Sum256(request); {
		case status.Code(err) == codes.Unavailable && n >= before: // refused: nothing has begun
			return nil
		case err != nil:
			return fmt.Errorf("call %d: %w", n, err)
		case !bytes.Equal(answer.Value, want[:]):
			return fmt.Errorf("call %d: the answer is %x, want %x", n, answer.Value, want)
		}
		answers.Add(1)
	}
}

// count receives numbers until the server ends the stream. It calls flowing after some.
func count(conn *grpc.ClientConn, numbers *atomic.Int64, before int, flowing func()) error {
	defer flowing()
	stream, err := conn.NewStream(context.Background(), &grpc.StreamDesc{ServerStreams: true}, countMethod)
	if err != nil {
		return err
	}
	if err := errors.Join(stream.SendMsg(new(emptypb.Empty)), stream.CloseSend()); err != nil {
		return err
	}
	for want := int64(1); ; want++ {
		var got wrapperspb.Int64Value
		if err := stream.RecvMsg(&got); err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("after %d numbers: %w", want-1, err)
		}
		if got.Value != want {
			return fmt.Errorf("the stream has %d, want %d", got.Value, want)
		}
		numbers.Add(1)
		if want == int64(before) {
			flowing()
		}
	}
}

// healthy asks the probe of a server that has begun to serve.
func healthy(addr string) error {
	conn, err := grpc.NewClient("passthrough:///"+addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer conn.Close()
	answer, err := grpc_health_v1.NewHealthClient(conn).Check(context.Background(), &grpc_health_v1.HealthCheckRequest{})
	if err == nil && answer.Status != grpc_health_v1.HealthCheckResponse_SERVING {
		err = fmt.Errorf("the probe says %v, want SERVING", answer.Status)
	}
	return err
}
