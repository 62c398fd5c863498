package blocking

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// unreceived returns how many bytes the peer has not received of those that the
// connection has taken: its kernel has not acknowledged them (TCP, the end of the
// stream included), or it has not read them (unix sockets). known is false if the
// connection cannot be asked.
//
// An error is why the connection is broken. Reads do not return it any more once
// they have returned the end of the stream, and then bytes may stay unreceived for
// ever; or be none, because they were thrown away: so the error is asked for last.
func (t connection) unreceived() (n int, known bool, err error) {
	defer contain(&err)
	conn, ok := t.bottom.(syscall.Conn)
	if !ok {
		return 0, false, nil
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, false, nil
	}
	var broken int
	var refused error
	err = raw.Control(func(fd uintptr) {
		if n, refused = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ); refused == nil {
			broken, refused = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_ERROR)
		}
	})
	switch {
	case err != nil:
		return 0, true, err
	case refused != nil:
		return 0, false, nil
	case broken != 0:
		err = os.NewSyscallError("getsockopt", syscall.Errno(broken))
		return n, true, fmt.Errorf("blocking: the connection broke before its peer had received everything: %w", err)
	}
	return n, true, nil
}
