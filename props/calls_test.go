package props

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"eventide/props/history"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var updateCalls = flag.Bool("update-calls", false, "write testdata/calls/table.md from the programs")

// exportedCalls lists the exported functions and methods of core, from its types.
func exportedCalls(t *testing.T) (names []string) {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-export", "-json=ImportPath,Export", "eventide/core")
	out, err := cmd.Output()
	require.NoError(t, err)
	exports := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct{ ImportPath, Export string }
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else {
			require.NoError(t, err)
		}
		exports[p.ImportPath] = p.Export
	}
	pkg, err := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	}).Import("eventide/core")
	require.NoError(t, err)
	for _, name := range pkg.Scope().Names() {
		object := pkg.Scope().Lookup(name)
		if _, is := object.(*types.Func); is && object.Exported() {
			names = append(names, name)
		}
		if _, is := object.(*types.TypeName); !is || !object.Exported() {
			continue
		}
		if named, is := object.Type().(*types.Named); is && !types.IsInterface(named) {
			for m := range named.Methods() {
				if m.Exported() {
					names = append(names, name+"."+m.Name())
				}
			}
		}
	}
	return names
}

// A place is where a call is made: the context of the caller, and the state of the executor.
type place struct {
	context string
	state   history.State
}

// The contexts, in the order of the table.
var contexts = []string{"goroutine", "spawner", "task", "tail", "timer", "hook", "listener", "readiness", "channel"}

// unmadeContexts are those from which no program makes any call, and why.
var unmadeContexts = map[string]string{
	"panic handler":                       "the log has it as a listener: its calls are in that column",
	"tracer":                              "it must not call: the tracer is called with the executor's lock held",
	"body of another loop":                "to the executor it is a goroutine that is not its own; groups (G21) call their children from one another's bodies",
	"function given to Registration.Post": "its function makes no call in programs; the tests of core/tcp have such functions",
}

var contextOf = map[history.Body]string{
	history.BodyTask: "task", history.BodyTail: "tail", history.BodyTimer: "timer", history.BodyHook: "hook",
	history.BodyListener: "listener", history.BodyReadiness: "readiness", history.BodyDrain: "channel", history.BodyAbort: "channel",
}

// callOf are the calls that the log tells as an Op.
var callOf = map[history.Op]string{
	history.OpExecute: "Executor.Execute", history.OpExecuteLazy: "Executor.ExecuteLazy", history.OpSubmit: "Submit",
	history.OpAfterIteration: "Executor.ExecuteAfterIteration", history.OpSchedule: "Executor.Schedule",
	history.OpFixedRate: "Executor.ScheduleAtFixedRate", history.OpFixedDelay: "Executor.ScheduleWithFixedDelay",
	history.OpAddHook: "Executor.AddShutdownHook", history.OpCancel: "Timer.Cancel", history.OpReset: "Timer.Reset",
	history.OpShutdownGracefully: "Executor.ShutdownGracefully", history.OpShutdown: "Executor.Shutdown",
	history.OpClose: "Executor.Close", history.OpAwait: "Executor.AwaitTermination", history.OpState: "Executor.State",
	history.OpRegister: "EventLoop.Register", history.OpRegisterChannel: "EventLoop.RegisterChannel",
	history.OpModify: "Registration.Modify", history.OpEnd: "Registration.Close", history.OpListen: "Future.OnDone",
}

// alongWith are calls that programs make at each place of another one.
var alongWith = map[string]string{
	"Executor.InEventLoop": "Executor.State", "Executor.Name": "Executor.State",
	"Executor.String": "Executor.State", "Executor.Parent": "Executor.State", "Executor.Context": "Executor.State", "Executor.ShutdownContext": "Executor.State",
	"Executor.Termination": "Executor.State", "Termination.Done": "Executor.State", "Termination.Report": "Executor.State",
	"Current": "Executor.State", "Registration.OnClose": "EventLoop.Register", "Registration.End": "Registration.Close",
	"Pool.Size": "Pool.Resize", "Meter.Read": "Executor.NewMeter", "Meter.Stack": "Executor.NewMeter", "Future.Wait": "Submit", "Timer.Done": "Timer.Err", "Local.Set": "Local.Get", "Local.Remove": "Local.Get", "NewLocal": "Local.Get",
}

