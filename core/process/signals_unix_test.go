//go:build unix

package process

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"eventide/core/internal/coretest"
)

// process is a child: this test binary, executed again as one of children.
type process struct {
	t              *testing.T
	cmd            *exec.Cmd
	stdout, stderr io.ReadCloser
	out            *bufio.Scanner
}

func startChild(t *testing.T, name string) *process {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), coretest.HangGuard)
	t.Cleanup(cancel)
	p := &process{t: t, cmd: exec.CommandContext(ctx, os.Args[0])}
	// The race detector would hold each child for a second at its end.
	p.cmd.Env = append(os.Environ(), childVariable+"="+name, "GORACE=atexit_sleep_ms=0")
	var errs [3]error
	p.stdout, errs[0] = p.cmd.StdoutPipe()
	p.stderr, errs[1] = p.cmd.StderrPipe()
	p.out = bufio.NewScanner(p.stdout)
	errs[2] = p.cmd.Start()
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	return p
}

// awaitLine waits until the child says line.
func (p *process) awaitLine(line string) {
	p.t.Helper()
	for p.out.Scan() {
		if p.out.Text() == line {
			return
		}
	}
	log, _ := io.ReadAll(p.stderr)
	p.t.Fatalf("the child ended and never said %q; its log is\n%s", line, log)
}

func (p *process) send(sig os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil {
		p.t.Fatal(err)
	}
}

// end waits for the child and returns the rest of its output and its log.
func (p *process) end() (out []string, log string, status syscall.WaitStatus) {
	p.t.Helper()
	for p.out.Scan() {
		out = append(out, p.out.Text())
	}
	text, _ := io.ReadAll(p.stderr) // an error: the test has closed it
	var exited *exec.ExitError
	if err := p.cmd.Wait(); err != nil && !errors.As(err, &exited) {
		p.t.Fatal(err)
	}
	return out, string(text), p.cmd.ProcessState.Sys().(syscall.WaitStatus)
}

// exchange is what the parent does: when the child says a line, it sends a signal.
type exchange struct {
	line string
	sig  syscall.Signal
}

func TestExitOfAProcess(t *testing.T) {
	tests := []struct {
		name, child string
		script      []exchange
		code        int
		out         string     // said after the last signal
		log         [][]string // parts of lines
	}{
		{"SIGTERM", "clean", []exchange{{"serving", syscall.SIGTERM}}, 0, "first second",
			[][]string{{"exit begins", "signal: terminated"}, {"step done", "step=first"}, {"level=INFO", "msg=exit", "code=0", "lost=0"}}},
		{"SIGINT", "clean", []exchange{{"serving", syscall.SIGINT}}, 0, "first second", [][]string{{"exit begins", "signal: interrupt"}}},
		{"SIGUSR2 by option", "usr2", []exchange{{"serving", syscall.SIGUSR2}}, 0, "", [][]string{{"exit begins", "user defined signal 2"}}},
		{"second signal SIGTERM", "stuck", []exchange{{"serving", syscall.SIGINT}, {"stuck", syscall.SIGTERM}}, 143, "",
			// Start was told to return a moment before, and may be in the list too.
			[][]string{{"level=ERROR", "msg=exit", "code=143", "second signal: terminated", "still_running=", "stuck", "not_begun=[never]"}}},
		{"second signal SIGINT", "stuck", []exchange{{"serving", syscall.SIGTERM}, {"stuck", syscall.SIGINT}}, 130, "", [][]string{{"msg=exit", "code=130"}}},
		{"a step's deadline", "step deadline", []exchange{{"serving", syscall.SIGTERM}}, 1, "next",
			[][]string{{"step's deadline passed", "step=stuck"}, {"step done", "step=next"}, {"msg=exit", "still_running=[stuck]"}}},
		{"the hard deadline", "hard deadline", []exchange{{"serving", syscall.SIGTERM}}, 1, "",
			[][]string{{"still running", "step=stuck"}, {"msg=exit", "code=1", ErrDeadline.Error(), "not_begun=[never]"}}},
		{"a task that never returns", "task that never returns", []exchange{{"serving", syscall.SIGTERM}}, 1, "next",
			[][]string{{"step's deadline passed", "step=engine", "neverReturning", "lost=1"}, {"msg=exit", "lost=1", "still_running=[engine]"}}},
		{"Start fails", "start error", nil, 1, "", [][]string{{"step failed", "step=Start", "port is taken"}}},
		{"a wrong plan without Logger", "wrong plan", nil, CodeBadPlan, "", [][]string{{"ERROR", "not started", "Deadline is -1s, want 0 or more", "code=2"}}},
		{"a step's deadline without Logger", "no logger", []exchange{{"serving", syscall.SIGTERM}}, 1, "next",
			[][]string{{"ERROR", "step's deadline passed", "step=stuck"}, {"ERROR", "exit", "still_running=[stuck]"}}},
		{"signal during Start", "signal during start", nil, 0, "first", [][]string{{"exit begins", "signal: terminated"}}},
		{"the context ends", "context", nil, 0, "first", [][]string{{"exit begins", "context canceled"}}},
		{"SIGPIPE ignored before stays ignored", "ignored pipe", nil, 0, "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := startChild(t, tt.child)
			for _, step := range tt.script {
				p.awaitLine(step.line)
				p.send(step.sig)
			}
			out, log, status := p.end()
			if !status.Exited() || status.ExitStatus() != tt.code {
				t.Errorf("the child ended with %v (code %d), want code %d; its log is\n%s", p.cmd.ProcessState, status.ExitStatus(), tt.code, log)
			}
			if got := strings.Join(out, " "); got != tt.out {
				t.Errorf("the child said %q, want %q", got, tt.out)
			}
			for _, parts := range tt.log {
				wantLine(t, log, parts...)
			}
		})
	}
}

