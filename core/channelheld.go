package core

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// mostHeldNamed bounds the channels that Report.Held names.
const mostHeldNamed = 10

// heldChannels counts the channels that a shutdown closed while an answer was in flight, and
// names some of them (see Report.Held). Guarded by Executor.mu.
type heldChannels struct {
	count int64
	named []heldChannel // those held longest, in that order; at most mostHeldNamed
}

type heldChannel struct {
	name  string
	since time.Time
}

// add counts a channel, and keeps its name if it is one of those held longest.
func (h *heldChannels) add(name string, since time.Time) {
	h.count++
	at := len(h.named)
	for at > 0 && since.Before(h.named[at-1].since) {
		at--
	}
	if at == mostHeldNamed {
		return
	}
	if len(h.named) == mostHeldNamed {
		h.named = h.named[:mostHeldNamed-1]
	}
	h.named = slices.Insert(h.named, at, heldChannel{name, since})
}

// String returns a line for each named channel, and one for the rest.
func (h *heldChannels) String() string {
	var lines []string
	for _, c := range h.named {
		lines = append(lines, fmt.Sprintf("%s, held since %s", c.name, c.since.Format("2006-01-02T15:04:05.000Z07:00")))
	}
	if more := h.count - int64(len(h.named)); more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}
