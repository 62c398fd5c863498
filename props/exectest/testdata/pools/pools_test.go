package pools

import (
	"testing"
	"time"

	"eventide/props/exectest"
)

// pool is what the executors of this package have in common.
type pool interface {
	Submit(task func()) error
	Stop()
	Done() <-chan struct{}
}

// subject wraps a pool for the kit.
type subject struct{ pool }

func (s subject) Execute(task func()) error { return s.Submit(task) }

func (s subject) Shutdown(quiet, timeout time.Duration) error {
	if quiet < 0 || timeout < quiet {
		return errArgument
	}
	s.Stop()
	return nil
}

// check puts a pool under the kit. It promises neither a quiet period nor to survive a
// panic.
func check(t *testing.T, make func() pool, opts ...exectest.Option) {
	for _, g := range []string{"G10", "G11", "G14", "G16", "G17"} {
		opts = append(opts, exectest.Without(g, "not promised"))
	}
	opts = append(opts, exectest.Patience(10*time.Second))
	exectest.Run(t, func() exectest.Subject { return subject{make()} }, opts...)
}

// workers says that several goroutines run tasks at once.
func workers() []exectest.Option {
	return []exectest.Option{exectest.Without("G2", "several workers"), exectest.Without("G4", "several workers")}
}

// unused is the time after which workers end.
const unused = time.Second

func TestSleepFlag(t *testing.T)    { check(t, func() pool { return newSleeper(true) }) }
func TestMailbox(t *testing.T)      { check(t, func() pool { return newMailbox(true) }) }
func TestPushAndLink(t *testing.T)  { check(t, func() pool { return newLinked(true) }) }
func TestSendOnClosed(t *testing.T) { check(t, func() pool { return newChannelled(true) }) }
func TestLostInDrain(t *testing.T)  { check(t, func() pool { return newDrainer(true) }) }
func TestAddAfterWait(t *testing.T) { check(t, func() pool { return newGroup(true) }, workers()...) }
func TestDoubleStop(t *testing.T)   { check(t, func() pool { return newTwice(true) }) }
func TestWorkerCount(t *testing.T) {
	check(t, func() pool { return newShrinking(true, 1) }, workers()...)
}
func TestLastWorkers(t *testing.T) {
	check(t, func() pool { return newElastic(true, unused) }, workers()...)
}
func TestPurge(t *testing.T) { check(t, func() pool { return newPurged(true, unused) }, workers()...) }

func TestSleepFlagRepaired(t *testing.T)    { check(t, func() pool { return newSleeper(false) }) }
func TestMailboxRepaired(t *testing.T)      { check(t, func() pool { return newMailbox(false) }) }
func TestPushAndLinkRepaired(t *testing.T)  { check(t, func() pool { return newLinked(false) }) }
func TestSendOnClosedRepaired(t *testing.T) { check(t, func() pool { return newChannelled(false) }) }
func TestLostInDrainRepaired(t *testing.T)  { check(t, func() pool { return newDrainer(false) }) }
func TestAddAfterWaitRepaired(t *testing.T) {
	check(t, func() pool { return newGroup(false) }, workers()...)
}
func TestDoubleStopRepaired(t *testing.T) { check(t, func() pool { return newTwice(false) }) }
func TestWorkerCountRepaired(t *testing.T) {
	check(t, func() pool { return newShrinking(false, 1) }, workers()...)
}
func TestLastWorkersRepaired(t *testing.T) {
	check(t, func() pool { return newElastic(false, unused) }, workers()...)
}
func TestPurgeRepaired(t *testing.T) {
	check(t, func() pool { return newPurged(false, unused) }, workers()...)
}

// TestUnorderedBodies lets the tasks of a pool of two workers write one variable.
func TestUnorderedBodies(t *testing.T) {
	check(t, func() pool { return newElastic(false, unused) }, append(workers(), exectest.PlainVariable())...)
}
