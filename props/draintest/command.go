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

// Command starts a server that is a separate program. Pass its method Start to Run:
//
//	draintest.Run(t, draintest.Command{Args: []string{"./server", "-listen", "{addr}"}}.Start)
//
// The program must listen at the address that replaces {addr}, serve the paths of an
// Endpoint, and end on the signal. Done is closed when the process has ended. A request
// counts as accepted only if the client knows it; NothingLeft is not run.
type Command struct {
	// Args are the program and its arguments. Each {addr} in them is replaced by a free
	// address of this host.
	Args []string

	// Env is the environment; {addr} is replaced there too. nil: the environment of this
	// process.
	Env []string

	// Signal begins the shutdown. nil: SIGTERM.
	Signal os.Signal

	// Readiness is Server.Readiness. {addr} is replaced.
	Readiness string

	_ struct{}
}

// startTries is the number of addresses to try: another process may take a free address
// before the program listens.
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
		_ = cmd.Wait() // no verdict depends on the exit code
		close(done)
	}()
	kill := func() {
		_ = cmd.Process.Kill() // it fails only if the process has ended
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

// listens waits until the program accepts a connection. It fails if the program ends, or
// after one minute.
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
