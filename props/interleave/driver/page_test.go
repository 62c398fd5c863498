package driver

import (
	"strings"
	"testing"
)

// A message of a test that calls Error in a loop has its beginning in the report, and says
// how much is left out.
func TestShortened(t *testing.T) {
	if got := shortened("one\ntwo"); got != "one\ntwo" {
		t.Errorf("got %q, want the message", got)
	}
	got := shortened(strings.Repeat("no\n", 50))
	if n := strings.Count(got, "no\n"); n != mostMessage || !strings.HasSuffix(got, "(31 more lines)") {
		t.Errorf("%d lines, %q", n, got[len(got)-20:])
	}
}
