//go:build releases

package works

import "testing"

// TestGRPC runs a server and clients of gRPC, which testdata/grpc has as a module of its own,
// because the go command downloads it.
func TestGRPC(t *testing.T) {
	bin := build(t, "grpc")
	for _, name := range tests(t, bin) {
		sameInEachProcess(t, bin, name)
	}
}
