package frame

// MostKeptCapacity and Capacity show tests how much memory a cutter keeps.
const MostKeptCapacity = mostKeptCapacity

func (l *Lines) Capacity() int   { return cap(l.rest) }
func (l *Lengths) Capacity() int { return cap(l.rest) }

// Unsearched returns how many buffered bytes the next call of Feed searches for the end of a line.
func (l *Lines) Unsearched() int { return len(l.rest) - l.searched }
