package watch_test

import (
	"cmp"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/watch"

	"pgregory.net/rapid"
)

// foreign is an executor that is not of package core.
type foreign struct{ core.EventExecutor }

// embedding is a type of a user.
type embedding struct{ *core.Executor }

// team is a group that core did not make.
type team struct {
	core.EventExecutor
	members []core.EventExecutor
}

func (g team) All() iter.Seq[core.EventExecutor] { return slices.Values(g.members) }

// drawSubject makes an argument of Watch with a name. It returns the names under which it is listed if no name is in use,
// or the error.
func drawSubject(t *testing.T, r *rapid.T) (ex core.EventExecutor, listed []string, wrong string) {
	name := rapid.SampledFrom([]string{"a", "b", "a#2"}).Draw(r, "name")
	named := core.WithName(name)
	switch kind := rapid.SampledFrom([]string{"executor", "pool", "loop", "group", "loops", "embedding", "team", "nil", "foreign"}).Draw(r, "kind"); kind {
	case "executor":
		return coretest.NewExecutor(t, named), []string{name}, ""
	case "embedding":
		return embedding{coretest.NewExecutor(t, named)}, []string{name}, ""
	case "pool":
		return coretest.NewPool(t, 2, named), []string{name}, ""
	case "loop":
		loop, err := core.NewEventLoop(named)
		coretest.Must(t, err)
		t.Cleanup(func() { <-loop.Shutdown().Done() })
		return loop, []string{name}, ""
	case "group", "loops":
		n := rapid.IntRange(1, 3).Draw(r, "children")
		for i := range n {
			listed = append(listed, fmt.Sprint(name, "-", i))
		}
		if kind == "loops" {
			return coretest.NewGroup(t, n, named), listed, ""
		}
		return coretest.NewExecutorGroup(t, n, named), listed, ""
	case "team":
		all := team{}
		for range rapid.IntRange(0, 2).Draw(r, "members") {
			member, names, refused := drawSubject(t, r)
			all.members, listed, wrong = append(all.members, member), append(listed, names...), cmp.Or(wrong, refused)
		}
		return all, listed, wrong
	case "nil":
		return nil, nil, "it is nil, want an executor"
	}
	return foreign{}, nil, "it is a watch_test.foreign, want a *core.Executor"
}

// TestPropSubjects: Watch lists each executor, and each child of a group or of a type with the method All, in order and under a name that no other has; or,
// if one argument is no executor, it says which, and lists none. It starts none of them (G17). A nil group or listener
// is logged and not listed.
func TestPropSubjects(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var log coretest.Log
		w := &watch.Watcher{Logger: slog.New(slog.NewTextHandler(&log, nil))}
		var want, errors []string
		for range rapid.IntRange(1, 3).Draw(r, "calls") {
			switch name := rapid.SampledFrom([]string{"a", "b"}).Draw(r, "name of nil"); rapid.SampledFrom([]string{"", "", "group", "listener"}).Draw(r, "nil") {
			case "group":
				w.WatchFunctions(name, nil)
				errors = append(errors, `level=ERROR msg="WatchFunctions: the group is nil: nothing is watched" name=`+name)
			case "listener":
				w.WatchListener(name, nil)
				errors = append(errors, `level=ERROR msg="WatchListener: the listener is nil: nothing is watched" name=`+name)
			}
			var executors []core.EventExecutor
			var added []string
			var mistake error
			for i := range rapid.IntRange(0, 3).Draw(r, "arguments") {
				ex, listed, wrong := drawSubject(t, r)
				executors, added = append(executors, ex), append(added, listed...)
				if wrong != "" && mistake == nil {
					mistake = fmt.Errorf("watch: Watch: executor %d: %s", i, wrong)
				}
			}
			err := w.Watch(executors...)
			if (err == nil) != (mistake == nil) || err != nil && !strings.HasPrefix(err.Error(), mistake.Error()) {
				r.Fatalf("Watch: %v, want %v", err, mistake)
			}
			if mistake != nil {
				continue
			}
			for _, name := range added {
				want = append(want, free(name, want))
			}
		}
		var got []string
		for _, s := range w.Statuses() {
			got = append(got, s.Name)
			if s.Stats.State != core.StateNotStarted {
				r.Fatalf("G17: %s is %v", s.Name, s.Stats.State)
			}
		}
		if !slices.Equal(got, want) {
			r.Fatalf("listed: %q, want %q", got, want)
		}
		lines := slices.Collect(strings.Lines(log.String()))
		if len(lines) != len(errors) {
			r.Fatalf("the log has the lines %q, want %q", lines, errors)
		}
		for i, line := range lines {
			if !strings.HasSuffix(line, errors[i]+"\n") {
				r.Fatalf("the log has the lines %q, want %q", lines, errors)
			}
		}
	})
}

// free returns the name, or the first one with a number that is not in use.
func free(name string, used []string) string {
	for i := 2; ; i++ {
		candidate := name
		if i > 2 || slices.Contains(used, name) {
			candidate = fmt.Sprint(name, "#", i)
		}
		if !slices.Contains(used, candidate) {
			return candidate
		}
	}
}
