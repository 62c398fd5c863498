// Package network has scripts whose answers are the same on the kernel's network and on
// the one in memory. Each test writes its answers to a file of its own in the folder
// that the environment variable ANSWERS names.
package network

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A script is a test with the answers so far.
type script struct {
	*testing.T
	answers bytes.Buffer
	dir     string
}

// begin returns a script, whose answers are written at the end of the test.
func begin(t *testing.T) *script {
	dir, err := os.MkdirTemp("", "n")
	if err != nil {
		t.Fatal(err)
	}
	s := &script{T: t, dir: dir}
	t.Cleanup(func() {
		os.RemoveAll(dir)
		if to := os.Getenv("ANSWERS"); to != "" {
			if err := os.WriteFile(filepath.Join(to, strings.ReplaceAll(t.Name(), "/", "-")), s.answers.Bytes(), 0o600); err != nil {
				t.Error(err)
			}
		}
	})
	return s
}

var (
	ports  = regexp.MustCompile(`:[0-9]{4,5}\b`)
	errnos = []syscall.Errno{syscall.ECONNRESET, syscall.EPIPE, syscall.ECONNREFUSED, syscall.EADDRINUSE, syscall.EINVAL,
		syscall.ENOENT, syscall.EAGAIN, syscall.ENOTCONN, syscall.EADDRNOTAVAIL, syscall.EMSGSIZE}
)

// say adds an answer. Ports and the folder of the script have names in it.
func (s *script) say(format string, args ...any) {
	for i, a := range args {
		if err, ok := a.(error); ok {
			args[i] = describe(err)
		}
	}
	line := fmt.Sprintf(format, args...)
	line = ports.ReplaceAllString(line, ":PORT")
	line = string(bytes.ReplaceAll([]byte(line), []byte(s.dir), []byte("DIR")))
	fmt.Fprintln(&s.answers, line)
}

// describe has all that programs can find out about an error.
func describe(err error) string {
	text := fmt.Sprintf("%q %T", err.Error(), err)
	for _, e := range errnos {
		if errors.Is(err, e) {
			text += fmt.Sprintf(" errno %d", int(e))
		}
	}
	var timeout net.Error
	switch {
	case errors.Is(err, net.ErrClosed):
		text += " closed"
	case errors.Is(err, os.ErrDeadlineExceeded):
		text += " deadline"
	}
	if errors.As(err, &timeout) && timeout.Timeout() {
		text += " timeout"
	}
	return text
}

func must[T any](v T, err error) func(*script) T {
	return func(s *script) T {
		s.Helper()
		if err != nil {
			s.Fatal(err)
		}
		return v
	}
}

// listen returns a listener for a network: unix has a name in the script's folder.
func (s *script) listen(network string) net.Listener {
	s.Helper()
	address := map[string]string{"tcp": "127.0.0.1:0", "tcp4": "127.0.0.1:0", "tcp6": "[::1]:0", "unix": filepath.Join(s.dir, "s")}[network]
	l := must(net.Listen(network, address))(s)
	s.Cleanup(func() { l.Close() })
	return l
}

// pair returns the two ends of a connection: the one that dialled, and the accepted one.
func (s *script) pair(network string) (client, server net.Conn) {
	s.Helper()
	l := s.listen(network)
	client = must(net.Dial(network, l.Addr().String()))(s)
	server = must(l.Accept())(s)
	l.Close()
	s.Cleanup(func() { client.Close(); server.Close() })
	return
}

// read says what one read of up to n bytes gives.
func (s *script) read(who string, c io.Reader, n int) {
	b := make([]byte, n)
	n, err := c.Read(b)
	s.say("%s reads %d %q, %v", who, n, b[:min(n, 40)], err)
}

func (s *script) write(who string, c io.Writer, text string) {
	n, err := c.Write([]byte(text))
	s.say("%s writes %d, %v", who, n, err)
}

// networks runs a script for each stream network.
func networks(t *testing.T, f func(s *script, network string)) {
	for _, network := range []string{"tcp", "unix"} {
		t.Run(network, func(t *testing.T) {
			s := begin(t)
			f(s, network)
		})
	}
}

// blocked waits until the other goroutines wait: for what they wait for, only the test
// can do.
func blocked() { time.Sleep(50 * time.Millisecond) }

// drain reads until an error, and returns the number of bytes and the error.
func drain(c io.Reader) (n int, err error) {
	b := make([]byte, 1<<15)
	for {
		m, err := c.Read(b)
		n += m
		if err != nil {
			return n, err
		}
	}
}

// kinds lists the types of addresses and connections.
func kinds(list ...any) (names []string) {
	for _, v := range list {
		names = append(names, fmt.Sprintf("%T", v))
	}
	return slices.Clip(names)
}
