package process

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"time"
)

// GracefulServer is a server with two ways to stop, such as a grpc.Server: GracefulStop
// returns when all requests have ended; Stop cuts requests in flight and makes
// GracefulStop return.
type GracefulServer interface {
	GracefulStop()
	Stop()
}

// Graceful returns the step that ends s without losing a request. The step calls
// GracefulStop. If the time of the step is over first, it calls Stop and fails with
// ErrStopped. Without a Deadline the step has the time until the Plan's Deadline, less the
// time reserved for later steps. Its Name is "graceful stop"; a Plan with several such steps
// sets their names.
//
// GracefulStop by itself waits for ever for a stream that never ends (grpc-go #2448): end
// such streams when the exit begins (Exiting). A grpc.Server also waits for connections in the
// handshake, in Stop too: make it with grpc.ConnectionTimeout of a few seconds, or one silent
// client uses up the time of the step. core/examples/grpc is a server that does both.
func Graceful(s GracefulServer) Step {
	step := Step{Name: "graceful stop", patient: true}
	if v := reflect.ValueOf(s); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		step.mistake = "Graceful: the server is nil, want one"
		return step
	}
	step.Run = func(ctx context.Context) error {
		call := begin(ctx, time.Now(), func(context.Context) error { s.GracefulStop(); return nil })
		select {
		case <-call.over:
			return call.err
		case <-ctx.Done():
			s.Stop()
			<-call.over
			return cmp.Or[error](call.err, &stoppedError{context.Cause(ctx)})
		}
	}
	return step
}

// stoppedError is ErrStopped with its reason.
type stoppedError struct{ reason error }

func (s *stoppedError) Error() string   { return ErrStopped.Error() + ": " + s.reason.Error() }
func (s *stoppedError) Unwrap() []error { return []error{ErrStopped, s.reason} }

// sortCut sorts requests by their begin, then by kind and name.
func sortCut(all []CutRequest) {
	slices.SortFunc(all, func(a, b CutRequest) int {
		return cmp.Or(a.Began.Compare(b.Began), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.What, b.What))
	})
}
