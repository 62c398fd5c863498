package main

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"eventide/core"
	"eventide/core/tcp"
)

// account is the handler of a channel, and counts its bytes: those of each write have to be sent,
// discarded at the end of the channel, or refused, each byte once.
type account struct {
	tcp.HandlerBase
	shutting func() bool           // whether the shutdown of the group has been called
	active   func(ch *tcp.Channel) // nil: nothing
	read     func(ch *tcp.Channel, p []byte)

	mu              sync.Mutex
	remote          string // "": the channel never became active
	writes, results int
	sent            int64 // bytes that the futures say were sent
	unsent          int64 // bytes of accepted writes that they say were not
	ended           bool  // Unregistered was called
	late            bool  // after the shutdown call
	cause           error
	wrong           string // the first contradiction
}

// Active implements tcp.Handler.
func (a *account) Active(ch *tcp.Channel) {
	a.mu.Lock()
	a.remote = ch.RemoteAddr().String()
	a.mu.Unlock()
	if a.active != nil {
		a.active(ch)
	}
}

// Read implements tcp.Handler.
func (a *account) Read(ch *tcp.Channel, p []byte) { a.read(ch, p) }

// ReadComplete implements tcp.Handler.
func (a *account) ReadComplete(ch *tcp.Channel) { ch.Flush() }

// WritabilityChanged implements tcp.Handler.
func (a *account) WritabilityChanged(ch *tcp.Channel) { ch.SetAutoRead(ch.IsWritable()) }

// Unregistered implements tcp.Handler.
func (a *account) Unregistered(ch *tcp.Channel) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		a.contradicts("G22: Unregistered was called twice")
	}
	a.ended, a.late, a.cause = true, a.shutting(), ch.CloseCause()
}

// write writes p. It is called on the loop, so a write that has failed when Write returns was
// refused.
func (a *account) write(ch *tcp.Channel, p []byte) {
	size := len(p)
	f := ch.Write(p)
	refused := f.Err() != nil
	a.mu.Lock()
	a.writes++
	a.mu.Unlock()
	f.OnDone(func(n int, err error) { a.result(size, n, err, refused) })
}

// result counts the result of a write of size bytes.
func (a *account) result(size, n int, err error, refused bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.results++
	switch {
	case n < 0 || n > size || (err == nil) != (n == size):
		a.contradicts(fmt.Sprintf("G22: a write of %d bytes ended with %d and %v", size, n, err))
	case refused && n > 0:
		a.contradicts(fmt.Sprintf("G22: a refused write sent %d bytes", n))
	}
	a.sent += int64(n)
	if !refused {
		a.unsent += int64(size - n)
	}
}

// contradicts keeps the first contradiction. Requires mu.
func (a *account) contradicts(text string) {
	if a.wrong == "" {
		a.wrong = text
	}
}

// wrongEnd describes the error of the channel after Done of its group, or returns "".
func (a *account) wrongEnd() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.wrong != "":
		return a.wrong
	case a.remote != "" && !a.ended:
		return "G22: Done is closed, and Unregistered was not called"
	case a.results != a.writes:
		return fmt.Sprintf("G22: Done is closed, and %d of %d writes have a result", a.results, a.writes)
	}
	return ""
}

// accounts are those of one group.
type accounts struct {
	mu  sync.Mutex
	all []*account
}

func (s *accounts) add(a *account) *account {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, a)
	return a
}

// of returns the account of the channel to a peer; nil: there is none.
func (s *accounts) of(remote string) *account {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.all {
		a.mu.Lock()
		is := a.remote == remote
		a.mu.Unlock()
		if is {
			return a
		}
	}
	return nil
}

// timedOut reports whether the timeout of the shutdown ended a channel.
func (s *accounts) timedOut() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.all, func(a *account) bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		return errors.Is(a.cause, core.ErrShutdownTimeout)
	})
}

// judge compares the accounts with the report of the terminated group, and returns the bytes
// that were sent, and a violation or "". Bytes that were not sent are discarded, if the shutdown
// ended the channel. If it ended while the shutdown was called, or by a failure of its loop,
// either is right.
func (s *accounts) judge(report core.Report, failed bool) (sent int64, broken string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	least, most := int64(0), int64(0)
	for _, a := range s.all {
		if text := a.wrongEnd(); text != "" {
			return sent, text
		}
		sent += a.sent
		if errors.Is(a.cause, core.ErrShutdown) || errors.Is(a.cause, core.ErrShutdownTimeout) {
			least += a.unsent
		}
		if a.late || failed {
			most += a.unsent
		}
	}
	if report.BytesDiscarded < least || report.BytesDiscarded > most {
		return sent, fmt.Sprintf("G23: the report has %d discarded bytes, and those of the channels are from %d to %d", report.BytesDiscarded, least, most)
	}
	return sent, ""
}
