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

	"eventide/core"
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
		if named, is := types.Unalias(object.Type()).(*types.Named); is && !types.IsInterface(named) {
			for m := range named.Methods() {
				if m.Exported() {
					names = append(names, name+"."+m.Name())
				}
			}
		}
	}
	return names
}

const (
	callLimit = 2400 // programs of each guarantee after which a place that was not seen is lost
	callCells = 80   // programs with a cell for each program of every guarantee
)

// seenPlaces runs programs of every guarantee, and programs with cells, until enough holds, or the limit is reached.
func seenPlaces(t *testing.T, limit int, enough func(callsSeen) bool) callsSeen {
	t.Helper()
	seen := callsSeen{}
	run := func(profile Profile, n int) {
		profile.Wide = true
		p := Programs(profile).Example(n)
		var out Recording
		synctest.Test(t, func(*testing.T) { out = Run(p) })
		v, err := Judge(p, out)
		require.NoError(t, err)
		require.Empty(t, v.Violations, "program %d of %v:\n%v", n, profile, p)
		for call, at := range places(p, out) {
			for where, n := range at {
				seen.add(call, where, n)
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
			seeGroup(t, seen, GroupPrograms().Example(callCells*n+i))
		}
		if enough(seen) {
			break
		}
	}
	return seen
}

// seeGroup runs a program of G21 that is a cell, and adds its calls.
func seeGroup(t *testing.T, seen callsSeen, p GroupProgram) {
	t.Helper()
	if p.Cell.Context == "" {
		return
	}
	wrong := ""
	synctest.Test(t, func(*testing.T) {
		wrong = p.runCell(func(call, context string, at core.State) { seen.add(call, place{context, history.State(at)}, 1) })
	})
	require.Empty(t, wrong, "%+v", p)
}

// stateLetters name the states in the table.
const stateLetters = "NSDXT"

// tableOf is the table as text.
func tableOf(calls []string) string {
	var b strings.Builder
	b.WriteString("# Calls of core in generated programs\n\nWritten by `go test ./props -run TestEveryCall -update-calls`. A letter is a state in which programs of fixed seeds make the call in\nthat context: N not started, S started, D shutting down, X shut down, T terminated. The test fails if programs do not make it there, or if\nan exported call has no row. Where a letter is missing,\n\n")
	b.WriteString("* no body runs in the states N and T, listeners run off the loop in T, and hooks and the ends of channels belong to a shutdown;\n* a spawner is called by a start and after each Goexit, and the functions of Termination.OnDone after the end;\n* or the reason is in the last table.\n\n")
	fmt.Fprintf(&b, "| call | %s |\n|---%s|\n", strings.Join(contexts, " | "), strings.Repeat("|---", len(contexts)))
	var missing []string
	for _, call := range calls {
		if why := whyUnmade(call); why != "" {
			if of, _, is := strings.Cut(call, "."); is && unmadeTypes[of] != "" {
				call = of + ".*"
			}
			missing = append(missing, fmt.Sprintf("| `%s` | %s |\n", call, why))
			continue
		}
		fmt.Fprintf(&b, "| `%s` |", call)
		for _, context := range contexts {
			fmt.Fprintf(&b, " %s |", cmp.Or(cell(call, context), "-"))
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "\nCalls and options that are not in the table:\n\n| call | made by |\n|---|---|\n%s", strings.Join(slices.Compact(missing), ""))
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
	made := map[string]bool{}
	for _, call := range callsByMore {
		made[call] = true
	}
	for _, call := range groupCalls {
		made["Group."+call] = true
	}
	for _, call := range callOf {
		made[call] = true
	}
	for call := range alongWith {
		made[call] = true
	}
	for _, ask := range slices.Concat([]Ask{AskPromise, AskResize, AskRunning}, asksOfPromises, otherAsks) {
		made[string(ask)] = true
	}
	for call := range maps.Clone(made) {
		if pooled := ofPool(call); slices.Contains(calls, pooled) {
			made[pooled] = true
		}
	}
	for _, call := range calls {
		assert.NotEqual(t, made[call], whyUnmade(call) != "", "%s: programs are to make it, or unmade is to say why not", call)
	}
	for call := range unmade {
		require.Contains(t, calls, call, "there is no such call")
	}
	for of := range unmadeTypes {
		require.True(t, slices.ContainsFunc(calls, func(call string) bool { return strings.HasPrefix(call, of+".") }), "%s has no methods", of)
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
	seen := seenPlaces(t, callLimit, func(seen callsSeen) bool { return len(lostPlaces(calls, seen)) == 0 })
	require.Empty(t, lostPlaces(calls, seen), "programs do not make these calls")
}

// lostPlaces are the places of the table at which no call was seen.
func lostPlaces(calls []string, seen callsSeen) (lost []string) {
	for _, call := range calls {
		if whyUnmade(call) != "" {
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
