// Package subjects has small executors to check the conformance kit with: right ones of
// different construction, and wrong ones with one mistake each. The mistakes are modelled
// on bugs and documented behaviour of real executors, pools and event loops.
//
// A mistake is a fault parameter of a right executor (Flaw, and the parameters of the
// loops, the pool and the lock-free queue) or a wrapper around it.
package subjects

import (
	"slices"
	"strings"
	"time"

	"eventide/props/exectest"
	"eventide/props/history"
)

// Subject makes executors of one kind.
type Subject struct {
	Name    string
	New     func() exectest.Subject
	Options []exectest.Option // what it does not promise
}

// Mistake is an executor with one mistake.
type Mistake struct {
	Name      string // what the executor does
	Source    string // the bug or the documentation that it is modelled on
	New       func() exectest.Subject
	Options   []exectest.Option // what the executor does not promise, even without the mistake
	Guarantee string            // the guarantee that it breaks
	Also      []string          // guarantees that the same mistake may break too
	ShownBy   string            // the guarantee whose programs show it, if those of Guarantee do not
	Text      string            // a part of the failure text, if there is one text
	Unlogged  bool              // it is shown by runs without the log
	Rare      bool              // it is shown only if two goroutines meet within a few instructions, so that a run may miss it
}

// AllOptions returns the options of the subject with the policy for timers of this package.
func (s Subject) AllOptions() []exectest.Option { return withTimers(s.Options) }

// AllOptions returns the options of the mistake with the policy for timers of this package.
func (m Mistake) AllOptions() []exectest.Option { return withTimers(m.Options) }

// ShowingOptions returns the options under which the kit runs only what shows the mistake:
// the programs and runs without the log of Guarantee and, if it is given, of ShownBy. If
// programs show the mistake, the runs without the log get almost no time.
func (m Mistake) ShowingOptions() []exectest.Option {
	opts := m.AllOptions()
	if !m.Unlogged {
		opts = append(opts, exectest.HammerTime(time.Millisecond))
	}
	if m.ShownBy != "" {
		return append(opts, exectest.Only(m.Guarantee, m.ShownBy))
	}
	return append(opts, exectest.Only(m.Guarantee))
}

// Others returns the failed guarantees that the mistake must not break. The first breach in a
// program that uses the whole API may be a consequence of any mistake, so a row that such a
// program failed does not count.
func (m Mistake) Others(r exectest.Result) []string {
	return slices.DeleteFunc(r.Failed(), func(g string) bool {
		return g == m.Guarantee || slices.Contains(m.Also, g) || byWholeProgram(r.Row(g))
	})
}

// byWholeProgram reports whether a program that uses the whole API shows the failure.
func byWholeProgram(row exectest.Row) bool {
	return strings.Contains(row.Text, "[program of G15 ") || strings.Contains(row.Text, "[program of G14 ")
}

func withTimers(opts []exectest.Option) []exectest.Option {
	return append(slices.Clone(opts), exectest.Timers(history.CancelTimers))
}

// Right returns executors without a mistake.
func Right() []Subject {
	return []Subject{
		{Name: "a goroutine while there is work", New: Bare(None)},
		{Name: "the same, with timers, hooks, futures and states", New: Whole(None)},
		{Name: "a loop with a slice, a lock and a wake-up channel", New: looper(rightLoop), Options: loopOptions()},
		{Name: "a loop that receives from a channel", New: receiver(rightChannel), Options: channelOptions()},
		{Name: "a loop with a queue without a lock", New: linker(rightLink), Options: channelOptions()},
		{Name: "a pool of two workers", New: pooled(rightPool), Options: poolOptions()},
	}
}

// Mistakes returns all executors with a mistake.
func Mistakes() []Mistake { return slices.Concat(flawed, misplaced, looped, received, inPools) }

// Bare makes a factory of simple executors.
func Bare(f Flaw) func() exectest.Subject {
	return func() exectest.Subject { return NewSimple(f) }
}

// Whole makes a factory of simple executors with everything that the kit can ask for.
func Whole(f Flaw) func() exectest.Subject {
	return func() exectest.Subject { return NewFull(f) }
}

func looper(m loopMistake) func() exectest.Subject {
	return func() exectest.Subject { return newLooping(m) }
}

func receiver(m channelMistake) func() exectest.Subject {
	return func() exectest.Subject { return newChannels(m) }
}

func linker(m linkMistake) func() exectest.Subject {
	return func() exectest.Subject { return newLinked(m) }
}

func pooled(m poolMistake) func() exectest.Subject {
	return func() exectest.Subject { return newPool(m) }
}

// channelOptions declare what the loops that do not survive Goexit do not promise.
func channelOptions() []exectest.Option {
	return append(loopOptions(), exectest.Without("G14", "Goexit ends its loop"))
}
