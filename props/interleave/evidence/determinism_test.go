package evidence

import "testing"

// Tests that use uncontrolled parts of the system are a group of their own.
func TestGroups(t *testing.T) {
	d := &Determinism{Processes: 20, Rows: []Repeated{
		{Package: "a", Test: "TestX"}, {Package: "a", Test: "TestY", Different: 3}, {Package: "a", Test: "TestZ", Uncontrolled: 1}, {Package: "b", Test: "TestX"},
	}}
	want := []Group{
		{Package: "a", Controlled: true, Tests: 2, Same: 1, Compared: 40, Differs: 3},
		{Package: "a", Tests: 1, Same: 1, Compared: 20},
		{Package: "b", Controlled: true, Tests: 1, Same: 1, Compared: 20},
	}
	got := d.Groups()
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("got %+v, want %+v", got[i], want[i])
		}
	}
}
