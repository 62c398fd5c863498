package props

import (
	"maps"
	"slices"

	"eventide/model"
	"eventide/props/history"
)

// bodyOf returns the model's body for an event.
func (r *refinement) bodyOf(e *history.Event) model.Body {
	if name := bodyKinds[e.Body]; name != nil {
		return name(e.ID)
	}
	return r.named(e.ID)
}

// begins returns the begin of a body.
func (r *refinement) begins(e *history.Event) model.Action {
	a := model.Action{Kind: model.StepBegin, Body: r.bodyOf(e)}
	if e.Body == model.Drain || e.Body == model.Abort {
		a.Part = e.Body
	}
	return a
}

// lostFirst returns the loss of the channel before an abort that no shutdown explains. No
// event shows the loss, but the log has the fault that caused it.
func (r *refinement) lostFirst(e *history.Event, before []model.Action) []model.Action {
	if e.Body != history.BodyAbort || !r.faultBefore(e.N) {
		return before
	}
	return append(before, r.lost(e.ID)...)
}

// lost returns the loss of a registration by the poller, if the model allows it.
func (r *refinement) lost(id int) []model.Action {
	a := model.Action{Kind: model.StepLost, Body: r.named(id)}
	if !r.sim.Allows(a) {
		return nil
	}
	return []model.Action{a}
}

func (r *refinement) faultBefore(n int) bool { return r.fault != 0 && r.fault < n }

// registrationEnds returns the end of a registration: by a call, by a newer registration of
// the same number, or by the loop, for a shutdown or because the poller lost it. An owner
// that adds its listener later is notified at that time.
func (r *refinement) registrationEnds(e *history.Event) []model.Action {
	body := r.named(e.ID)
	var actions []model.Action
	switch {
	case e.Outcome == history.Normal || e.Cause == history.CauseReused:
		actions = []model.Action{{Kind: model.OpEnd, From: r.from(e.G), Body: body}}
	case e.Cause == history.CauseOtherError:
		actions = append(r.lost(e.ID), model.Action{Kind: model.StepCloseFD, Body: body})
	default:
		actions = []model.Action{{Kind: model.StepCloseFD, Body: body}}
	}
	if !r.listening(e.ID, e.N) {
		r.unaware[e.ID] = true // the executor does not wait for its owner
	}
	return actions
}

// listening reports whether the owner of a registration had added a listener by n.
func (r *refinement) listening(id, n int) bool { return r.heard[id] != 0 && r.heard[id] < n }

// ownerNotified returns the step of the call of an owner's listener.
func (r *refinement) ownerNotified(e *history.Event) []model.Action {
	body := r.named(e.ID)
	if body.Kind != model.FDBody && body.Kind != model.ChannelBody {
		return nil
	}
	if _, alone := r.unaware[e.ID]; alone {
		return nil
	}
	return []model.Action{{Kind: model.StepNotified, Body: body}}
}

// notifyUnaware returns the notifications for registrations without a listener.
func (r *refinement) notifyUnaware() []model.Action {
	var actions []model.Action
	for _, id := range slices.Sorted(maps.Keys(r.unaware)) {
		if r.unaware[id] {
			r.unaware[id] = false
			actions = append(actions, model.Action{Kind: model.StepNotified, Body: r.named(id)})
		}
	}
	return actions
}
