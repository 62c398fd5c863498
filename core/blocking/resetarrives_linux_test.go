package blocking_test

import (
	"net"
	"testing"

	"eventide/core/internal/coretest"

	"golang.org/x/sys/unix"
)

// awaitReset waits until the kernel has handled the reset of the peer of conn. On a busy machine this can be after the Close of the
// peer has returned.
func awaitReset(t *testing.T, conn net.Conn) {
	t.Helper()
	raw, err := conn.(*net.TCPConn).SyscallConn()
	coretest.Must(t, err)
	coretest.Until(t, "the reset", func() bool {
		var info *unix.TCPInfo
		controlErr := raw.Control(func(fd uintptr) { info, err = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO) })
		coretest.Must(t, controlErr)
		coretest.Must(t, err)
		return info.State == unix.BPF_TCP_CLOSE
	})
}
