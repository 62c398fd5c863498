//go:build !linux

package tcp

import (
	"errors"
	"net/netip"
	"syscall"
)

// Event loops exist on Linux only. On other systems Listen and Dial return
// errors.ErrUnsupported before they call any of these functions.

const supported = false

type vector struct{}

func (*vector) gather(*outbound, int64) int { return 0 }

const notSupported = syscall.ENOSYS

func sysRead(*faults, int, []byte) (int, syscall.Errno)             { return 0, notSupported }
func sysSend(*faults, int, []byte) (int, syscall.Errno)             { return 0, notSupported }
func sysSendChunks(*faults, int, *vector, int) (int, syscall.Errno) { return 0, notSupported }
func sysShutdownWrite(*faults, int) error                           { return errors.ErrUnsupported }
func sysClose(*faults, int) error                                   { return errors.ErrUnsupported }
func sysUnacknowledged(int) (int, error)                            { return 0, errors.ErrUnsupported }
func sysConnectionIsOver(int) bool                                  { return true }
func isConnectionError(syscall.Errno) bool                          { return false }
func isListenerError(syscall.Errno) bool                            { return true }
func sysResetOnClose(int)                                           {}
func sysSocketError(*faults, int, operation) syscall.Errno          { return notSupported }
func sysTune(*config, int)                                          {}
func sysLocalAddr(int) netip.AddrPort                               { return netip.AddrPort{} }
func sysListen(*config, netip.AddrPort) (int, error)                { return -1, errors.ErrUnsupported }
func sysConnect(*config, netip.AddrPort) (int, error)               { return -1, errors.ErrUnsupported }

func sysAccept(*faults, int) (int, netip.AddrPort, syscall.Errno) {
	return -1, netip.AddrPort{}, notSupported
}
