package exectest

// Sources are tests as reports print them, of every kind of run without the log.
func Sources() []string {
	plain := hammer{producers: 4, calls: 100, yields: 3}
	busy := hammer{producers: 2, calls: 20, busy: true, inside: true}
	inside := hammer{producers: 4, calls: 100, yields: 1, inside: true}
	atTimeout := hammer{producers: 4, calls: 100, timeout: true}
	submitting := hammer{producers: 4, calls: 100, yields: 1, call: callSubmit}
	hooking := hammer{producers: 4, calls: 100, yields: 1, busy: true, call: callAddHook}
	dwelling := hammer{producers: 4, calls: 100, yields: 1, dwell: 1}
	return []string{
		plain.source("G3", true), busy.source("G3", true), inside.source("G3", true),
		atTimeout.source("G3", true), submitting.source("G9", true), hooking.source("G6", true),
		dwelling.source("G2", true), plain.source("G4", false),
		waker{way: loneWaker, rounds: 20, callers: 2}.source("G12", true),
		waker{way: sleepWindow, rounds: 20, callers: 1, sweep: 100}.source("G12", true),
		waker{way: roundTrip, rounds: 20, sweep: 100}.source("G12", true),
		hammer{producers: 2, calls: 100, ahead: unfinishedTasks}.source("G3", true),
	}
}
