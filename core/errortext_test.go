package core_test

import (
	"fmt"
	"log/slog"
	"runtime"
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/pollertest"
)

// textError is an error whose Error method is the test's.
type textError struct{ text func() string }

func (e *textError) Error() string { return e.text() }

// unwilling is a poller that watches no descriptor once it has an error.
type unwilling struct {
	*pollertest.Model
	err error
}

func (p *unwilling) Add(fd int, i core.Interest, token uint64) error {
	if p.err != nil {
		return p.err
	}
	return p.Model.Add(fd, i, token)
}

func (p *unwilling) Modify(fd int, i core.Interest, token uint64) error {
	if p.err != nil {
		return p.err
	}
	return p.Model.Modify(fd, i, token)
}

// TestG15TextOfAPollersErrorMayUseTheLoop: the Error method of a poller's error is called without the
// lock of the executor, so that it may use the executor.
func TestG15TextOfAPollersErrorMayUseTheLoop(t *testing.T) {
	if !crashes(t) { // a lock that is never released holds up whoever asks
		return
	}
	p := &unwilling{Model: pollertest.NewModel(nil)}
	l := loopOn(t, p)
	fd := p.Open().FD()
	watched, paused := mustRegister(t, l, fd, core.Readable, ignore), mustRegister(t, l, p.Open().FD(), 0, ignore)
	p.err = &textError{func() string { return fmt.Sprintf("refused beside %d registrations", l.Stats().Registrations) }}
	_, err := l.Register(fd, core.Readable, ignore)
	for _, row := range []struct {
		call string
		fd   int
		err  error
	}{
		{"Register", fd, err},
		{"Modify", fd, watched.Modify(core.Writable)},
		{"Modify", paused.FD(), paused.Modify(core.Readable)},
	} {
		coretest.WantErr(t, "G15: "+row.call, row.err, p.err)
		coretest.WantText(t, "G15: "+row.call, row.err, fmt.Sprintf("core: %s: descriptor %d: refused beside 2 registrations", row.call, row.fd))
	}
}

// TestG15TextOfAChildsErrorMayExit: a group does not call the Error method of a child's error when it
// ends, so that a method that calls runtime.Goexit does not prevent the end.
func TestG15TextOfAChildsErrorMayExit(t *testing.T) {
	refusal := &textError{func() string { runtime.Goexit(); return "" }}
	g, err := core.NewExecutorGroup(2, core.WithSpawner(func(func()) error { return refusal }), core.WithLogger(slog.New(slog.DiscardHandler)))
	coretest.Must(t, err)
	go g.Shutdown() // if it calls the Error method, it does not return
	coretest.Await(t, "the end of the group (G21)", g.Termination().Done())
	coretest.WantErr(t, "G21: the error of the group", g.Termination().Err(), refusal)
}
