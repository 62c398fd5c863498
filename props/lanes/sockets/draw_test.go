//go:build linux

package sockets

import (
	"testing"
	"time"

	"eventide/internal/timeline"

	"github.com/stretchr/testify/require"
)

// TestDraw: events and calls are in the order of their stamps, and the violation is the breach.
func TestDraw(t *testing.T) {
	r := &run{start: time.Now()}
	r.conns = []*conn{
		{r: r, nth: 0, events: []event{{"Active", 1, 0}, {"Inactive", 4, time.Millisecond}}},
		{r: r, nth: 1, events: []event{{"Active", 2, 0}}},
	}
	r.shutdown.Store(3)
	var texts []string
	for _, row := range r.draw().Rows {
		texts = append(texts, row.Text)
	}
	require.Equal(t, []string{"Active", "Active", "the shutdown is called", "Inactive"}, texts)

	r.violate("connection 1: G22: no Inactive\nevents Active")
	l := r.draw()
	require.NoError(t, l.Check())
	require.Equal(t, "connection 1: G22: no Inactive", l.Title)
	require.Equal(t, []string{"connection 0", "connection 1"}, l.Actors)
	last := l.Rows[len(l.Rows)-1]
	require.Equal(t, timeline.Breach, last.Kind)
	require.Contains(t, last.Text, l.Title)
}
