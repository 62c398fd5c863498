package blocking_test

import (
	"context"
	"io"
	"net"
	"testing"

	"eventide/core/blocking"
	"eventide/core/internal/coretest"
)

// R220: with half closure InputShutdown is called once, and writes are still accepted.
func TestR220HalfClosure(t *testing.T) {
	g := newGroup(t, 0)
	ours, theirs := tcpPair(t)
	var j coretest.Journal
	ended, over := make(chan struct{}), make(chan struct{})
	ch := mustRegister(t, g, ours, &handler{
		read:          func(_ *blocking.Channel, p []byte) { j.Add("read:" + string(p)) },
		readComplete:  func(*blocking.Channel) { j.Add("complete") },
		inputShutdown: func(*blocking.Channel) { j.Add("inputShutdown"); close(ended) },
		inactive:      func(*blocking.Channel) { j.Add("inactive") },
		unregistered:  func(*blocking.Channel) { close(over) },
	}, blocking.WithHalfClosure(true))
	if _, err := theirs.Write([]byte("hi")); err != nil {
		t.Fatal(err)
	}
	if err := theirs.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	coretest.Await(t, "InputShutdown", ended)
	parks := ch.EventLoop().Stats().Parks
	if n, err := ch.WriteAndFlush([]byte("bye")).Wait(context.Background()); n != 3 || err != nil {
		t.Errorf("a write after the peer's end: got %d, %v, want 3, nil", n, err)
	}
	if spun := ch.EventLoop().Stats().Parks - parks; spun > 10 {
		t.Errorf("netty #7801: the loop fell asleep %d times for one write: it reads the end again and again", spun)
	}
	ch.Close()
	coretest.Await(t, "Unregistered", over)
	if got, want := j.String(), "read:hi complete inputShutdown complete inactive"; got != want {
		t.Errorf("R220: got %q, want %q", got, want)
	}
	if got, err := io.ReadAll(theirs); string(got) != "bye" || err != nil {
		t.Errorf("the peer got %q, %v", got, err)
	}
}

// R220: a peer that has ended its side gets all bytes written before, flushed or not.
func TestR220EndOfInputBeforeTheAnswerIsSent(t *testing.T) {
	g := newGroup(t, 0)
	ours, theirs := tcpPair(t)
	over := make(chan struct{})
	ch := mustRegister(t, g, ours, &handler{
		read:         func(ch *blocking.Channel, _ []byte) { ch.Write([]byte("answer")) },
		unregistered: func(*blocking.Channel) { close(over) },
	})
	if _, err := theirs.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := theirs.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(theirs); string(got) != "answer" || err != nil {
		t.Errorf("R220: the peer got %q, %v, want the answer", got, err)
	}
	coretest.Await(t, "Unregistered", over)
	if cause := ch.CloseCause(); cause != io.EOF {
		t.Errorf("R220: the cause is %v, want EOF", cause)
	}
}
