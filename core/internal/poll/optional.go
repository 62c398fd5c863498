package poll

// A Forgetter is a poller that counts the descriptors it watches. Forgot tells it that the
// kernel has dropped a descriptor by itself, because it was closed, and that Remove will
// not be called for it: its number has just been added again.
type Forgetter interface{ Forgot() }

// A Looker is a poller whose Wait may return without a look at what it watches, because a
// wake-up was pending. Looked reports whether the last Wait has looked. Loop only.
type Looker interface{ Looked() bool }

// A SleepCounter is a poller that may find something before it parks, and so knows better
// than its caller how often it has. Any goroutine may ask.
type SleepCounter interface {
	Parks() int64 // calls of Wait that parked; counted when they do
	Spins() int64 // calls of Wait that found something before
}

// An AlarmStopper is a poller that sleeps by an Alarm of a Clock. StopAlarm stops the
// alarm without waiting for a call that has begun, and reports whether one has; the next
// Wait sets another. Loop only.
type AlarmStopper interface{ StopAlarm() (begun bool) }
