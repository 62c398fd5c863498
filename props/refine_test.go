package props_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"eventide/props"
	"eventide/props/history"
)

// fullQueue is a history with a queue of 16: task 1 runs, and 2 to 17 wait.
func fullQueue() string {
	var b strings.Builder
	b.WriteString("g1 invoke execute 1\ng1 state NotStarted->Started\ng1 admit execute 1 accepted\ng1 return execute 1 accepted\nloop begin task 1\n")
	for id := 2; id <= 17; id++ {
		fmt.Fprintf(&b, "g1 invoke execute %d\ng1 admit execute %[1]d accepted\ng1 return execute %[1]d accepted\n", id)
	}
	return b.String()
}

func refine(t *testing.T, lines string) *history.Violation {
	t.Helper()
	tr, err := history.Parse(strings.NewReader("verdict: good\nrules: virtual rest states bound=16\n" + lines))
	require.NoError(t, err)
	require.Equal(t, 16, tr.Rules.Capacity())
	return props.Refine(tr.Events, tr.Rules)
}

// lateRefusal follows fullQueue: a caller finds the queue full, and says so when a task has begun.
const lateRefusal = `g2 invoke execute 18
loop end task 1
loop begin task 2
loop end task 2
g2 admit execute 18 refused:full
g2 return execute 18 refused:full
`

// TestRefineG19RefusalWrittenDownLate: the loop needs no lock to begin a task, so
// one may begin between the moment at which a caller finds the queue full and the
// moment at which it says so.
func TestRefineG19RefusalWrittenDownLate(t *testing.T) {
	assert.Nil(t, refine(t, fullQueue()+lateRefusal))
}

// TestRefineG19RefusalBeginsNothing: a refusal that is written down late is no reason to take the
// next task as begun, because a task that begins makes room.
func TestRefineG19RefusalBeginsNothing(t *testing.T) {
	const later = `g3 invoke execute 19
g3 admit execute 19 accepted
g3 return execute 19 accepted
g3 invoke execute 20
g3 admit execute 20 refused:full
g3 return execute 20 refused:full
loop begin task 3
loop end task 3
`
	assert.Nil(t, refine(t, fullQueue()+lateRefusal+later))
}

// TestRefineG19RefusalWithRoom: the moment lies in the call, and after everything
// else that is decided under the lock.
func TestRefineG19RefusalWithRoom(t *testing.T) {
	for name, lines := range map[string]string{
		"before the call": `loop end task 1
loop begin task 2
g2 invoke execute 18
g2 admit execute 18 refused:full
`,
		"before the last decision": `g2 invoke execute 18
loop end task 1
loop begin task 2
g3 invoke hook 19
g3 admit hook 19 accepted
g2 admit execute 18 refused:full
`,
	} {
		t.Run(name, func(t *testing.T) {
			v := refine(t, fullQueue()+lines)
			require.NotNil(t, v)
			assert.Equal(t, "G5", v.Guarantee, "%s", v.Text)
		})
	}
}

// TestRefineG19TwoWaysToMakeRoom: room for a task comes from a tail task that has begun, which
// the log shows late, or from a cancelled task that the loop has dropped, which it never
// shows. Only later events tell which of the two it was; here each of them is needed.
func TestRefineG19TwoWaysToMakeRoom(t *testing.T) {
	var b strings.Builder
	b.WriteString("g1 invoke execute 1\ng1 state NotStarted->Started\ng1 admit execute 1 accepted\ng1 return execute 1 accepted\nloop begin task 1\n")
	for id := 2; id <= 17; id++ {
		call := map[int]string{2: "submit", 3: "tail"}[id]
		if call == "" {
			call = "execute"
		}
		fmt.Fprintf(&b, "g1 invoke %s %d\ng1 admit %[1]s %[2]d accepted\ng1 return %[1]s %[2]d accepted\n", call, id)
	}
	b.WriteString(`g1 invoke cancel 2
g1 return cancel 2 true
loop end task 1
g1 invoke execute 18
g1 admit execute 18 accepted
g1 return execute 18 accepted
loop begin tail 3
`)
	admit := func(id int, outcome string) string {
		return fmt.Sprintf("loop invoke execute %d\nloop admit execute %[1]d %[2]s\nloop return execute %[1]d %[2]s\n", id, outcome)
	}
	assert.Nil(t, refine(t, b.String()+admit(19, "refused:full")), "the tail task had begun, and the cancelled task is in the queue")
	assert.Nil(t, refine(t, b.String()+admit(19, "accepted")+admit(20, "refused:full")), "the cancelled task had been dropped")
	v := refine(t, b.String()+admit(19, "accepted")+admit(20, "accepted"))
	require.NotNil(t, v, "there was room for one task more")
	assert.Equal(t, "G19", v.Guarantee, "%s", v.Text)
}

