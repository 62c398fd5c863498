package core_test

import (
	"fmt"
	"strings"
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// An event loop holds an epoll set and a timer; one with WithBlockingEpoll also an eventfd, to
// which wake-ups write; one with WithClock no timer. After the end it holds none.
func TestDescriptorsOfALoop(t *testing.T) {
	if len(coretest.Descriptors(t)) == 0 {
		t.Log("there is no /proc")
		return
	}
	for _, tt := range []struct {
		name string
		opts []core.Option
		want string // epoll sets, timers, eventfds
	}{
		{"default", nil, "1 1 0"},
		{"blocking", []core.Option{core.WithBlockingEpoll()}, "1 1 1"},
		{"clock", []core.Option{core.WithClock(systemClock{})}, "1 0 0"},
		{"blocking, clock", []core.Option{core.WithBlockingEpoll(), core.WithClock(systemClock{})}, "1 0 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := kindsOfDescriptors(t)
			l, err := core.NewEventLoop(tt.opts...)
			coretest.Must(t, err)
			held := func() string {
				now := kindsOfDescriptors(t)
				return fmt.Sprint(now[0]-before[0], now[1]-before[1], now[2]-before[2])
			}
			coretest.Want(t, "held before the start", held(), tt.want)
			coretest.OnLoop(t, l, func() {})
			coretest.Want(t, "held by a loop that runs", held(), tt.want)
			l.Shutdown()
			coretest.AwaitDone(t, l)
			coretest.Want(t, "held after the end", held(), "0 0 0")
		})
	}
}

// kindsOfDescriptors returns how many epoll sets, timers and eventfds are open.
func kindsOfDescriptors(t *testing.T) (n [3]int) {
	for _, d := range coretest.Descriptors(t) {
		for i, kind := range []string{"[eventpoll]", "[timerfd]", "[eventfd]"} {
			if strings.HasSuffix(d, kind) {
				n[i]++
			}
		}
	}
	return n
}
