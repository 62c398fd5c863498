package core

import (
	"fmt"
	"testing"
)

func TestFindStack(t *testing.T) {
	dump := "goroutine 1 [running]:\nmain.main()\n\ngoroutine 12 [select]:\nmain.f()\n\ngoroutine 2 [chan receive]:\nmain.g()"
	for _, tt := range []struct {
		goroutine int
		all       bool
		want      string
		found     bool
	}{
		{1, true, "goroutine 1 [running]:\nmain.main()", true},
		{2, true, "goroutine 2 [chan receive]:\nmain.g()", true},
		{2, false, "goroutine 2 [chan receive]:\nmain.g()", false}, // may be cut off
		{12, false, "goroutine 12 [select]:\nmain.f()", true},
		{3, true, "", false},
	} {
		got, found := findStack([]byte(dump), fmt.Appendf(nil, "goroutine %d ", tt.goroutine), tt.all)
		if string(got) != tt.want || found != tt.found {
			t.Errorf("goroutine %d, all=%v: got %q, %v, want %q, %v", tt.goroutine, tt.all, got, found, tt.want, tt.found)
		}
	}
}
