package tasks

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// TestPropCounts: Add adds each number, and leaves whether something runs.
func TestPropCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Make[Counts]().Draw(t, "a"), rapid.Make[Counts]().Draw(t, "b")
		sum := a
		sum.Add(b)
		for i := range reflect.TypeFor[Counts]().NumField() {
			got, one, two := reflect.ValueOf(sum).Field(i), reflect.ValueOf(a).Field(i), reflect.ValueOf(b).Field(i)
			if name := reflect.TypeFor[Counts]().Field(i).Name; got.CanInt() && got.Int() != one.Int()+two.Int() || !got.CanInt() && got.Bool() != one.Bool() {
				t.Fatalf("%s is %v, want that of %+v and %+v", name, got, a, b)
			}
		}
	})
}
