package netty

import "testing"

// TestWiden: a wider program predicts the same, has more room, and is its own program
// only in its times. Enough programs allow it.
func TestWiden(t *testing.T) {
	const programs = 100
	allowed := 0
	for id := range programs {
		p, _ := Generate(5, id)
		text := p.String()
		wide, ok := Widen(p, 3)
		if p.String() != text {
			t.Fatalf("Widen changed its argument: %v, was %s", p, text)
		}
		if !ok {
			continue
		}
		allowed++
		core, err := RunCore(t, wide)
		if err != nil {
			t.Fatal(err)
		}
		if v := Judge(p, runReference(wide).trace, core); len(v.Wrong) > 0 {
			t.Errorf("what the wider program showed does not answer for the other:\n%v", v)
		}
	}
	t.Logf("%d of %d programs allow it", allowed, programs)
	if allowed < programs/4 {
		t.Errorf("%d of %d programs allow it, want at least %d", allowed, programs, programs/4)
	}
}

func TestWidenedTimes(t *testing.T) {
	p, err := Parse("1 nio fail=1 u1{p2(10) c3(1)} f4(-10,30){} l5(1) g6(30,50)")
	if err != nil {
		t.Fatal(err)
	}
	want := "u1{p2(30) c3(1)} f4(-30,90){} l5(1) g6(90,150)"
	if got := stepsText(widened(p.Steps, 3)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
