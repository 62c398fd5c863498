package otelwatch_test

import (
	"testing"

	"eventide/core/watch"
	"eventide/core/watch/otelwatch"

	"go.opentelemetry.io/otel"
)

// TestPage has the fragment of docs/watching.md.
func TestPage(t *testing.T) {
	w := &watch.Watcher{}
	stop, err := otelwatch.Register(otel.Meter("eventide"), w) // eventide.lag, eventide.tasks.accepted, ...
	if err != nil {
		t.Fatal(err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}
