package driver

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"eventide/props/interleave/protocol"
)

func someReplay() *Replay {
	return &Replay{
		Package: "example.com/x", Test: "TestX", Pattern: "^TestX$/sub", Release: "go1.26.8", Overlay: "go1.26-abc", Sources: "sha256:12",
		Race: true, Tags: "a,b", Args: []string{"-x", "a b\n"}, Verdict: protocol.Failed, Message: "line 1\nline \"2\"", Count: 3, Timing: true,
		Request: protocol.Request{FD: 3, Seed: 7, First: 12, Strategy: protocol.StrategyReplay, Switches: []protocol.Switch{{G: 1, N: 2, To: 3}}},
	}
}

func TestReplayFileRoundTrip(t *testing.T) {
	want := someReplay()
	got, err := ParseReplay(want.String())
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestReplayFileErrors(t *testing.T) {
	good := someReplay().String()
	for name, text := range map[string]string{
		"empty":       "",
		"no header":   strings.Replace(good, "interleave replay 1\n", "", 1),
		"version":     strings.Replace(good, "replay 1", "replay 9", 1),
		"unknown key": good + "colour: red\n",
		"no colon":    good + "red\n",
		"schedules":   strings.Replace(good, "schedules: 3", "schedules: 0", 1),
		"request":     strings.Replace(good, "strategy=replay", "strategy=best", 1),
		"no test":     strings.Replace(good, "test: TestX\n", "", 1),
		"no request":  good[:strings.Index(good, "request:")],
		"message":     strings.Replace(good, `message: "`, `message: `, 1),
	} {
		_, err := ParseReplay(text)
		if !errors.Is(err, ErrInput) {
			t.Errorf("%s: error %v, want one that is ErrInput", name, err)
		}
	}
}
