package driver

import (
	"testing"

	"eventide/props/interleave/protocol"
)

// Goroutine 1 has the name of the test, even if it has ended and its first operation is
// one of package testing.
func TestColumnOfTheTest(t *testing.T) {
	f := &found{
		ops: []protocol.Op{
			{Goroutine: 1, Name: "now", Func: "testing.highPrecisionTimeNow"},
			{Goroutine: 2, Name: "lock", Func: "example.com/x.(*T).serve"},
		},
		born: map[uint64]string{1: "testing.tRunner", 2: "example.com/x.New.gowrap1"},
	}
	names := map[uint64]string{}
	for _, l := range newTimeline(f, "TestServe", &sourceLines{}).lanes {
		names[l.number] = l.name
	}
	if names[1] != "TestServe" || names[2] != "New.gowrap1" {
		t.Errorf("columns are %v, want TestServe and New.gowrap1", names)
	}
}
