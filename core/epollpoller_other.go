//go:build !linux

package core

import (
	"errors"
	"fmt"
	"runtime"
)

// newEpollPoller returns an error: only Linux has epoll.
func newEpollPoller(config) (IOPoller, error) {
	return nil, fmt.Errorf("event loops need epoll, which %s does not have (want linux, or WithPoller): %w", runtime.GOOS, errors.ErrUnsupported)
}
