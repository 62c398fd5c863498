package draintest

import (
	"cmp"
	"errors"
	"fmt"
	"testing"
	"time"
)

// Server is a running server, as a Start function returns it.
type Server struct {
	// Addr is the TCP address at which the server listens: "host:port".
	Addr string

	// Readiness is the URL of the readiness probe, or its path on Addr. "": "/readyz".
	// NoReadiness: the server has no probe, and ReadyFirst is not run.
	Readiness string

	// Shutdown begins the shutdown. The kit calls it once, on a goroutine of its own; it may
	// return at once or wait for the end of the server.
	Shutdown func()

	// Done is closed when the server has ended, at the point at which its process would
	// exit.
	Done <-chan struct{}

	// Endpoint is the part of the kit inside a server of this process. It records which
	// handlers began. nil: the kit knows only the answers.
	Endpoint *Endpoint

	// Abandon ends the remains of a server that failed. The kit calls it after each
	// round. nil: no function.
	Abandon func()

	elsewhere bool // in another process
}

// NoReadiness is the Readiness of a server that has no readiness probe.
const NoReadiness = "none"

// Start starts a fresh server, and returns when the server listens.
type Start func() (Server, error)

// Kit holds the options. Run uses the zero Kit.
type Kit struct {
	// Clients are the kinds of clients. nil: HTTP().
	Clients []Client

	// Workers is the number of concurrent clients of each kind. 0: 2.
	Workers int

	// Rounds is the number of servers that are started and shut down. 0: 3. NothingLeft
	// needs at least two, because the first use of many packages starts a goroutine that
	// never ends.
	Rounds int

	// Lag is the delay of the load balancer: it sends requests until Lag after the first
	// failed readiness probe. A server that keeps its listeners open for more than Lag
	// after its readiness has failed (process.Plan.PreDrain) passes ReadyFirst. On a
	// loaded machine a longer Lag makes the verdict more often conclusive. 0: DefaultLag.
	Lag time.Duration

	// Deadline is the time within which the server must have ended, counted from the call
	// of Shutdown. A response that is cut later is no failure. 0: DefaultDeadline.
	Deadline time.Duration

	// Patience bounds how long the kit waits, before the shutdown, until the server is
	// ready and has answered each kind of client. 0: one minute.
	Patience time.Duration

	_ struct{}
}

// The defaults of a Kit.
const (
	DefaultLag      = 100 * time.Millisecond
	DefaultDeadline = 30 * time.Second // Kubernetes kills a process after this time
)

// Run checks the server with the zero Kit. See Kit.Run.
func Run(t *testing.T, start Start) Result {
	t.Helper()
	return Kit{}.Run(t, start)
}

// Run calls Check and reports each verdict as a subtest. A subtest is skipped if its
// verdict is NotRun or Inconclusive. Run logs the table, and fails the test at once if
// Check returns an error.
//
// The kit counts the goroutines and descriptors of the process: no other test may run at
// the same time.
func (k Kit) Run(t *testing.T, start Start) Result {
	t.Helper()
	result, err := k.Check(start)
	if err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + result.String())
	for _, row := range result.Rows {
		t.Run(row.Verdict, func(t *testing.T) {
			t.Helper()
			switch row.Status {
			case Fail:
				t.Error(row.Report)
			case Pass:
			default:
				t.Skipf("%s: %s: %s", row.Status, row.Sentence, row.Text)
			}
		})
	}
	return result
}

// Check starts the server once for each round, sends it requests, shuts it down meanwhile,
// and judges the answers that the clients got. While a verdict is inconclusive and none has
// failed, Check runs more rounds, up to four times as many. It returns an error if there is
// nothing to judge: an option is wrong, the server did not start, or the server did not answer a
// kind of client before the shutdown.
func (k Kit) Check(start Start) (Result, error) {
	k.Clients, k.Workers, k.Rounds = orDefault(k.Clients), cmp.Or(k.Workers, 2), cmp.Or(k.Rounds, 3)
	k.Lag, k.Deadline, k.Patience = cmp.Or(k.Lag, DefaultLag), cmp.Or(k.Deadline, DefaultDeadline), cmp.Or(k.Patience, time.Minute)
	if err := k.validate(start); err != nil {
		return Result{}, err
	}
	var j judge
	for n := 0; n < k.Rounds || n < 4*k.Rounds && j.open(); n++ {
		r, err := k.round(n, start)
		if err != nil {
			return Result{}, fmt.Errorf("draintest: round %d: %w", n+1, err)
		}
		j.add(r)
	}
	return j.result(), nil
}

func orDefault(clients []Client) []Client {
	if clients == nil {
		return HTTP()
	}
	return clients
}

func (k Kit) validate(start Start) error {
	var errs []error
	want := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf("draintest: "+format, args...))
		}
	}
	want(start != nil, "start is nil, want a function")
	want(len(k.Clients) > 0, "Clients is empty, want at least one")
	for i, c := range k.Clients {
		want(c.Name != "" && c.Open != nil, "Clients[%d] is %q with Open nil %v, want a name and a function", i, c.Name, c.Open == nil)
	}
	want(k.Workers > 0, "Workers is %d, want more than 0", k.Workers)
	want(k.Rounds > 0, "Rounds is %d, want more than 0", k.Rounds)
	want(k.Lag > 0, "Lag is %v, want more than 0", k.Lag)
	want(k.Deadline > 0, "Deadline is %v, want more than 0", k.Deadline)
	want(k.Patience > 0, "Patience is %v, want more than 0", k.Patience)
	return errors.Join(errs...)
}
