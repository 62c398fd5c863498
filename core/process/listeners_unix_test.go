//go:build unix

package process

import (
	"net"
	"os"
	"os/exec"
	"testing"

	"eventide/core/internal/coretest"
)

// TestListenersOfAProcess: a process finds the listeners that the service manager has passed to it, from descriptor 3 on, and
// the variables are gone from its environment.
func TestListenersOfAProcess(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"=listeners", "GORACE=atexit_sleep_ms=0", "LISTEN_FDS=2", "LISTEN_FDNAMES=http:admin")
	want := ""
	for _, name := range []string{"http", "admin"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		coretest.Must(t, err)
		defer l.Close()
		file, err := l.(*net.TCPListener).File()
		coretest.Must(t, err)
		defer file.Close()
		cmd.ExtraFiles = append(cmd.ExtraFiles, file) // from 3 on
		want += name + " " + l.Addr().String() + "\n"
	}
	out, err := cmd.Output()
	coretest.Must(t, err)
	coretest.Want(t, "what the child says", string(out), want)
}
