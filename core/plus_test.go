package core

import (
	"reflect"
	"testing"
)

// No field of core's Report and Stats is forgotten in a sum.
func TestG20SumsHaveEveryField(t *testing.T) {
	fill := func(v any) {
		s := reflect.ValueOf(v).Elem()
		for i := range s.NumField() {
			switch f := s.Field(i); f.Kind() {
			case reflect.Bool:
				f.SetBool(true)
			case reflect.String:
				f.SetString("x")
			default:
				f.SetInt(3)
			}
		}
	}
	check := func(sum any, longest ...string) {
		s := reflect.ValueOf(sum)
		for i := range s.NumField() {
			name, f := s.Type().Field(i).Name, s.Field(i)
			want := int64(6)
			for _, l := range longest {
				if l == name {
					want = 3
				}
			}
			if f.IsZero() || f.CanInt() && f.Int() != want {
				t.Errorf("G20: %v.%s is %v, want %d or what is not zero", s.Type(), name, f, want)
			}
		}
	}
	var r Report
	fill(&r)
	check(r.Plus(r), "Quiet", "Timeout", "Elapsed")
	var s Stats
	fill(&s)
	check(s.Plus(s), "State")
}
