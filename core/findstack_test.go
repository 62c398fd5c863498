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
	}{
		{1, true, "goroutine 1 [running]:\nmain.main()"},
		{2, true, "goroutine 2 [chan receive]:\nmain.g()"},
		{2, false, stackNotFound}, // may be cut off
		{12, false, "goroutine 12 [select]:\nmain.f()"},
		{3, true, stackNotFound},
	} {
		if got := findStack([]byte(dump), fmt.Sprintf("goroutine %d ", tt.goroutine), tt.all); got != tt.want {
			t.Errorf("goroutine %d, all=%v: got %q, want %q", tt.goroutine, tt.all, got, tt.want)
		}
	}
}
