// Package pubsub hands messages to subscribers. It is wrong: a subscription that ends
// closes a channel to which Publish may be about to send.
package pubsub

import (
	"context"
	"sync"
)

type Topic struct {
	mu   sync.Mutex
	subs map[chan string]struct{}
}

func (t *Topic) Subscribe(ctx context.Context) <-chan string {
	c := make(chan string, 1)
	t.mu.Lock()
	if t.subs == nil {
		t.subs = map[chan string]struct{}{}
	}
	t.subs[c] = struct{}{}
	t.mu.Unlock()
	go func() {
		<-ctx.Done()
		t.mu.Lock()
		delete(t.subs, c)
		t.mu.Unlock()
		close(c)
	}()
	return c
}

func (t *Topic) Publish(ctx context.Context, msg string) {
	t.mu.Lock()
	subs := make([]chan string, 0, len(t.subs))
	for c := range t.subs {
		subs = append(subs, c)
	}
	t.mu.Unlock()
	for _, c := range subs {
		select {
		case c <- msg:
		case <-ctx.Done():
			return
		}
	}
}
