package poll

// A Forgetter is a poller that counts the descriptors it watches. Forgot says that the
// kernel has dropped a descriptor because it was closed, and that Remove will not be
// called for it: its number has just been added again.
type Forgetter interface{ Forgot() }

// A PollTracker is a poller whose Wait may return without a poll, because a wake-up was
// pending. Polled reports whether the last Wait has polled. Loop only.
type PollTracker interface{ Polled() bool }

// A SleepCounter is a poller that may find work before it parks, and so knows better than
// the executor how often it has parked. Any goroutine may call the methods.
type SleepCounter interface {
	Parks() int64 // calls of Wait that parked, counted when they park
	Spins() int64 // calls of Wait that found work or a wake-up before
}

// An AlarmStopper is a poller that sleeps by an Alarm of a Clock. StopAlarm stops the
// alarm, and reports whether its call has begun; it does not wait for that call. The next
// Wait sets another alarm. Loop only.
type AlarmStopper interface{ StopAlarm() (begun bool) }
