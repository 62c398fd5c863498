//go:build unix

package process

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"eventide/core"
)

func init() {
	maps.Copy(children, map[string]func() int{
		"clean":         func() int { return runChild(Plan{Start: serve, Steps: []Step{say("first"), say("second")}}) },
		"usr2":          func() int { return runChild(Plan{Start: serve, Signals: append(DefaultSignals(), syscall.SIGUSR2)}) },
		"stuck":         func() int { return runChild(Plan{Start: serve, Steps: []Step{told(hang(0)), say("never")}}) },
		"step deadline": func() int { return runChild(Plan{Start: serve, Steps: []Step{hang(short), say("next")}}) },
		"hard deadline": func() int {
			return runChild(Plan{Start: serve, Deadline: short, Steps: []Step{hang(time.Minute), say("never")}})
		},
		"task that never returns": neverReturns,
		"start error": func() int {
			return runChild(Plan{Start: func(context.Context) error { return errors.New("port is taken") }})
		},
		"wrong plan": func() int { return Run(context.Background(), Plan{Deadline: -time.Second}) },
		"no logger": func() int {
			return Run(context.Background(), Plan{Start: serve, Steps: []Step{hang(short), say("next")}})
		},
		"signal during start":    func() int { return runChild(Plan{Start: signalled, Steps: []Step{say("first")}}) },
		"context":                contextEnds,
		"no signals":             func() int { return runChild(Plan{Signals: []os.Signal{}, Start: signalled}) },
		"signals are given back": givenBack,
		"broken pipe":            func() int { return runChild(Plan{Start: serve, Steps: []Step{writeTo(os.Stdout), writeTo(os.Stderr)}}) },
		"ignored pipe":           ignoredPipe,
		"pipe kills again":       pipeKillsAgain,
		"listeners":              givenListeners,
	})
}

// short is a deadline that is meant to pass.
const short = 200 * time.Millisecond

// runChild logs to standard error.
func runChild(plan Plan) int {
	plan.Logger = slog.New(slog.NewTextHandler(os.Stderr, nil))
	return Run(context.Background(), plan)
}

// serve is a Start that tells the parent when it may send its signal.
func serve(ctx context.Context) error {
	fmt.Println("serving")
	return untilTold(ctx)
}

func untilTold(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func say(what string) Step {
	return Step{Name: what, Run: func(context.Context) error { fmt.Println(what); return nil }}
}

// hang never returns.
func hang(deadline time.Duration) Step {
	return Step{Name: "stuck", Deadline: deadline, Run: func(context.Context) error { select {} }}
}

// told says the step's name when it begins.
func told(s Step) Step {
	run := s.Run
	s.Run = func(ctx context.Context) error { fmt.Println(s.Name); return run(ctx) }
	return s
}

// signalled gets a signal in Start's first line.
func signalled(ctx context.Context) error {
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		return err
	}
	return untilTold(ctx)
}

func neverReturns() int {
	ex, err := core.NewExecutor(core.WithName("engine"))
	if err != nil {
		return 100
	}
	began := make(chan struct{})
	if err := ex.Execute(func() { close(began); neverReturning() }); err != nil {
		return 101
	}
	<-began
	return runChild(Plan{Start: serve, Steps: []Step{{Name: "engine", Executor: ex, Timeout: short, Drain: short}, say("next")}})
}

//go:noinline
func neverReturning() { select {} }

func contextEnds() int {
	ctx, cancel := context.WithCancel(context.Background())
	return Run(ctx, Plan{
		Start:  func(ctx context.Context) error { cancel(); return untilTold(ctx) },
		Steps:  []Step{say("first")},
		Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
}

// givenBack dies of a signal after Run.
func givenBack() int {
	if code := runChild(Plan{Start: func(context.Context) error { return nil }}); code != CodeClean {
		return code
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		return 100
	}
	select {}
}

// writeTo writes to a pipe that nobody reads.
func writeTo(f *os.File) Step {
	return Step{Name: "write to " + f.Name(), Run: func(context.Context) error {
		if _, err := fmt.Fprintln(f, "hello?"); !errors.Is(err, syscall.EPIPE) {
			return fmt.Errorf("the write returned %v, want EPIPE", err)
		}
		return nil
	}}
}

// pipeKillsAgain dies of a write to a broken pipe after Run.
func pipeKillsAgain() int {
	if code := runChild(Plan{Start: serve}); code != CodeClean {
		return code
	}
	fmt.Println("hello?")
	return 100
}

// ignoredPipe finds SIGPIPE ignored after Run, as it was before.
func ignoredPipe() int {
	signal.Ignore(syscall.SIGPIPE)
	if code := runChild(Plan{Start: func(context.Context) error { return nil }}); code != CodeClean {
		return code
	}
	if !signal.Ignored(syscall.SIGPIPE) {
		return 100
	}
	return CodeClean
}

// givenListeners says the names and addresses of the listeners that the parent has passed.
func givenListeners() int {
	os.Setenv("LISTEN_PID", strconv.Itoa(os.Getpid())) // as a service manager does before it executes the program
	all, err := Listeners()
	if err != nil {
		fmt.Println(err)
	}
	for _, l := range all {
		fmt.Println(l.Name, l.Addr())
	}
	for _, name := range []string{"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"} {
		if value, there := os.LookupEnv(name); there {
			fmt.Println(name, "is left:", value)
		}
	}
	return CodeClean
}
