package coretest

import (
	"context"
	"strings"
)

// Waiting is a function that waits for a context and then for Release. A text of running work shows
// by its stack which of the two it waits for.
type Waiting struct{ release chan struct{} }

// NewWaiting returns a Waiting.
func NewWaiting() Waiting { return Waiting{make(chan struct{})} }

// Release lets Run return.
func (w Waiting) Release() { close(w.release) }

// Run waits for ctx and then for Release. It makes the end of ctx take long after its Done is closed, by many
// children: so Run goes on before the call that ends ctx returns.
func (w Waiting) Run(ctx context.Context) {
	for range 1_000 {
		_, cancel := context.WithCancel(ctx)
		defer cancel()
	}
	<-ctx.Done()
	w.isPastItsContext()
}

func (w Waiting) isPastItsContext() { <-w.release }

// IsPast reports whether text has the stack of a Waiting whose context has ended.
func (Waiting) IsPast(text string) bool { return strings.Contains(text, "isPastItsContext") }

// Waits reports whether text has the stack of a Waiting.
func (Waiting) Waits(text string) bool { return strings.Contains(text, "coretest.Waiting.Run") }