// TestRefineG8TimerAfterTheShutdownCall: the log has a shutdown call, then the Begin of a timer. It
// may have begun before the call took effect, or be one that the policy lets run.
func TestRefineG8TimerAfterTheShutdownCall(t *testing.T) {
	const rules = "verdict: good\nrules: virtual rest states timers=RunTimersUntilTimeout\n"
	const call = `g1 invoke schedule 12
g1 state NotStarted->Started
g1 admit schedule 12 accepted
g1 return schedule 12 accepted
g1 invoke graceful timeout=1ns
g1 admit graceful true
g1 state Started->ShuttingDown
g1 return graceful accepted
g1 invoke reset 12
g1 admit reset 12 %[1]v
g1 return reset 12 %[1]v
loop begin timer 12 run=1
loop end timer 12 run=1
`
	for _, moved := range []bool{true, false} {
		tr, err := history.Parse(strings.NewReader(rules + fmt.Sprintf(call, moved)))
		require.NoError(t, err)
		assert.Nil(t, props.Refine(tr.Events, tr.Rules), "Reset returns %v", moved)
	}
}

// TestRefineG22AbortDecidedBeforeTheEnd: the loop has decided to tell a channel that the
// poller has lost it, and its owner ends it in the moment before the loop can say so.
func TestRefineG22AbortDecidedBeforeTheEnd(t *testing.T) {
	const lines = `g1 invoke channel 9
g1 state NotStarted->Started
g1 admit channel 9 accepted
g1 return channel 9 accepted
loop park Started
loop fault 9 refused:poller
loop unpark
g2 invoke end 9
g2 ended 9 normal
g2 return end 9 returned
loop begin abort 9
loop end abort 9
`
	assert.Nil(t, refine(t, lines))
	v := refine(t, strings.Replace(lines, "loop fault 9 refused:poller\n", "", 1))
	require.NotNil(t, v, "without a fault nothing explains the abort")
}

// cancelOfATakenRun has a Cancel that returns true between the moment at which the loop dequeues a
// run of a timer and the Begin of that run.
const cancelOfATakenRun = `g1 invoke execute 1
g1 state NotStarted->Started
g1 admit execute 1 accepted
g1 return execute 1 accepted
loop begin task 1
g1 invoke %[1]s
g1 admit %[2]s 2 accepted
g1 return %[2]s 2 accepted
loop end task 1
g1 invoke cancel 2
g1 admit cancel 2 true
loop begin timer 2
g1 return cancel 2 true
loop end timer 2
%[3]s`

// TestRefineG8CancelOfATakenRun: of a periodic timer the run that the loop has dequeued is the last;
// no further run begins, and a timer of one run is not cancelled.
func TestRefineG8CancelOfATakenRun(t *testing.T) {
	const rate = "rate 2 delay=0s period=1ms"
	assert.Nil(t, refine(t, fmt.Sprintf(cancelOfATakenRun, rate, "rate", "")))
	for name, lines := range map[string]string{
		"another run": fmt.Sprintf(cancelOfATakenRun, rate, "rate", "loop begin timer 2 run=2\n"),
		"one shot":    fmt.Sprintf(cancelOfATakenRun, "schedule 2 delay=0s", "schedule", ""),
	} {
		v := refine(t, lines)
		require.NotNil(t, v, name)
		assert.Equal(t, "G8", v.Guarantee, name)
	}
}

// cancelAtTheTakenRun has a Cancel that returns false after the close of admission. The policy lets a timer run that was due
// before the timeout, and cancels the others; the log does not say which of them this one is.
const cancelAtTheTakenRun = `verdict: good
rules: virtual rest states bound=16 timers=RunTimersUntilTimeout
g1 invoke graceful quiet=15ms timeout=16ms
g1 admit graceful true
g1 state NotStarted->ShuttingDown
g1 return graceful accepted
g1 invoke hook 1
g1 admit hook 1 accepted
g1 return hook 1 accepted
g1 invoke hook 3
g1 admit hook 3 accepted
g1 return hook 3 accepted
g1 invoke schedule 2 delay=1ms
g1 admit schedule 2 accepted
g1 return schedule 2 accepted
loop begin hook 1
g3 state ShuttingDown->Shutdown cause=timeout
loop end hook 1
g1 invoke cancel 2
g1 admit cancel 2 false
g1 return cancel 2 false
`

// TestRefineG8CancelAtTheTakenRun: Cancel returns false if the policy has cancelled the timer, and if the loop has dequeued it,
// which the log may show later. No other body comes in between.
func TestRefineG8CancelAtTheTakenRun(t *testing.T) {
	for end, guarantee := range map[string]string{
		"": "", "loop begin timer 2\nloop end timer 2\n": "", "loop begin timer 2\nloop end timer 2\nloop begin timer 2 run=2\n": "G3",
		"loop begin hook 3\nloop end hook 3\nloop begin timer 2\n": "G8",
	} {
		tr, err := history.Parse(strings.NewReader(cancelAtTheTakenRun + end))
		require.NoError(t, err)
		v := props.Refine(tr.Events, tr.Rules)
		if guarantee == "" {
			assert.Nil(t, v, "%s", end)
		} else if assert.NotNil(t, v, "%s", end) {
			assert.Equal(t, guarantee, v.Guarantee, "%s", v.Text)
		}
	}
}
