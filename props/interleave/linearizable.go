package interleave

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"eventide/props/interleave/control"

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

// Linearizable fails the test if a concurrent history of an object has no order of its
// operations that the model allows and that keeps operations that do not overlap in
// order. Each schedule has a program of its own: two or three goroutines with one to
// four operations each, drawn from the seed of the schedule. fresh makes the object, and
// model is the state of the model at that moment.
//
// Linearizable fails the test at once in a process that is not controlled.
func Linearizable[S, M any](t *testing.T, fresh func() S, model M, ops []Op[S, M]) {
	t.Helper()
	needControl(t)
	if len(ops) == 0 {
		t.Fatal("interleave: Linearizable without operations")
	}
	program := drawProgram(ops)
	history := program.run(fresh())
	if !control.Plain() && !porcupine.CheckOperations(modelOf(model), history) {
		t.Fatalf("interleave: not linearizable\n%s", describe(history))
	}
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

// drawProgram draws a program from package math/rand, whose seed is the schedule's.
func drawProgram[S, M any](ops []Op[S, M]) program[S, M] {
	p := make(program[S, M], 2+rand.IntN(mostThreads-1))
	for i := range p {
		for range 1 + rand.IntN(mostOps) {
			c := call[S, M]{op: ops[rand.IntN(len(ops))]}
			if c.op.Args != nil {
				c.arg = c.op.Args.Example(rand.IntN(1 << 30))
			}
			p[i] = append(p[i], c)
		}
	}
	return p
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
			event{op.Call, fmt.Sprintf("thread %d calls   %v", op.ClientId, op.Input)},
			event{op.Return, fmt.Sprintf("thread %d returns %v from %v", op.ClientId, op.Output, op.Input)})
	}
	slices.SortFunc(events, func(a, b event) int { return int(a.at - b.at) })
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "%s\n", e.text)
	}
	return b.String()
}
