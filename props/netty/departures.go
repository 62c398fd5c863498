package netty

// A Departure is a row of the table "Departures from Netty" of the contract. It names the
// rules of Netty that Eventide departs from.
type Departure struct {
	Rules   []string
	Netty   string
	Program bool   // sequential programs on Netty 4.1.48 can show it, and must
	Show    string // otherwise: the command of the driver that shows it by its own test
	Reason  string // otherwise: why it is not shown
}

// Departures is the whole table of docs/netty.md.
var Departures = []Departure{
	{Rules: []string{"R11"}, Netty: "a failed start throws but keeps the task", Program: true},
	{Rules: []string{"R26"}, Netty: "a task accepted during termination can be lost", Show: "R26"},
	{Rules: []string{"R116", "R117", "R50"}, Netty: "the timeout is no deadline for admission", Program: true},
	{Rules: []string{"R120"}, Netty: "hooks wait for a pass without tasks, or are skipped", Program: true},
	{Rules: []string{"R119"}, Netty: "a hook may add hooks for ever", Program: true},
	{Rules: []string{"R119 removal", "R119 copy"}, Netty: "removing a hook from outside is a task, which is refused after the close; one that is about to run stays", Program: true},
	{Rules: []string{"R119 task"}, Netty: "adding a hook from outside is a task: it wakes the loop, and comes behind hooks that earlier tasks add", Program: true},
	{Rules: []string{"R113"}, Netty: "the quiet period counts from before the call, and in steps of 100 ms", Program: true},
	{Rules: []string{"R114"}, Netty: "tasks stall while a step is slept", Program: true},
	{Rules: []string{"R105"}, Netty: "the parameters of a shutdown are written after the state", Reason: "a race of some instructions: not hit in 3000 tries"},
	{Rules: []string{"R101"}, Netty: "shutdown after shutdownGracefully is ignored", Program: true},
	{Rules: []string{"R18"}, Netty: "a throwing task ends a DefaultEventExecutor", Program: true},
	{Rules: []string{"R133"}, Netty: "isTerminated before the future is done", Show: "R133"},
	{Rules: []string{"R137"}, Netty: "waiting for the termination future in the loop is not refused", Program: true},
	{Rules: []string{"R138"}, Netty: "anyone may cancel the termination future", Show: "R138"},
	{Rules: []string{"R158"}, Netty: "listeners are lost when the executor is gone", Program: true},
	{Rules: []string{"R83", "R88", "R135"}, Netty: "futures that never complete", Program: true},
	{Rules: []string{"R87"}, Netty: "timers that are queued run at a shutdown", Program: true},
	{Rules: []string{"R73"}, Netty: "schedule in the loop is accepted for ever", Program: true},
	{Rules: []string{"R75"}, Netty: "a timer from outside that is due when it is polled goes before earlier ones that are due", Program: true},
	{Rules: []string{"R171"}, Netty: "the roll-back of a group waits two seconds", Show: "R171"},
	{Rules: []string{"R172"}, Netty: "a group hides the failure of a child", Show: "R172"},
	{Rules: []string{"R14"}, Netty: "a failed start leaves awaitTermination sleeping", Program: true},
	{Rules: []string{"R199", "R215"}, Netty: "closing channels drops what was not flushed", Reason: "needs I/O"},
	{Rules: []string{"R39", "R40"}, Netty: "tail tasks start nothing, are unbounded, and are forgotten", Program: true},
	{Rules: []string{"R25"}, Netty: "removal by equality takes the wrong copy", Reason: "a race of execute with termination: the copies are told apart by nothing but their order"},
	{Rules: []string{"R89"}, Netty: "huge periods overflow", Reason: "shows as processor time of a 4.2 loop, not in what runs"},
	{Rules: []string{"R196"}, Netty: "a rebuild of the poller may leave a channel deaf", Reason: "needs I/O"},
	{Rules: []string{"R214"}, Netty: "channelInactive is lost when the loop is gone", Reason: "needs I/O"},
}

// A Tally counts the verdicts of programs.
type Tally struct {
	Programs int
	Equal    int            // programs with equal outcomes on Netty and core
	Differ   int            // programs with different outcomes, as predicted
	Wrong    []Verdict      // verdicts that no rule predicts
	Shown    map[string]int // programs that differ and show the rule
	Alone    map[string]int // programs that differ and show only this rule
}

// Add counts a verdict.
func (t *Tally) Add(v Verdict) {
	if t.Shown == nil {
		t.Shown, t.Alone = map[string]int{}, map[string]int{}
	}
	t.Programs++
	switch {
	case len(v.Wrong) > 0:
		t.Wrong = append(t.Wrong, v)
		return
	case !v.Differs:
		t.Equal++
		return
	}
	t.Differ++
	for _, rule := range v.Rules {
		t.Shown[rule]++
		if len(v.Rules) == 1 {
			t.Alone[rule]++
		}
	}
}

// Missing returns the departures that programs can show and that no program has shown.
func (t *Tally) Missing() []Departure {
	var missing []Departure
	for _, d := range Departures {
		shown := 0
		for _, rule := range d.Rules {
			shown += t.Shown[rule]
		}
		if d.Program && shown == 0 {
			missing = append(missing, d)
		}
	}
	return missing
}
