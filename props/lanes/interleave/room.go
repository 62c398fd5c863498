package interleave

import (
	"fmt"

	"eventide/props"
	"eventide/props/history"
)

// overfull looks for a task that a full bounded queue accepted (G19). A task takes room
// until it begins; core frees the room when it decides that the task is next, before
// the log has the Begin. So the other properties allow one task too many while a Begin
// may be under way. Under chosen schedules that is too lenient: here one task too many
// is right only if the next event of the loop, of any kind, is the Begin of a task. In a
// pool each worker may have decided so. Programs with a spawner of their own are not judged:
// the loop may run on the goroutine of a caller.
func overfull(p props.Program, events []history.Event) *history.Violation {
	if p.Limit == 0 || len(p.Starts) > 0 {
		return nil
	}
	loops := map[int64]bool{}
	for i := range events {
		e := &events[i]
		if e.Kind == history.Begin && e.Body != history.BodyListener || e.Kind == history.Park {
			loops[e.G] = true
		}
	}
	skipped := cancelled(events)
	room, waiting := max(leastBound, p.Limit), 0
	for i := range events {
		e := &events[i]
		switch {
		case e.Kind == history.Admit && skipped[e.ID]:
		case e.Kind == history.Begin && takesRoom(e.Body):
			waiting--
		case e.Kind == history.Admit && e.Outcome == history.Accepted && queued(e.Op):
			waiting++
			if waiting <= room || waiting-room <= deciders(events[i+1:], loops, e.G, p.Overlaps()) {
				continue
			}
			g, _ := props.Lookup("G19")
			return &history.Violation{
				Guarantee: g.ID, Predicate: "room", Sentence: g.Sentence, At: []int{e.N},
				Text: fmt.Sprintf("at #%d %d tasks wait in a queue that has room for %d, and the loop does not begin one", e.N, waiting, room),
			}
		}
	}
	return nil
}

// cancelled returns the tasks that were cancelled. The loop skips them when their turn
// comes, which the history does not show, so overfull counts them as if they took no
// room.
func cancelled(events []history.Event) map[int]bool {
	ids := map[int]bool{}
	for i := range events {
		e := &events[i]
		if e.Kind == history.Return && e.Outcome == history.True && events[e.Call-1].Op == history.OpCancel {
			ids[events[e.Call-1].ID] = true
		}
	}
	return ids
}

// deciders returns how many loops other than that of goroutine g have decided on a task: the
// next event of each is the Begin of a task. Unless there are several workers, the loop may move
// to another goroutine, and only the next event of any of them counts.
func deciders(events []history.Event, loops map[int64]bool, g int64, workers bool) (n int) {
	if loops[g] && !workers {
		return 0
	}
	seen := map[int64]bool{g: true}
	for i := range events {
		e := &events[i]
		if seen[e.G] || !loops[e.G] {
			continue
		}
		seen[e.G] = true
		if e.Kind == history.Begin && takesRoom(e.Body) {
			n++
		}
		if !workers {
			break
		}
	}
	return n
}

func takesRoom(b history.Body) bool { return b == history.BodyTask || b == history.BodyTail }

func queued(o history.Op) bool {
	switch o {
	case history.OpExecute, history.OpExecuteLazy, history.OpSubmit, history.OpAfterIteration:
		return true
	}
	return false
}
