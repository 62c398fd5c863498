// Package signal has what core/process uses of os/signal. Signals come from Deliver and not from the
// system.
package signal

import (
	"os"
	"slices"
	"sync"
	"syscall"
)

var (
	mu   sync.Mutex
	subs = map[chan<- os.Signal][]os.Signal{}
)

// Notify is signal.Notify.
func Notify(c chan<- os.Signal, sig ...os.Signal) {
	mu.Lock()
	defer mu.Unlock()
	subs[c] = append(subs[c], sig...)
}

// Stop is signal.Stop.
func Stop(c chan<- os.Signal) {
	mu.Lock()
	defer mu.Unlock()
	delete(subs, c)
}

// IgnoresPipe says that the program was started with SIGPIPE ignored.
var IgnoresPipe bool

// Ignored is signal.Ignored.
func Ignored(sig os.Signal) bool { return sig == syscall.SIGPIPE && IgnoresPipe }

// Wanted reports whether a channel is subscribed to sig.
func Wanted(sig os.Signal) bool {
	mu.Lock()
	defer mu.Unlock()
	for _, wanted := range subs {
		if slices.Contains(wanted, sig) {
			return true
		}
	}
	return false
}

// Deliver sends sig to all that are subscribed to it, as the system does: what has no room is lost.
func Deliver(sig os.Signal) {
	mu.Lock()
	defer mu.Unlock()
	for c, wanted := range subs {
		if !slices.Contains(wanted, sig) {
			continue
		}
		select {
		case c <- sig:
		default:
		}
	}
}

// Subscriptions returns how many channels are subscribed.
func Subscriptions() int {
	mu.Lock()
	defer mu.Unlock()
	return len(subs)
}
