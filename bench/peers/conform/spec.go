package conform

import (
	"fmt"
	"time"

	"eventide/props/exectest"
)

// A Spec is one subject of the matrix.
type Spec struct {
	Name string
	// Open returns what makes fresh subjects, and what ends it all.
	Open     func(drivers string) (factory func() exectest.Subject, end func(), err error)
	Options  []exectest.Option
	RealTime bool // Options say so: only what a busy machine cannot falsify is judged
	Promises []Promise
	// Unjudged are guarantees that the documentation promises, but that this
	// matrix cannot judge, and why.
	Unjudged map[string]string
}

// A Promise is what a guarantee is judged by.
type Promise struct {
	Guarantee string `json:"guarantee"`
	Source    string `json:"source"`
}

// theLine is the promise in one line.
const theLine = "the one line: Execute returned without error if and only if the task runs exactly once before the end"

func line(guarantees ...string) []Promise {
	var p []Promise
	for _, g := range guarantees {
		p = append(p, Promise{g, theLine})
	}
	return p
}

// inProcess is Open of a subject that needs nothing around it.
func inProcess(factory func() exectest.Subject) func(string) (func() exectest.Subject, func(), error) {
	return func(string) (func() exectest.Subject, func(), error) { return factory, func() {}, nil }
}

// must is for factories, which cannot return an error: the cell's process then dies
// with it, which is an error of the matrix.
func must[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Errorf("conform: %w", err))
	}
	return v
}

// patience is how long one run may take in real time.
const patience = 20 * time.Second

var realTime = []exectest.Option{exectest.RealTime(), exectest.Patience(patience)}

// Specs are all subjects.
func Specs() []Spec {
	return []Spec{
		coreSpec(), coreLoopSpec(), corePoolSpec(), channelSpec(), antsSpec(), pondSpec(), gnetSpec(), nbioSpec(),
		nettySpec("nio"), nettySpec("default"),
	}
}

// Find returns the subject of a name.
func Find(name string) (Spec, error) {
	for _, s := range Specs() {
		if s.Name == name {
			return s, nil
		}
	}
	return Spec{}, fmt.Errorf("conform: no subject is called %q", name)
}

// Promise returns what a guarantee is judged by.
func (s Spec) Promise(guarantee string) (Promise, bool) {
	for _, p := range s.Promises {
		if p.Guarantee == guarantee {
			return p, true
		}
	}
	return Promise{}, false
}

// Check judges one guarantee.
func (s Spec) Check(guarantee, drivers string, seed uint64) (exectest.Row, error) {
	factory, end, err := s.Open(drivers)
	if err != nil {
		return exectest.Row{}, err
	}
	defer end()
	opts := append([]exectest.Option{exectest.Only(guarantee), exectest.Seed(seed)}, s.Options...)
	return exectest.Check(factory, opts...).Row(guarantee), nil
}

// Guarantees are the columns, with their sentences.
func Guarantees() []Promise {
	result := exectest.Check(nil, withoutAll()...)
	var all []Promise
	for _, row := range result.Rows {
		all = append(all, Promise{row.Guarantee, row.Sentence})
	}
	return all
}

// withoutAll declares every guarantee as not promised, so that nothing runs.
func withoutAll() []exectest.Option {
	var opts []exectest.Option
	for n := 1; n <= 24; n++ {
		opts = append(opts, exectest.Without(fmt.Sprintf("G%d", n), "only the names are wanted"))
	}
	return opts
}