// unmade are the calls that no program makes at a place that the table shows, and why.
var unmade = map[string]string{
	"NewPool": "makes the pool of each program that has one", "NewEventLoop": "makes the event loop of each program that has one",
	"Meter.Close":        "called at the end of each program that has a meter",
	"WithGoroutineStart": "every program, except those on the runtime's clock",
	"NewGroup":           "event loops in groups are in core's tests; the programs of G21 have groups of executors", "NewExecutorGroup": "makes the group of each program of G21",
	"NewParkPoller": "sleeps inside the scripted poller of each program", "NewReadiness": "makes the events of the scripted poller",
	"BackOff": "is the rejected-handler of programs with retries", "RefuseWhenFull": "is the default: programs without retries have it",
	"Termination.Wait": "called at the end of each program",
	"InvokeAll":        "programs of invocations (props/invocation.go)", "InvokeAny": "programs of invocations",
	"NewTermination":   "the tests of core/blocking and core/tracked, whose groups are made with it",
	"EventKind.String": "text for people", "PanicError.Error": "text for people", "RejectedError.Error": "text for people",
	"PanicError.Unwrap": "core's tests", "RejectedError.Unwrap": "by errors.Is, in the answer of each call",
	"Report.Plus": "the programs of G21 compare sums", "Stats.Plus": "the programs of G21",
	"WithBlockingEpoll": "programs of the lane sockets, over a modelled kernel", "WithSpin": "programs of the lane sockets", "WithIORatio": "every program with an event loop",
	"WithClock": "every program of lane virtual, except those on the runtime's clock", "WithDrain": "every program with an event loop", "WithLogger": "every program; core's tests check what is logged",
	"WithMaxPendingTasks": "programs with a bounded queue", "WithName": "core's tests", "WithPanicHandler": "programs with a panic handler", "WithPoller": "every program with an event loop, and executors over a poller that fails",
	"WithRejectedHandler": "programs with retries", "WithSpawner": "every program", "WithTimerJitter": "programs with jitter", "WithTimersAtShutdown": "every program", "WithTracer": "every program",
}

// places are where the calls of a run were made.
func places(p Program, events []history.Event) map[string]map[place]int {
	at := map[string]map[place]int{}
	tries, own := map[int]bool{}, map[int]bool{}
	p.AnyStep(func(s *Step) bool {
		tries[s.ID] = tries[s.ID] || s.Try
		own[s.ID] = own[s.ID] || s.Own
		return false
	})
	timers := map[int]bool{}
	traced := false
	state, inside, calls := history.NotStarted, map[int64][]string{}, map[int64]int{}
	for i := range events {
		e := &events[i]
		add := func(call string) {
			context := "goroutine"
			if open := inside[e.G]; len(open) > 0 {
				context = open[len(open)-1]
			} else if calls[e.G] > 0 {
				context = "spawner"
			}
			if p.Pool > 0 {
				call = ofPool(call)
			}
			if at[call] == nil {
				at[call] = map[place]int{}
			}
			at[call][place{context, state}]++
		}
		switch {
		case e.Kind == history.Transit:
			state = e.To
		case e.Kind == history.Begin:
			inside[e.G] = append(inside[e.G], contextOf[e.Body])
		case e.Kind == history.End:
			inside[e.G] = inside[e.G][:len(inside[e.G])-1]
		case e.Kind == history.Sample:
			add("Executor.Stats")
		case e.Kind == history.Return:
			calls[e.G]--
		case e.Kind == history.Invoke:
			call := callOf[e.Op]
			if e.Note != "" { // see harness.ask
				call = e.Note
			}
			switch {
			case e.Op.Timers():
				timers[e.ID] = true
				if own[e.ID] {
					call = "Executor.ScheduleTimer"
				}
			case e.Op == history.OpExecute && tries[e.ID]:
				call = "Executor.TryExecute"
			case e.Op == history.OpCancel && !timers[e.ID]:
				call = "Future.Cancel"
			}
			if call != "" {
				add(call)
			}
			if open := inside[e.G]; e.Op == history.OpState && !traced && len(open) > 0 && !slices.Contains(open, "listener") {
				traced = true // see look
				add("Executor.Running")
			}
			calls[e.G]++
		}
	}
	return at
}

