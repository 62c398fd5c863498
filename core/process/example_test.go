package process_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"eventide/core"
	"eventide/core/process"
)

// A server has two groups: acceptors, which bring new work, and workers, which do
// it. In main, os.Exit takes what Run returns.
func ExampleRun() {
	acceptors, err := core.NewExecutorGroup(1, core.WithName("acceptor"))
	if err != nil {
		panic(err)
	}
	workers, err := core.NewExecutorGroup(2, core.WithName("worker"))
	if err != nil {
		panic(err)
	}
	served := make(chan int, 3)
	code := process.Run(context.Background(), process.Plan{
		Start: func(context.Context) error {
			// Instead of accepting connections until a signal comes.
			return acceptors.Execute(func() {
				for i := range cap(served) {
					_ = workers.Execute(func() { served <- i })
				}
			})
		},
		NotReady: func() { fmt.Println("readiness probe fails from now on") },
		PreDrain: time.Millisecond, // some seconds, behind a load balancer
		Steps: []process.Step{
			{Name: "acceptors", Executor: acceptors},
			{Name: "workers", Executor: workers, Timeout: 10 * time.Second},
			{Name: "database", Run: func(context.Context) error { fmt.Println("database closed"); return nil }},
		},
	})
	fmt.Println("served", len(served), "exit code", code)
	// Output:
	// readiness probe fails from now on
	// database closed
	// served 3 exit code 0
}

// An HTTP server and the consumer of a queue are one process. The consumer fails: the exit
// begins, and the server goes on until PreDrain has passed.
func ExamplePlan_starts() {
	listening := make(chan struct{})
	report := process.RunReport(context.Background(), process.Plan{
		PreDrain: time.Millisecond, // some seconds, behind a load balancer
		Starts: []process.Part{
			{Name: "http", Start: func(ctx context.Context) error {
				close(listening)
				if err := process.Ready(ctx); err != nil {
					return err
				}
				<-ctx.Done()
				fmt.Println("http:", context.Cause(ctx))
				return nil
			}},
			{Name: "queue", Start: func(ctx context.Context) error {
				<-listening
				return errors.New("broker is gone")
			}},
		},
		Logger: slog.New(slog.DiscardHandler), // the default logs each failure
	})
	for _, part := range report.Starts {
		fmt.Println(part.Name, part.Outcome)
	}
	fmt.Println("exit code", report.Code)
	// Output:
	// http: process: start "queue": broker is gone
	// http done
	// queue failed
	// exit code 1
}

// A consumer stops to take work when the exit begins, while servers go on for PreDrain.
func ExampleExiting() {
	ctx, stop := context.WithCancel(context.Background())
	code := process.Run(ctx, process.Plan{
		PreDrain: time.Millisecond,
		Start: func(ctx context.Context) error {
			exiting, err := process.Exiting(ctx)
			if err != nil {
				return err
			}
			stop() // begins the exit, as a signal would
			<-exiting.Done()
			fmt.Println("take no more messages")
			<-ctx.Done()
			fmt.Println("serve no more requests")
			return nil
		},
	})
	fmt.Println("exit code", code)
	// Output:
	// take no more messages
	// serve no more requests
	// exit code 0
}

func ExampleRunReport() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // begins the exit, as a signal would
	report := process.RunReport(ctx, process.Plan{
		Steps: []process.Step{
			{Name: "flush", Run: func(context.Context) error { return errors.New("disk is full") }},
			{Name: "close", Run: func(context.Context) error { return nil }},
		},
	})
	for _, step := range report.Steps {
		fmt.Println(step.Name, step.Outcome, step.Err)
	}
	fmt.Println("exit code", report.Code)
	// Output:
	// flush failed disk is full
	// close done <nil>
	// exit code 1
}

func ExamplePlan_Validate() {
	plan := process.Plan{Steps: []process.Step{{Name: "workers"}}}
	fmt.Println(plan.Validate())
	// Output: process: Plan: Steps[0]: Run and Executor are nil, want one of them
}
