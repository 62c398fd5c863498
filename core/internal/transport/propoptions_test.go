package transport

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestPropApply: the options apply in order, up to the first that fails, whose error Apply returns. A nil option has no effect.
func TestPropApply(t *testing.T) {
	type option func(*[]int) error
	rapid.Check(t, func(t *rapid.T) {
		kinds := rapid.SliceOfN(rapid.SampledFrom([]string{"good", "good", "nil", "bad"}), 0, 6).Draw(t, "options")
		var opts []option
		var want, got []int
		var wantErr error
		for i, kind := range kinds {
			err := fmt.Errorf("option %d", i)
			if kind == "good" {
				err = nil
			}
			if kind == "nil" {
				opts = append(opts, nil)
				continue
			}
			opts = append(opts, func(all *[]int) error { *all = append(*all, i); return err })
			if wantErr == nil {
				want, wantErr = append(want, i), err
			}
		}
		if err := Apply(&got, opts); err != wantErr || !slices.Equal(got, want) {
			t.Fatalf("%q: the options %v have applied, %v; want %v, %v", kinds, got, err, want, wantErr)
		}
	})
}

// TestPropLogSome: the events whose number is a power of two are logged. Each line is posted, or logged at once if the loop
// refuses it.
func TestPropLogSome(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.Int64Range(1, 70), rapid.Map(rapid.IntRange(0, 62), func(i int) int64 { return 1 << i })).Draw(t, "number")
		accepts := rapid.Bool().Draw(t, "the loop accepts")
		logged := 0
		var posted []func()
		LogSome(n, func(f func()) bool {
			if posted = append(posted, f); accepts {
				return true
			}
			posted[0] = func() {}
			return false
		}, func() { logged++ })
		atOnce := logged
		for _, f := range posted {
			f()
		}
		want, wantAtOnce := 0, 0
		if bits.OnesCount64(uint64(n)) == 1 {
			if want = 1; !accepts {
				wantAtOnce = 1
			}
		}
		if logged != want || atOnce != wantAtOnce || len(posted) != want {
			t.Fatalf("event %d, the loop accepts: %v: logged %d times, %d of them at once, and %d posted; want %d, %d, %d",
				n, accepts, logged, atOnce, len(posted), want, wantAtOnce, want)
		}
	})
}

// lineLog is a slog.Handler that keeps its lines, and then may panic.
type lineLog struct {
	lines  *[]string
	panics bool
}

func (l lineLog) Enabled(context.Context, slog.Level) bool { return true }
func (l lineLog) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l lineLog) WithGroup(string) slog.Handler            { return l }

func (l lineLog) Handle(_ context.Context, r slog.Record) error {
	line := fmt.Sprint(r.Level, " ", r.Message)
	for a := range r.Attrs {
		line += fmt.Sprint(" ", a)
	}
	if *l.lines = append(*l.lines, line); l.panics {
		panic(errors.New("a logger of the test"))
	}
	return nil
}

// TestPropLog: a line goes to the logger, or to the default one if there is none, with its level and its arguments. A panic
// of the logger has no effect.
func TestPropLog(t *testing.T) {
	before := slog.Default()
	defer slog.SetDefault(before)
	rapid.Check(t, func(t *rapid.T) {
		var own, others []string
		panics := rapid.Bool().Draw(t, "the logger panics")
		slog.SetDefault(slog.New(lineLog{&others, panics}))
		logger, level := slog.New(lineLog{&own, panics}), rapid.SampledFrom([]slog.Level{slog.LevelDebug, slog.LevelWarn, slog.LevelError}).Draw(t, "level")
		want, wantOthers := []string{fmt.Sprint(level, " text key=1 other=2")}, []string(nil)
		if rapid.Bool().Draw(t, "no logger") {
			logger, want, wantOthers = nil, wantOthers, want
		}
		Log(logger, level, "text", "key", 1, "other", 2)
		if !slices.Equal(own, want) || !slices.Equal(others, wantOthers) {
			t.Fatalf("the logger got %q and the default one %q, want %q and %q", own, others, want, wantOthers)
		}
	})
}
