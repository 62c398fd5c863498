package blocking

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// unreceived returns the number of bytes that the connection has taken and the peer has not
// received: the peer's kernel has not acknowledged them (TCP, where the end of the stream
// counts as one), or the peer has not read them (unix sockets). known is false if the kernel
// cannot tell.
//
// An error says that the connection is broken. After a Read has returned the end of the
// stream, reads do not return such an error any more. Bytes may then stay unreceived for
// ever, or their number may be zero because they were thrown away: so the error is
// fetched after the number.
func (t connection) unreceived() (n int, known bool, err error) {
	defer panicToError(&err)
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
		return 0, true, fmt.Errorf("blocking: the connection broke before its peer had received everything: %w", err)
	}
	return n, true, nil
}
