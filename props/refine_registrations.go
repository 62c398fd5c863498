package props

import (
	"maps"
	"slices"

	"eventide/model"
	"eventide/props/history"
)

// bodyOf is the model's name of what an event is about.
func (r *refinement) bodyOf(e *history.Event) model.Body {
	if name := bodyKinds[e.Body]; name != nil {
		return name(e.ID)
	}
	return r.named(e.ID)
}

// begins is the begin of a body.
func (r *refinement) begins(e *history.Event) model.Action {
	a := model.Action{Kind: model.KindBegin, Body: r.bodyOf(e)}
	if e.Body == model.Drain || e.Body == model.Abort {
		a.Part = e.Body
	}
	return a
}

// lostFirst puts in front of an abort that no shutdown explains that the poller has
// lost the channel: no event says so, but the fault that did it is in the log.
func (r *refinement) lostFirst(e *history.Event, before []model.Action) []model.Action {
	if e.Body != history.BodyAbort || !r.faultBefore(e.N) {
		return before
	}
	return append(before, r.lost(e.ID)...)
}

// lost is that the poller loses a registration, if that is possible.
func (r *refinement) lost(id int) []model.Action {
	a := model.Action{Kind: model.KindLost, Body: r.named(id)}
	if len(model.Step(r.sim.Set(), a)) == 0 {
		return nil
	}
	return []model.Action{a}
}

func (r *refinement) faultBefore(n int) bool {
	for i := range r.events[:n-1] {
		if r.events[i].Kind == history.Fault {
			return true
		}
	}
	return false
}

// registrationEnds is the end of a registration: by a call, by another that has its
// number now, or by the loop, for a shutdown or because the poller has lost it. An
// owner who asked to be told only afterwards is told whenever that is.
func (r *refinement) registrationEnds(e *history.Event) []model.Action {
	body := r.named(e.ID)
	var actions []model.Action
	switch {
	case e.Outcome == history.Normal || e.Cause == history.CauseReused:
		actions = []model.Action{{Kind: model.KindUnregister, From: r.from(e.G), Body: body}}
	case e.Cause == history.CauseOtherError:
		actions = append(r.lost(e.ID), model.Action{Kind: model.KindCloseFD, Body: body})
	default:
		actions = []model.Action{{Kind: model.KindCloseFD, Body: body}}
	}
	if !r.listening(e.ID, e.N) {
		r.unaware[e.ID] = true // nobody waits for him
	}
	return actions
}

// listening reports whether the owner of a registration had asked to be told by n.
func (r *refinement) listening(id, n int) bool {
	for i := range r.events[:n-1] {
		if e := &r.events[i]; e.Kind == history.Return && e.Op == history.OpListen && e.ID == id {
			return true
		}
	}
	return false
}

// ownerTold is the call of an owner's listener.
func (r *refinement) ownerTold(e *history.Event) []model.Action {
	body := r.named(e.ID)
	if body.Kind != model.FDBody && body.Kind != model.ChannelBody {
		return nil
	}
	if _, alone := r.unaware[e.ID]; alone {
		return nil
	}
	return []model.Action{{Kind: model.KindNotified, Body: body}}
}

// tellUnaware is the model's word for the registrations that nobody waits for.
func (r *refinement) tellUnaware() []model.Action {
	var actions []model.Action
	for _, id := range slices.Sorted(maps.Keys(r.unaware)) {
		if r.unaware[id] {
			r.unaware[id] = false
			actions = append(actions, model.Action{Kind: model.KindNotified, Body: r.named(id)})
		}
	}
	return actions
}
