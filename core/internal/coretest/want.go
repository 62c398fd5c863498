package coretest

import (
	"errors"
	"testing"
)

// Must fails the test at once if err is not nil.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Want fails the test unless got is want. what names the value, and its guarantee if it has one.
func Want[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// WantErr fails the test unless errors.Is(got, w) for each w of want. A nil w wants a nil got.
func WantErr(t testing.TB, what string, got error, want ...error) {
	t.Helper()
	for _, w := range want {
		if w == nil && got != nil || !errors.Is(got, w) {
			t.Errorf("%s: got error %v, want %v", what, got, w)
		}
	}
}

// WantText fails the test unless the text of got is want.
func WantText(t testing.TB, what string, got error, want string) {
	t.Helper()
	if got == nil || got.Error() != want {
		t.Errorf("%s: got error %v, want %q", what, got, want)
	}
}
