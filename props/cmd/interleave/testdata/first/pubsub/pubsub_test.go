package pubsub

import (
	"context"
	"testing"
	"time"
)

func TestPublish(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	var topic Topic
	subCtx, stop := context.WithCancel(ctx)
	c := topic.Subscribe(subCtx)
	go topic.Publish(ctx, "one")
	if msg := <-c; msg != "one" {
		t.Fatalf("got %q", msg)
	}
	go topic.Publish(ctx, "two")
	stop()
	for range c {
	}
}