// possible are the states in which programs make calls from a context: no body runs before the start and after the
// end, the last listeners run outside the loop, and hooks and the ends of channels belong to a shutdown.
var possible = map[string]string{
	"goroutine": "NSDXT", "task": "SDX", "tail": "SDX", "timer": "SDX", "readiness": "SDX",
	"listener": "SDXT", "hook": "DX", "channel": "DX",
}

// impossible are cells of the table that no program has, by a prefix of the call, with the context, the
// states, and why.
var impossible = []struct{ call, context, states, why string }{
	{"Pool.", "tail", stateLetters, "a pool has no turns"},
	{"Pool.", "readiness", stateLetters, "a pool has no descriptors"},
	{"Pool.", "channel", stateLetters, "a pool has no channels"},
	{"Executor.Running", "goroutine", stateLetters, "programs compare its stacks with the body that calls it"},
	{"Executor.Running", "listener", stateLetters, "programs compare its stacks with the body that calls it"},
	{"Pool.Running", "goroutine", stateLetters, "programs compare its stacks with the body that calls it"},
	{"Pool.Running", "listener", stateLetters, "programs compare its stacks with the body that calls it"},
	{"Future.Cancel", "goroutine", "N", "Submit starts the loop"},
	{"Future.Done", "goroutine", "N", "Submit starts the loop"},
	{"Timer.", "goroutine", "N", "the call that schedules it starts the loop"},
	{"Registration.", "goroutine", "N", "the call that registers starts the loop"},
}

// cell returns the letters of the states in which programs make the call from the context.
func cell(call, context string) string {
	letters := possible[context]
	if context == "spawner" && (call == "Executor.Execute" || call == "Pool.Execute") {
		letters = "N"
	}
	for _, not := range impossible {
		if strings.HasPrefix(call, not.call) && context == not.context {
			letters = strings.Map(func(r rune) rune {
				if strings.ContainsRune(not.states, r) {
					return -1
				}
				return r
			}, letters)
		}
	}
	return letters
}

const (
	callLimit = 2400 // programs of each guarantee after which a place that was not seen is lost
	callCells = 80   // programs with a cell for each program of every guarantee
)

// seenPlaces runs programs of every guarantee, and programs with cells, until enough holds, or the limit is reached.
func seenPlaces(t *testing.T, limit int, enough func(map[string]map[place]int) bool) map[string]map[place]int {
	t.Helper()
	seen := map[string]map[place]int{}
	run := func(profile Profile, n int) {
		profile.Wide = true
		p := Programs(profile).Example(n)
		var out Recording
		synctest.Test(t, func(*testing.T) { out = Run(p) })
		for call, at := range places(p, out.Events) {
			if seen[call] == nil {
				seen[call] = map[place]int{}
			}
			for where, n := range at {
				seen[call][where] += n
			}
		}
	}
	for n := range limit {
		for _, g := range Guarantees {
			if g.Checked() && g.ID != "G21" {
				run(g.Profile, n)
			}
		}
		for i := range callCells {
			run(Profile{Cells: true}, callCells*n+i)
		}
		if enough(seen) {
			break
		}
	}
	return seen
}

// stateLetters name the states in the table.
const stateLetters = "NSDXT"

