package driver

import (
	"strings"
	"testing"

	"eventide/props/interleave/protocol"
)

const failOutput = `some text
--- FAIL: TestX (0.00s)
    --- FAIL: TestX/sub (0.00s)
        x_test.go:12: got 17, want 0x1f
            a second line
    x_test.go:14: and this
FAIL
`

const raceOutput = `==================
WARNING: DATA RACE
Write at 0x00c000012345 by goroutine 8:
  example.com/x.(*T).Set()
      /home/u/x/set.go:10 +0x44

Previous read at 0x00c000012345 by goroutine 7:
  example.com/x.(*T).Get()
      /home/u/x/get.go:20 +0x44

Goroutine 8 (running) created at:
  example.com/x.Start()
      /home/u/x/start.go:5 +0x44
==================
--- FAIL: TestX (0.00s)
    testing.go:1712: race detected during execution of test
FAIL
`

const panicOutput = `panic: send on closed channel [recovered, repanicked]

goroutine 9 [running]:
example.com/x.(*P).Submit(...)
	/home/u/x/pool.go:33 +0x44
created by example.com/x.Start in goroutine 7
	/home/u/x/start.go:5 +0x44

goroutine 1 [chan receive]:
main.main()
	/home/u/x/main.go:1 +0x44
`

func findingOf(verdict string) *finding {
	return &finding{Schedule: protocol.Schedule{Verdict: verdict, Message: "a sentence"}}
}

func TestCauseOfFailure(t *testing.T) {
	c := causeOf(findingOf(protocol.Failed), failOutput, &pkg{Root: "/home/u/x"})
	if c.Verdict != protocol.Failed || !strings.Contains(c.Message, "x_test.go:12: got 17, want 0x1f\nx_test.go:14: and this") {
		t.Errorf("%+v", c)
	}
}

func TestCauseOfRace(t *testing.T) {
	c := causeOf(findingOf(protocol.Failed), raceOutput, &pkg{Root: "/home/u/x"})
	if c.Verdict != protocol.Race || c.Message != "data race: get.go:20 and set.go:10" {
		t.Errorf("%+v", c)
	}
}

func TestCauseOfPanic(t *testing.T) {
	c := causeOf(findingOf(protocol.Panicked), panicOutput, &pkg{Root: "/home/u/x"})
	if c.Message != "panic: send on closed channel" || len(c.Where) != 1 || c.Where[0] != "pool.go:33" {
		t.Errorf("%+v", c)
	}
}

// Numbers in a message do not tell findings apart, and source lines do.
func TestCauseKey(t *testing.T) {
	key := func(message string) string { return cause{Verdict: protocol.Failed, Message: message}.key() }
	if key("x_test.go:12: got 17 at 0xc00012") != key("x_test.go:12: got 8 at 0xc00ff2") {
		t.Error("numbers make a difference")
	}
	if key("x_test.go:12: got 17") == key("x_test.go:13: got 17") {
		t.Error("source lines make no difference")
	}
	if key("one") == key("two") {
		t.Error("texts make no difference")
	}
}

func TestSameKeepsMessage(t *testing.T) {
	c := cause{Verdict: protocol.Failed, Message: "x_test.go:12: stranded"}
	if c.same(cause{Verdict: protocol.Failed, Message: "x_test.go:20: torn"}) {
		t.Error("another message counts as the same failure")
	}
	if c.same(cause{Verdict: protocol.Panicked, Message: c.Message}) {
		t.Error("another verdict counts as the same failure")
	}
	if !c.same(cause{Verdict: protocol.Failed, Message: c.Message, Where: []string{"elsewhere"}}) {
		t.Error("other stacks count as another failure")
	}
}

// Source positions are read from names that have blanks.
func TestBlanksInNames(t *testing.T) {
	blanks := strings.NewReplacer("/home/u/x/", "/home/u v/my x/")
	p := &pkg{Root: "/home/u v/my x"}
	if c := causeOf(findingOf(protocol.Failed), blanks.Replace(raceOutput), p); c.Message != "data race: get.go:20 and set.go:10" {
		t.Errorf("%+v", c)
	}
	if c := causeOf(findingOf(protocol.Panicked), blanks.Replace(panicOutput), p); len(c.Where) != 1 || c.Where[0] != "pool.go:33" {
		t.Errorf("%+v", c)
	}
	for word, want := range map[string]string{"a/b.replay": "a/b.replay", "a b": "'a b'", "it's": `'it'\''s'`} {
		if got := quoted(word); got != want {
			t.Errorf("quoted(%q) is %s, want %s", word, got, want)
		}
	}
}
