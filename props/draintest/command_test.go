package draintest_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"eventide/core/process"
	"eventide/props/draintest"

	"go.uber.org/goleak"
)

// programs are servers that this binary is when PROGRAM names one of them.
var programs = map[string]func(l net.Listener) int{
	"right":     rightProgram,
	"unhandled": func(l net.Listener) int { return serveProgram(l, func(*http.Server, *atomic.Bool) {}) },
	"swallowed": func(l net.Listener) int {
		return serveProgram(l, func(*http.Server, *atomic.Bool) { signal.Ignore(syscall.SIGTERM) })
	},
	"hijacked": hijackedProgram,
}

func TestMain(m *testing.M) {
	if os.Getenv("PROGRAM") == "not there" {
		fmt.Println("no configuration")
		os.Exit(1)
	}
	if program := programs[os.Getenv("PROGRAM")]; program != nil {
		l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", os.Getenv("ADDR"))
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(program(l))
	}
	goleak.VerifyTestMain(m)
}

func command(program string) draintest.Command {
	return draintest.Command{
		Args: []string{os.Args[0]}, Env: append(os.Environ(), "PROGRAM="+program, "ADDR={addr}"),
	}
}

// rightProgram ends by process.Run.
func rightProgram(l net.Listener) int {
	health, kit, mux := &process.Health{}, &draintest.Endpoint{}, http.NewServeMux()
	mux.Handle("/readyz", health.Readiness())
	mux.Handle("/draintest/", kit)
	srv := &http.Server{Handler: mux}
	srv.RegisterOnShutdown(kit.Leave)
	return process.Run(context.Background(), process.Plan{
		Health: health, PreDrain: 300 * time.Millisecond,
		Start: func(ctx context.Context) error {
			if err := process.Ready(ctx); err != nil {
				return err
			}
			return process.Served(srv.Serve(l))
		},
		Steps: []process.Step{process.HTTP(srv, process.HTTPOptions{})},
	})
}

// serveProgram serves until the process is killed, or until srv is shut down.
func serveProgram(l net.Listener, prepare func(srv *http.Server, ready *atomic.Bool)) int {
	var ready atomic.Bool
	ready.Store(true)
	mux := http.NewServeMux()
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !ready.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	mux.Handle("/draintest/", &draintest.Endpoint{})
	srv := &http.Server{Handler: mux}
	prepare(srv, &ready)
	_ = srv.Serve(l) // http.ErrServerClosed
	return 0
}

// hijackedProgram waits for Shutdown, which does not wait for hijacked connections.
func hijackedProgram(l net.Listener) int {
	signals, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(signals, syscall.SIGTERM)
	serveProgram(l, func(srv *http.Server, ready *atomic.Bool) {
		go func() {
			<-signals
			ready.Store(false)
			time.Sleep(300 * time.Millisecond)
			_ = srv.Shutdown(context.Background())
			close(done)
		}()
	})
	<-done
	return 0
}

var fast = draintest.Kit{Lag: 50 * time.Millisecond, Rounds: 2}

// TestCommands: the verdicts on programs, of which the kit knows what its clients see.
func TestCommands(t *testing.T) {
	impatient := fast
	impatient.Deadline = time.Second
	// A killed program breaks the promise of its last probe only if a client comes before that promise ends,
	// which a machine with other load may prevent for some time.
	trusting := fast
	trusting.Lag = time.Second
	for name, c := range map[string]struct {
		kit  draintest.Kit
		want []string
		may  string // the verdict that fails or passes as the kernel schedules the program
	}{
		"right": {kit: fast},
		// A killed program resets the connections that it has accepted. Whether one of them was without an
		// answer at that moment is chance.
		"unhandled": {trusting, []string{draintest.NoneLost, draintest.NoneCut, draintest.ReadyFirst}, draintest.CleanRefusal},
		"swallowed": {kit: impatient, want: []string{draintest.Ended}},
		"hijacked":  {kit: fast, want: []string{draintest.NoneCut}},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := c.kit.Check(command(name).Start)
			if err != nil {
				t.Fatal(err)
			}
			failed := slices.DeleteFunc(r.Failed(), func(verdict string) bool { return verdict == c.may })
			if !slices.Equal(failed, c.want) {
				t.Errorf("%v failed, want %v", failed, c.want)
			}
			if row := r.Row(draintest.NothingLeft); row.Status != draintest.NotRun || row.Text == "" {
				t.Errorf("got %+v, want that it is not run, and why", row)
			}
			t.Log("\n" + r.String() + r.Row(draintest.NoneCut).Report)
		})
	}
}

// TestCommandThatDoesNotStart: the error has what the program printed.
func TestCommandThatDoesNotStart(t *testing.T) {
	_, err := fast.Check(command("not there").Start)
	if err == nil || !strings.Contains(err.Error(), "ended before it listened") || !strings.Contains(err.Error(), "no configuration") {
		t.Errorf("got %v, want the output of a program that ended", err)
	}
	if _, err := (draintest.Command{}).Start(); err == nil || !strings.Contains(err.Error(), "want a program") {
		t.Errorf("got %v, want that Args is empty", err)
	}
	if _, err := (draintest.Command{Args: []string{"./no such program"}}).Start(); err == nil {
		t.Error("got no error for a program that does not exist")
	}
}