// tableOf is the table as text.
func tableOf(calls []string) string {
	var b strings.Builder
	b.WriteString("# Calls of core in generated programs\n\nWritten by `go test ./props -run TestEveryCall -update-calls`. A letter is a state in which programs of fixed seeds make the call in\nthat context: N not started, S started, D shutting down, X shut down, T terminated. The test fails if programs do not make it there, or if\nan exported call has no row. Where a letter is missing,\n\n")
	b.WriteString("* no body runs in the states N and T, listeners run off the loop in T, and hooks and the ends of channels belong to a shutdown;\n* a spawner calls Execute only, in the state in which the loop starts;\n* or the reason is in the last table.\n\n")
	fmt.Fprintf(&b, "| call | %s |\n|---%s|\n", strings.Join(contexts, " | "), strings.Repeat("|---", len(contexts)))
	var missing []string
	for _, call := range calls {
		if why := unmade[call]; why != "" {
			missing = append(missing, fmt.Sprintf("| `%s` | %s |\n", call, why))
			continue
		}
		fmt.Fprintf(&b, "| `%s` |", call)
		for _, context := range contexts {
			fmt.Fprintf(&b, " %s |", cmp.Or(cell(call, context), "-"))
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "\nCalls and options that are not in the table:\n\n| call | made by |\n|---|---|\n%s", strings.Join(missing, ""))
	b.WriteString("\nContexts from which no program calls:\n\n| context | why |\n|---|---|\n")
	var rest []string
	for context, why := range unmadeContexts {
		rest = append(rest, fmt.Sprintf("| %s | %s |\n", context, why))
	}
	slices.Sort(rest)
	b.WriteString(strings.Join(rest, ""))
	b.WriteString("\nCells without a call:\n\n| call | context | states | why |\n|---|---|---|---|\n")
	for _, not := range impossible {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", not.call, not.context, not.states, not.why)
	}
	return b.String()
}

// ofPool is the call on a pool that programs make where they make this one on an executor.
func ofPool(call string) string {
	if method, is := strings.CutPrefix(call, "Executor."); is {
		return "Pool." + method
	}
	return call
}

// base is the call beside which another one is made.
func base(call string) string {
	if method, is := strings.CutPrefix(call, "Pool."); is && alongWith["Executor."+method] != "" {
		return ofPool(alongWith["Executor."+method])
	}
	if other := alongWith[call]; other != "" {
		return other
	}
	return call
}

// TestEveryCall: each exported call and option of core has a row in the table, made from
// the types of core, or a reason; and programs still make the calls where the table says.
func TestEveryCall(t *testing.T) {
	calls := exportedCalls(t)
	calls = slices.DeleteFunc(calls, func(call string) bool {
		return strings.HasPrefix(call, "Group.") // the programs of G21 are of another kind
	})
	made := map[string]bool{"Executor.Stats": true, "Executor.ScheduleTimer": true, "Executor.Running": true, "Executor.TryExecute": true, "Future.Cancel": true}
	for _, call := range callOf {
		made[call] = true
	}
	for call := range alongWith {
		made[call] = true
	}
	for _, ask := range slices.Concat([]Ask{AskPromise, AskResize}, asksOfPromises, otherAsks) {
		made[string(ask)] = true
	}
	for call := range maps.Clone(made) {
		if pooled := ofPool(call); slices.Contains(calls, pooled) {
			made[pooled] = true
		}
	}
	for _, call := range calls {
		assert.NotEqual(t, made[call], unmade[call] != "", "%s: programs are to make it, or unmade is to say why not", call)
	}
	for call := range unmade {
		require.Contains(t, calls, call, "there is no such call")
	}
	for call := range made {
		require.Contains(t, calls, call, "there is no such call")
	}

	path := filepath.Join("..", "testdata", "calls", "table.md")
	if *updateCalls {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(tableOf(calls)), 0o644))
	}
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, tableOf(calls), string(text), "-update-calls writes the table")
	seen := seenPlaces(t, callLimit, func(seen map[string]map[place]int) bool { return len(lostPlaces(calls, seen)) == 0 })
	require.Empty(t, lostPlaces(calls, seen), "programs do not make these calls")
}

// lostPlaces are the places of the table at which no call was seen.
func lostPlaces(calls []string, seen map[string]map[place]int) (lost []string) {
	for _, call := range calls {
		if unmade[call] != "" {
			continue
		}
		for _, context := range contexts {
			for s, letter := range stateLetters {
				if strings.ContainsRune(cell(call, context), letter) && seen[base(call)][place{context, history.State(s)}] == 0 {
					lost = append(lost, fmt.Sprintf("%s in a %s, state %v", call, context, history.State(s)))
				}
			}
		}
	}
	return lost
}
