package draintest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Command is a server that is a program. Its method Start is the Start of Run:
//
//	draintest.Run(t, draintest.Command{Args: []string{"./server", "-listen", "{addr}"}}.Start)
//
// The program listens at the address that takes the place of {addr}, serves the paths of an
// Endpoint, and ends by the signal. Done is the end of the process. What counts as accepted
// is what the clients saw; NothingLeft is not run.
type Command struct {
	// Args are the program and its arguments. Each {addr} in them is replaced by a free
	// address of this host.
	Args []string

	// Env is the environment, with {addr} replaced too. nil: that of this process.
	Env []string

	// Signal begins the shutdown. nil: SIGTERM.
	Signal os.Signal

	// Readiness is Server.Readiness. {addr} is replaced.
	Readiness string

	_ struct{}
}

// startTries is how many addresses are tried: another process can take a free one.
const startTries = 5

// Start starts the program and returns when it accepts connections.
func (c Command) Start() (Server, error) {
	if len(c.Args) == 0 {
		return Server{}, errors.New("draintest: Command.Args is empty, want a program")
	}
	var failed error
	for range startTries {
		s, err := c.start()
		if err == nil {
			return s, nil
		}
		failed = err
	}
	return Server{}, fmt.Errorf("draintest: %s did not start: %w", c.Args[0], failed)
}

func (c Command) start() (Server, error) {
	addr, err := freeAddr()
	if err != nil {
		return Server{}, err
	}
	fill := func(texts []string) (filled []string) {
		for _, text := range texts {
			filled = append(filled, strings.ReplaceAll(text, "{addr}", addr))
		}
		return filled
	}
	args := fill(c.Args)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = fill(c.Env)
	var said output
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		return Server{}, err
	}
	done := make(chan struct{})
	go func() {
		_ = cmd.Wait() // its exit code is no part of a verdict
		close(done)
	}()
	kill := func() {
		_ = cmd.Process.Kill() // an error says that it has ended
		<-done
	}
	if err := listens(addr, done); err != nil {
		kill()
		return Server{}, fmt.Errorf("%w\n%s", err, said.String())
	}
	return Server{
		Addr: addr, Readiness: strings.ReplaceAll(c.Readiness, "{addr}", addr), Done: done, Abandon: kill, elsewhere: true,
		Shutdown: func() { _ = cmd.Process.Signal(cmp.Or[os.Signal](c.Signal, syscall.SIGTERM)) }, // the same
	}, nil
}

func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// listens waits for a connection, for as long as the program runs and a minute at most.
func listens(addr string, done <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
		if err == nil {
			return conn.Close()
		}
		timer := time.NewTimer(tick)
		select {
		case <-done:
			return errors.New("the program ended before it listened")
		case <-ctx.Done():
			return fmt.Errorf("the program does not listen at %s: %w", addr, err)
		case <-timer.C:
		}
	}
}

// output keeps the beginning of what a program prints.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	const most = 8 << 10
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text.Write(p[:min(len(p), max(0, most-o.text.Len()))])
	return len(p), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}
