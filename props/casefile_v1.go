package props

import (
	"bytes"
	"encoding/json"
	"fmt"

	"eventide/props/history"
)

// Case files of version 1 have numbers where later versions have words. The numbers are
// the constants of that time, and never change.
var (
	opsOfVersion1 = map[int64]history.Op{
		1: history.OpExecute, 2: history.OpExecuteLazy, 3: history.OpSubmit, 4: history.OpAfterIteration,
		5: history.OpSchedule, 6: history.OpFixedRate, 7: history.OpFixedDelay,
		8: history.OpAddHook, 9: history.OpRemoveHook, 10: history.OpCancel,
		11: history.OpShutdownGracefully, 12: history.OpShutdown, 13: history.OpClose, 14: history.OpAwait, 15: history.OpState,
		19: history.OpRegister, 20: history.OpRegisterChannel, 21: history.OpModify, 22: history.OpEnd, 23: history.OpListen,
	}
	endsOfVersion1   = map[int64]history.Outcome{13: history.Normal, 15: history.Panicked, 16: history.Exited}
	timersOfVersion1 = map[int64]history.TimerPolicy{0: history.CancelTimers, 1: history.RunDueTimers, 2: history.RunTimersUntilTimeout}
	drainsOfVersion1 = map[int64]history.DrainPolicy{0: history.DrainChannels, 1: history.CloseChannels}
)

// upgraded converts a case file of version 1 to this version, and returns any other file
// unchanged.
func upgraded(data []byte) ([]byte, error) {
	var file struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(data, &file); err != nil || file.Version != 1 {
		return data, nil // LoadCase returns the error
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var all object
	if err := dec.Decode(&all); err != nil {
		return nil, err
	}
	all["version"] = caseVersion
	u := upgrade{}
	p := all.child("program")
	toWord(&u, p, "timers", timersOfVersion1)
	toWord(&u, p, "drain", drainsOfVersion1)
	for _, actor := range p.children("actors") {
		u.steps(actor)
	}
	if u.err != nil {
		return nil, u.err
	}
	return json.Marshal(all)
}

// upgrade replaces numbers by words, and keeps the first error.
type upgrade struct{ err error }

// steps converts the steps of an actor or a body.
func (u *upgrade) steps(in object) {
	for _, s := range in.children("steps") {
		if s["op"] == json.Number("0") { // a step with an env
			delete(s, "op")
		}
		toWord(u, s, "op", opsOfVersion1)
		toWord(u, s, "askedEnd", endsOfVersion1)
		u.script(s.child("body"))
	}
}

func (u *upgrade) script(body object) {
	if body == nil {
		return
	}
	toWord(u, body, "end", endsOfVersion1)
	u.steps(body)
	u.script(body.child("listener"))
}

// toWord replaces the number of a field, if the field exists.
func toWord[T fmt.Stringer](u *upgrade, o object, field string, values map[int64]T) {
	text, there := o[field].(json.Number)
	if !there {
		return
	}
	n, err := text.Int64()
	v, known := values[n]
	if err != nil || !known {
		u.err = fmt.Errorf("%s is %v, which version 1 does not have", field, text)
		return
	}
	o[field] = v.String()
}

// object returns a field as a JSON object, or nil if it does not exist.
type object map[string]any

func (o object) child(name string) object {
	c, _ := o[name].(map[string]any)
	return c
}

func (o object) children(name string) (list []object) {
	all, _ := o[name].([]any)
	for _, v := range all {
		c, _ := v.(map[string]any)
		list = append(list, c)
	}
	return list
}
