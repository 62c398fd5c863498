package det

import (
	"cmp"
	"iter"
	"maps"
	"slices"
)

// Ordered is what a range over a map ranges over: its entries in the order of the
// keys, without those that are deleted meanwhile.
func Ordered[M ~map[K]V, K cmp.Ordered, V any](m M) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if v, ok := m[k]; ok && !yield(k, v) {
				return
			}
		}
	}
}