// Run takes only the signals of its plan, and gives them back.
func TestSignalsThatKill(t *testing.T) {
	for _, child := range []string{"no signals", "signals are given back"} {
		t.Run(child, func(t *testing.T) {
			t.Parallel()
			_, log, status := startChild(t, child).end()
			if !status.Signaled() || status.Signal() != syscall.SIGTERM {
				t.Errorf("the child ended with status %#x, want killed by SIGTERM; its log is\n%s", status, log)
			}
		})
	}
}

// Nobody reads the child's output and log when the exit begins.
func TestBrokenPipesDoNotCutTheExitShort(t *testing.T) {
	t.Parallel()
	p := startChild(t, "broken pipe")
	p.awaitLine("serving")
	if err := errors.Join(p.stdout.Close(), p.stderr.Close()); err != nil {
		t.Fatal(err)
	}
	p.send(syscall.SIGTERM)
	if _, _, status := p.end(); !status.Exited() || status.ExitStatus() != 0 {
		t.Errorf("the child ended with %v, want code 0: its writes return EPIPE", p.cmd.ProcessState)
	}
}

// Run restores the old behaviour: after it, a write to a broken standard output kills the process.
func TestBrokenPipesKillAfterRun(t *testing.T) {
	t.Parallel()
	p := startChild(t, "pipe kills again")
	p.awaitLine("serving")
	if err := p.stdout.Close(); err != nil {
		t.Fatal(err)
	}
	p.send(syscall.SIGTERM)
	if _, log, status := p.end(); !status.Signaled() || status.Signal() != syscall.SIGPIPE {
		t.Errorf("the child ended with %v, want killed by SIGPIPE; its log is\n%s", p.cmd.ProcessState, log)
	}
}

func TestSIGSTOPCannotBeCaught(t *testing.T) {
	err := Plan{Signals: []os.Signal{syscall.SIGTERM, syscall.SIGSTOP}}.Validate()
	if err == nil || !strings.Contains(err.Error(), "Signals[1] is stopped") || !strings.Contains(err.Error(), "caught") {
		t.Errorf("got %v, want a refusal of SIGSTOP, which cannot be caught", err)
	}
}

// TestSubscriptionKeepsTwoSignals: of two signals that come before Run receives the first, none is lost.
func TestSubscriptionKeepsTwoSignals(t *testing.T) {
	signals, stop := subscribe([]os.Signal{syscall.SIGUSR1, syscall.SIGUSR2})
	defer stop()
	for i, sig := range []syscall.Signal{syscall.SIGUSR1, syscall.SIGUSR2} {
		coretest.Must(t, syscall.Kill(os.Getpid(), sig))
		coretest.Until(t, "the signal", func() bool { return len(signals) == i+1 })
	}
	coretest.Want[os.Signal](t, "the first signal", <-signals, syscall.SIGUSR1)
	coretest.Want[os.Signal](t, "the second signal", <-signals, syscall.SIGUSR2)
}
