package evidence

// Determinism is the content of determinism.json: whether the same seed gives the same
// schedules in every process.
type Determinism struct {
	About
	Overlay   string
	Schedules int // of each process
	Processes int // of each test
	Load      int // goroutines of another process that never wait
	Rows      []Repeated
}

// Repeated is one test.
type Repeated struct {
	Package string // below the folder of this repository's controlled tests
	Test    string
	// Different counts the processes whose schedules differ from those of the first.
	Different int
	// Uncontrolled counts what the tool does not control, in the process that has most
	// of it: blocking system calls, sockets of the kernel, child processes, signals,
	// collections.
	Uncontrolled uint64
	// Outside are the first of these of each kind, such as raw in os.Open.
	Outside []string `json:",omitempty"`
}

// ReadDeterminism reads determinism.json.
func ReadDeterminism(name string) (*Determinism, error) {
	d := &Determinism{}
	return d, read(name, d)
}

// Group sums up the tests of one package that use only what is controlled, or the others.
type Group struct {
	Package           string
	Controlled        bool
	Tests, Same       int
	Compared, Differs int // processes
}

// Groups returns the groups, in the order of the file.
func (d *Determinism) Groups() []Group {
	var all []Group
	for _, r := range d.Rows {
		controlled := r.Uncontrolled == 0
		i := 0
		for i < len(all) && (all[i].Package != r.Package || all[i].Controlled != controlled) {
			i++
		}
		if i == len(all) {
			all = append(all, Group{Package: r.Package, Controlled: controlled})
		}
		g := &all[i]
		g.Tests++
		if r.Different == 0 {
			g.Same++
		}
		g.Compared += d.Processes
		g.Differs += r.Different
	}
	return all
}
