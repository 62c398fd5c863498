package strategy

// seen is a set of states, each with the fewest preemptions that were spent on the
// way to it. A map would do, but for the race detector, which sees what the runtime
// does to one: this is used by whichever goroutine asks for the next, and the order of
// those is hidden from it.
type seen struct {
	keys  []uint64 // open addressing, a power of two of them; 0 is an empty place
	spent []int8
	n     int
}

const fewest = 1 << 10

// reset makes the set empty.
func (s *seen) reset() {
	if s.keys == nil {
		s.keys, s.spent = make([]uint64, fewest), make([]int8, fewest)
	}
	clear(s.keys)
	s.n = 0
}

// place returns where the key is, or would be.
//
//go:norace
func (s *seen) place(key uint64) int {
	mask := uint64(len(s.keys) - 1)
	i := key * 0x9e3779b97f4a7c15 >> 20 & mask
	for s.keys[i] != 0 && s.keys[i] != key {
		i = (i + 1) & mask
	}
	return int(i)
}

// visit enters a state, unless it was reached before with no more preemptions; then it
// returns false. A set of mostStates takes no more: full.
//
//go:norace
func (s *seen) visit(key uint64, spent int8) (isNew, full bool) {
	key |= 1 << 63 // so that none is 0
	i := s.place(key)
	switch {
	case s.keys[i] == key && s.spent[i] <= spent:
		return false, false
	case s.keys[i] == key:
		s.spent[i] = spent
		return true, false
	case s.n == mostStates:
		return true, true
	}
	s.keys[i], s.spent[i] = key, spent
	if s.n++; 2*s.n > len(s.keys) {
		s.grow()
	}
	return true, false
}

// grow copies by hand: the detector would see a copy.
//
//go:norace
func (s *seen) grow() {
	keys, spent := s.keys, s.spent
	s.keys, s.spent = make([]uint64, 2*len(keys)), make([]int8, 2*len(keys))
	for at := 0; at < len(keys); at++ {
		if keys[at] != 0 {
			i := s.place(keys[at])
			s.keys[i], s.spent[i] = keys[at], spent[at]
		}
	}
}
