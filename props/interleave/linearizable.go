package interleave

import (
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"eventide/props/interleave/control"
	"eventide/props/interleave/protocol"

	"github.com/anishathalye/porcupine"
	"pgregory.net/rapid"
)

// An Op is an operation of an object of type S whose sequential behaviour is that of a
// model of type M.
type Op[S, M any] struct {
	Name string
	// Args draws the argument. nil means that there is none, and Call and Model get nil.
	Args *rapid.Generator[any]
	// Call performs the operation on the object. Several goroutines call it at once.
	Call func(s S, arg any) (result any)
	// Model returns the result that the operation has in state m, and the state after
	// it. It must not change m. Results are compared with reflect.DeepEqual.
	Model func(m M, arg any) (result any, after M)
}

// Sizes of the programs of Linearizable.
const (
	mostThreads = 3
	mostOps     = 4 // of a thread
)

// Linearizable runs concurrent operations on an object, and fails the test if their
// history is not linearizable: no sequence of the operations gives the same results in
// the model and keeps the order of operations that did not overlap. fresh makes the
// object, and model is the state of the model of a fresh object. Each schedule has a
// program of its own: two or three goroutines with one to four operations each, drawn
// from the seed of the schedule. If a program fails, the command leaves out operations
// and simplifies arguments as long as the program still fails on some schedule.
//
// Linearizable fails the test at once in a process that is not controlled.
func Linearizable[S, M any](t *testing.T, fresh func() S, model M, ops []Op[S, M]) {
	t.Helper()
	needControl(t)
	if len(ops) == 0 {
		t.Fatal("interleave: Linearizable without operations")
	}
	shape, err := askedProgram()
	if err != nil {
		t.Fatalf("interleave: %v", err)
	}
	program := drawProgram(ops, &shape)
	history := program.run(fresh())
	if !control.Plain() && !porcupine.CheckOperations(modelOf(model), history) {
		t.Fatalf("interleave: not linearizable\n%shistory\n%sprogram %v", program, describe(history), shape)
	}
}

// askedProgram returns the program that the command asks for when it looks for the
// smallest program that fails, and otherwise a new program from the seed of the
// schedule.
func askedProgram() (protocol.Program, error) {
	if text := os.Getenv(protocol.EnvProgram); text != "" {
		return protocol.ParseProgram(text)
	}
	return protocol.Program{Seed: rand.Uint64()}, nil
}

// A call is an operation with its argument. It is the input of a porcupine operation.
type call[S, M any] struct {
	op  Op[S, M]
	arg any
}

func (c call[S, M]) String() string {
	if c.op.Args == nil {
		return c.op.Name + "()"
	}
	return fmt.Sprintf("%s(%v)", c.op.Name, c.arg)
}

// A program is the calls of each goroutine.
type program[S, M any] [][]call[S, M]

// String has a line for each goroutine.
func (p program[S, M]) String() string {
	var b strings.Builder
	for i, calls := range p {
		words := make([]string, len(calls))
		for k, c := range calls {
			words[k] = c.String()
		}
		if len(calls) > 0 {
			fmt.Fprintf(&b, "  thread %d: %s\n", i, strings.Join(words, ", "))
		}
	}
	return b.String()
}

// drawProgram draws a program from the seed of the shape, without the operations that
// the shape leaves out, and sets the sizes of the shape.
func drawProgram[S, M any](ops []Op[S, M], shape *protocol.Program) program[S, M] {
	r := rand.New(rand.NewPCG(shape.Seed, 0))
	p := make(program[S, M], 2+r.IntN(mostThreads-1))
	shape.Sizes = nil
	for i := range p {
		n := 1 + r.IntN(mostOps)
		shape.Sizes = append(shape.Sizes, n)
		for k := range n {
			c := call[S, M]{op: ops[r.IntN(len(ops))]}
			if c.op.Args != nil {
				c.arg = c.op.Args.Example(r.IntN(1 << 30))
				if slices.Contains(shape.Simple, protocol.Place{Thread: i, Op: k}) {
					c.arg = simplest(c.op.Args)
				}
			}
			if shape.Has(protocol.Place{Thread: i, Op: k}) {
				p[i] = append(p[i], c)
			}
		}
	}
	return p
}

// examples is how many arguments simplest looks at.
const examples = 32

// simplest draws a few arguments and returns the one with the shortest text, and among
// equally short texts the least.
func simplest(args *rapid.Generator[any]) any {
	best := args.Example(0)
	for i := 1; i < examples; i++ {
		other := args.Example(i)
		a, b := fmt.Sprint(other), fmt.Sprint(best)
		if len(a) < len(b) || len(a) == len(b) && a < b {
			best = other
		}
	}
	return best
}

// run performs the program and returns its history.
func (p program[S, M]) run(s S) []porcupine.Operation {
	histories := make([][]porcupine.Operation, len(p))
	var wg sync.WaitGroup
	for i, calls := range p {
		wg.Go(func() {
			for _, c := range calls {
				begin := control.Stamp()
				result := c.op.Call(s, c.arg)
				histories[i] = append(histories[i], porcupine.Operation{ClientId: i, Input: c, Call: begin, Output: result, Return: control.Stamp()})
			}
		})
	}
	wg.Wait()
	return slices.Concat(histories...)
}

// modelOf is the model as porcupine has it.
func modelOf[M any](initial M) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return initial },
		Step: func(state, input, output any) (bool, any) {
			result, after := input.(stepper[M]).step(state.(M))
			return reflect.DeepEqual(result, output), after
		},
		Equal: reflect.DeepEqual,
	}
}

// A stepper is a call whose object's type does not matter.
type stepper[M any] interface {
	step(m M) (result any, after M)
}

func (c call[S, M]) step(m M) (any, M) { return c.op.Model(m, c.arg) }

// describe prints a history, with the order of calls and returns.
func describe(history []porcupine.Operation) string {
	type event struct {
		at   int64
		text string
	}
	var events []event
	for _, op := range history {
		events = append(events,
			event{op.Call, fmt.Sprintf("  thread %d calls   %v", op.ClientId, op.Input)},
			event{op.Return, fmt.Sprintf("  thread %d returns %v from %v", op.ClientId, op.Output, op.Input)})
	}
	slices.SortFunc(events, func(a, b event) int { return int(a.at - b.at) })
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "%s\n", e.text)
	}
	return b.String()
}
