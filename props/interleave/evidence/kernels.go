package evidence

import (
	"cmp"
	"slices"
)

// Exhaustive is the name of the search that goes through every schedule up to a number
// of preemptions. It stands beside the names of package protocol.
const Exhaustive = "exhaustive"

// Names of the other tools that a kernel is given to.
const (
	GoTest   = "go test"
	GoRace   = "go test -race"
	Goleak   = "goleak"
	Synctest = "synctest"
)

// Tools are the names of the other tools, in the order of the tables.
var Tools = []string{GoTest, GoRace, Goleak, Synctest}

// Kernels is the content of kernels.json: which strategy and which other tool finds the
// bug of which kernel.
type Kernels struct {
	About
	Overlay string // hash of the overlay
	Sources string // hash of the sources of the kernels
	Limits  Limits
	Rows    []Row
}

// Limits bound the measurement.
type Limits struct {
	Seeds      int
	Schedules  uint64 // of one seed
	Exhaustive uint64 // schedules of the exhaustive search
	Bound      int    // its preemptions
	Batches    int    // processes of another tool
	Runs       int    // of the kernel in a batch
	Timeout    float64
}

// Row is one kernel.
type Row struct {
	Kernel     string
	Class      string   // the file of the kernel
	Verdicts   []string // that its bug may have
	Race       bool     // the bug is a data race: the strategies run with the race detector
	Strategies []Cell
	Tools      []Tool
}

// Cell is what a strategy did with a kernel.
type Cell struct {
	Strategy  string
	NotRun    string   `json:",omitempty"` // why
	Schedules []uint64 `json:",omitempty"` // until the bug was found, warm-ups included, of each seed; 0: not within the limit
	// Milliseconds of processor time until then, with the start of the process.
	Milliseconds []float64 `json:",omitempty"`
	Complete     bool      `json:",omitempty"` // of an exhaustive search: no schedule is left up to the bound
}

// Found returns with how many seeds the bug was found.
func (c *Cell) Found() int {
	return len(slices.DeleteFunc(slices.Clone(c.Schedules), func(n uint64) bool { return n == 0 }))
}

// Median returns the median of the schedules until the bug was found. It returns false
// if the median seed did not find it.
func (c *Cell) Median() (uint64, bool) {
	all := slices.Clone(c.Schedules)
	slices.SortFunc(all, func(a, b uint64) int { return cmp.Compare(a-1, b-1) }) // 0 is the greatest
	if len(all) == 0 || all[len(all)/2] == 0 {
		return 0, false
	}
	return all[len(all)/2], true
}

// MedianTime returns the median of the milliseconds.
func (c *Cell) MedianTime() float64 {
	all := slices.Sorted(slices.Values(c.Milliseconds))
	if len(all) == 0 {
		return 0
	}
	return all[len(all)/2]
}

// Tool is what another tool did with a kernel and with its repaired twin.
type Tool struct {
	Tool   string
	NotRun string         `json:",omitempty"`
	Runs   []int          `json:",omitempty"` // of the kernel until a batch failed; 0: it passed
	How    map[string]int `json:",omitempty"` // batches that failed, by how
	Twin   map[string]int `json:",omitempty"` // batches of the repaired twin that failed
}

// Found returns how many batches failed.
func (t *Tool) Found() int { return total(t.How) }

// MedianRun returns the median of the runs of the batches that failed, or 0.
func (t *Tool) MedianRun() int {
	failed := slices.DeleteFunc(slices.Sorted(slices.Values(t.Runs)), func(n int) bool { return n == 0 })
	if len(failed) == 0 {
		return 0
	}
	return failed[len(failed)/2]
}

func total(counts map[string]int) int {
	n := 0
	for _, k := range counts {
		n += k
	}
	return n
}

// ReadKernels reads kernels.json.
func ReadKernels(name string) (*Kernels, error) {
	k := &Kernels{}
	return k, read(name, k)
}

// Cell returns the cell of a strategy, or nil.
func (r *Row) Cell(strategy string) *Cell {
	for i := range r.Strategies {
		if r.Strategies[i].Strategy == strategy {
			return &r.Strategies[i]
		}
	}
	return nil
}

// Tool returns what another tool did, or nil.
func (r *Row) Tool(name string) *Tool {
	for i := range r.Tools {
		if r.Tools[i].Tool == name {
			return &r.Tools[i]
		}
	}
	return nil
}

// Strategies returns the names of the strategies, in the order of the file.
func (k *Kernels) Strategies() []string {
	var names []string
	for _, r := range k.Rows {
		for _, c := range r.Strategies {
			if !slices.Contains(names, c.Strategy) {
				names = append(names, c.Strategy)
			}
		}
	}
	return names
}
