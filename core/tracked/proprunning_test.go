package tracked

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/petermattis/goid"
	"pgregory.net/rapid"
)

// TestPropRunningText: Running lists the oldest 100 functions, each with its start time and the stack of its goroutine. It says
// of a function whether it has not begun, or whether its stack is missing, and counts the functions that it does not list.
func TestPropRunningText(t *testing.T) {
	const gone = 1 << 60 // no goroutine has this number
	rapid.Check(t, func(t *rapid.T) {
		ours := goid.Get()
		var g Group
		g.init()
		var all []*function // the oldest first
		for i := range rapid.SampledFrom([]int{0, 1, 2, 5, 99, 100, 101, 102, 150}).Draw(t, "functions") {
			all = append(all, &function{
				name: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "name"), began: time.Unix(int64(i), 1).UTC(),
				goroutine: rapid.SampledFrom([]int64{0, ours, gone}).Draw(t, "goroutine"),
			})
			g.running[all[i]] = struct{}{}
		}
		text := g.Running()
		if len(all) == 0 && text != "" {
			t.Fatalf("no function runs, and the text is %q", text)
		}
		for i, f := range all[:min(100, len(all))] {
			name := f.name
			if name == "" {
				name = "a function without a name"
			}
			rest, ok := strings.CutPrefix(text, fmt.Sprintf("%s runs since %s:\n", name, f.began.Format(time.RFC3339Nano)))
			stack := map[int64]string{0: "(it has not begun)\n", gone: "(stack not found)\n", ours: fmt.Sprintf("goroutine %d [", ours)}[f.goroutine]
			if !ok || !strings.HasPrefix(rest, stack) {
				t.Fatalf("function %d of %d, %+v: want its name, its start and %q:\n%s", i, len(all), f, stack, text)
			}
			if text = rest[len(stack):]; f.goroutine == ours {
				_, text, ok = strings.Cut(text, "\ncreated by ")
				inside := strings.SplitN(text, "\n", 3) // the creator and its position end the stack
				if !ok || len(inside) < 3 {
					t.Fatalf("the stack of function %d of %d has no end: %q", i, len(all), rest)
				}
				text = inside[2]
			}
		}
		want := ""
		if n := len(all); n > 100 {
			want = countNames(slices.Clone(all[100:]))
		}
		if text != want {
			t.Fatalf("the text of %d functions ends with %q, want %q", len(all), text, want)
		}
	})
}
