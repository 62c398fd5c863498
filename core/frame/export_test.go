package frame

// MostKeptCapacity and Capacity show tests how much memory a cutter keeps.
const MostKeptCapacity = mostKeptCapacity

func (l *Lines) Capacity() int   { return cap(l.rest) }
func (l *Lengths) Capacity() int { return cap(l.rest) }
