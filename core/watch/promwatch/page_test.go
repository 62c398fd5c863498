package promwatch_test

import (
	"testing"

	"eventide/core/watch"
	"eventide/core/watch/promwatch"

	"github.com/prometheus/client_golang/prometheus"
)

// TestPage has the fragment of docs/watching.md.
func TestPage(t *testing.T) {
	w := &watch.Watcher{}
	err := prometheus.Register(promwatch.NewCollector(w)) // eventide_lag_seconds{executor="orders"}, ...
	if err != nil {
		t.Error(err)
	}
}
