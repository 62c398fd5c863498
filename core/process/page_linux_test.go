package process_test

import (
	"bytes"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// root is where the module begins.
const root = "../.."

// serverOfThePage builds the server of docs/tcp.md: its call of process.Run, in a main that
// makes the groups.
func serverOfThePage(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(root, "docs", "tcp.md"))
	if err != nil {
		t.Fatal(err)
	}
	source := strings.Replace(serverTemplate, "RUN", block(t, string(page), "os.Exit(process.Run("), 1)
	dir := t.TempDir()
	file, binary := filepath.Join(dir, "main.go"), filepath.Join(dir, "server")
	if err := os.WriteFile(file, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-o", binary, file)
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s\n%s", err, out, source)
	}
	return binary
}

const serverTemplate = `package main

import (
	"context"
	"os"
	"time"

	"eventide/core"
	"eventide/core/process"
	"eventide/core/tcp"
)

func newHandler() tcp.Handler { return tcp.HandlerBase{} }

func main() {
	ctx, addr := context.Background(), os.Args[1]
	boss, err := core.NewGroup(1)
	if err != nil {
		panic(err)
	}
	workers, err := core.NewGroup(2)
	if err != nil {
		panic(err)
	}
RUN
}
`

// block returns the fenced block of Go that contains a text.
func block(t *testing.T, text, with string) string {
	t.Helper()
	for _, after := range strings.Split(text, "\n```go\n")[1:] {
		if inside, _, _ := strings.Cut(after, "```\n"); strings.Contains(inside, with) {
			return inside
		}
	}
	t.Fatalf("no block of Go in the README contains %q", with)
	return ""
}

// A server whose port is taken ends, says why, and its exit code is not 0.
func TestServerOfThePageWhosePortIsTaken(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	server := exec.CommandContext(t.Context(), serverOfThePage(t), taken.Addr().String())
	var log bytes.Buffer
	server.Stderr = &log
	err = server.Run()
	var exited *exec.ExitError
	if !errors.As(err, &exited) || exited.ExitCode() != 1 {
		t.Errorf("the server of the README on a port that is taken: %v, want exit code 1; its log is\n%s", err, log.String())
	}
	if !strings.Contains(log.String(), "ERROR") || !strings.Contains(log.String(), syscall.EADDRINUSE.Error()) {
		t.Errorf("the log says no error %q:\n%s", syscall.EADDRINUSE, log.String())
	}
}
