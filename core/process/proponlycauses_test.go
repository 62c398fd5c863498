package process

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// passesFor is an error that says itself that it is another one.
type passesFor struct{ what error }

func (passesFor) Error() string { return "another one" }

func (e passesFor) Is(target error) bool {
	return e.what != nil && target.Error() == e.what.Error() // == may panic
}

// uncomparable is an error that == cannot compare.
type uncomparable []error

func (e uncomparable) Error() string { return fmt.Sprint("a list of ", len(e)) }

// carries is an error that wraps all, which may be none.
type carries struct{ all []error }

func (carries) Error() string     { return "carries" }
func (e carries) Unwrap() []error { return e.all }

// wrapsNone is an error that could wrap one, but does not.
type wrapsNone struct{ passesFor }

func (wrapsNone) Unwrap() error { return nil }

// drawEnd draws an error of a start, and whether only the end of its context is the reason. The
// cause of the context is outer, which wraps inner: an error that carries inner alone is a failure.
// A cause that cannot be compared is found by its own method Is alone.
func drawEnd(t *rapid.T, outer, inner error, depth int) (err error, only bool) {
	if depth == 0 || rapid.Bool().Draw(t, "leaf") {
		ends := []error{context.Canceled, outer, passesFor{outer}, wrapsNone{passesFor{context.Canceled}}}
		failures := []error{inner, errors.New("failed"), passesFor{inner}, uncomparable{}, carries{}, wrapsNone{}}
		if rapid.Bool().Draw(t, "only") {
			err = rapid.SampledFrom(ends).Draw(t, "end")
			return err, reflect.TypeOf(err).Comparable()
		}
		return rapid.SampledFrom(failures).Draw(t, "failure"), false
	}
	if rapid.Bool().Draw(t, "wrapped") {
		err, only = drawEnd(t, outer, inner, depth-1)
		return fmt.Errorf("wrapped: %w", err), only
	}
	only = true
	var all []error
	for range rapid.IntRange(1, 3).Draw(t, "joined") {
		e, o := drawEnd(t, outer, inner, depth-1)
		all, only = append(all, e), only && o
	}
	return carries{all}, only
}

// A start has not failed if each error that it returns, wraps or joins is the end of its context
// or the cause of that end. Before the end, every error is a failure.
func TestPropStartsFailByOtherErrorsThanTheirEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inner := errors.New("inner")
		outer := fmt.Errorf("outer: %w", inner)
		if rapid.Bool().Draw(t, "a cause that cannot be compared") {
			outer = uncomparable{inner}
		}
		err, only := drawEnd(t, outer, inner, rapid.IntRange(0, 4).Draw(t, "depth"))
		ctx, cancel := context.WithCancelCause(context.Background())
		defer cancel(nil)
		start := withoutCause(func(context.Context) error { return err })
		if got := start(ctx); fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", err) {
			t.Fatalf("before the end of the context: %v, want %v", got, err)
		}
		cancel(outer)
		want := err
		if only {
			want = nil
		}
		if got := start(ctx); fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", want) {
			t.Fatalf("%#v after the end of the context: %v, want %v", err, got, want)
		}
	})
}
