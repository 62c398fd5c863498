// Package grpc has a test of a gRPC server and its clients on loopback, as programs have them.
package grpc

import (
	"context"
	"net"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

// Two calls share a connection, and the server stops when both have their answers.
func TestCheck(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer()
	healthpb.RegisterHealthServer(s, health.NewServer())
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := s.Serve(l); err != nil {
			t.Error(err)
		}
	})
	c, err := grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	var calls sync.WaitGroup
	for range 2 {
		calls.Go(func() {
			r, err := healthpb.NewHealthClient(c).Check(context.Background(), &healthpb.HealthCheckRequest{})
			if err != nil || r.Status != healthpb.HealthCheckResponse_SERVING {
				t.Error(r, err)
			}
		})
	}
	calls.Wait()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	s.GracefulStop()
	serving.Wait()
}
