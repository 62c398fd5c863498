package blocking

import (
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"
)

// G23: a half-close that fails with ENOTCONN, EPIPE or ECONNRESET says that the peer has reset the connection, however deep
// the error is wrapped. No other error says so.
func TestG23ErrorsOfAReset(t *testing.T) {
	resets := map[syscall.Errno]bool{syscall.ENOTCONN: true, syscall.EPIPE: true, syscall.ECONNRESET: true}
	for n := range 134 {
		errno := syscall.Errno(n)
		call := os.NewSyscallError("shutdown", errno)
		if n == 0 {
			call = fmt.Errorf("shutdown: %w", errno) // NewSyscallError returns nil for it
		}
		for _, err := range []error{errno, call, &net.OpError{Op: "close", Net: "tcp", Err: call}} {
			if got, want := peerHasReset(err), resets[errno]; got != want {
				t.Errorf("G23: peerHasReset of %v is %v, want %v", err, got, want)
			}
		}
	}
}
