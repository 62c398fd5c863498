package props

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// FuzzPropAll is TestPropAll for go test -fuzz.
func FuzzPropAll(f *testing.F) { fuzz(f, func() func(*rapid.T) { return Property("", nil) }) }

// FuzzPropG21Group is TestPropG21Group for go test -fuzz: programs of groups are others.
func FuzzPropG21Group(f *testing.F) { fuzz(f, func() func(*rapid.T) { return GroupProperty(nil) }) }

// fuzz has a property for each input, as one that has failed once goes on failing.
func fuzz(f *testing.F, prop func() func(*rapid.T)) {
	for _, input := range fuzzInputs() {
		f.Add(input)
	}
	f.Fuzz(func(t *testing.T, input []byte) { rapid.MakeFuzz(prop())(t, input) })
}

// fuzzInputs are what go test -fuzz begins with: the random bits of so many whole
// programs. To begin with nothing would be a check that cannot fail. An input that ends
// before its program does is skipped, up to some 4 kB are needed, and no run of the fuzzer
// grew one: it went through 50,000 inputs a second and not one of them was a call.
func fuzzInputs() [][]byte {
	inputs := make([][]byte, 64)
	for i := range inputs {
		inputs[i] = make([]byte, 16<<10)
		_, _ = rand.NewChaCha8([32]byte{byte(i)}).Read(inputs[i]) // never fails
	}
	return inputs
}

// TestFuzzInputsAreWholePrograms: each of them is judged, and together they have what the
// promise is about.
func TestFuzzInputsAreWholePrograms(t *testing.T) {
	exercised := make(map[string]int)
	judged := 0
	prop := rapid.MakeFuzz(Property("", func(v Verdict) {
		judged++
		for id, yes := range v.Exercised {
			if yes {
				exercised[id]++
			}
		}
	}))
	for i, input := range fuzzInputs() {
		prop(t, input)
		require.Equal(t, i+1, judged, "input %d is no whole program", i)
	}
	for _, id := range []string{"G3", "G5", "G6", "G7", "G10", "G22"} {
		require.NotZero(t, exercised[id], "no input exercises %s: %v", id, exercised)
	}
	groups := rapid.MakeFuzz(GroupProperty(nil))
	for _, input := range fuzzInputs() {
		groups(t, input) // one that is not whole skips this test
	}
	t.Logf("exercised: %v", exercised)
}
