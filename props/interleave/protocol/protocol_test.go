package protocol

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestRequestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Request{
			FD:          rapid.IntRange(3, 1000).Draw(t, "fd"),
			Cold:        rapid.Bool().Draw(t, "cold"),
			Seed:        rapid.Uint64().Draw(t, "seed"),
			First:       rapid.Uint64().Draw(t, "first"),
			Stride:      rapid.Uint64().Draw(t, "stride"),
			Strategy:    rapid.SampledFrom(append(Strategies(), "")).Draw(t, "strategy"),
			Time:        rapid.SampledFrom([]string{"", TimeIdle, TimeMixed, TimeEarly}).Draw(t, "time"),
			Slack:       time.Duration(rapid.Int64Min(0).Draw(t, "slack")),
			Steps:       rapid.Uint64().Draw(t, "steps"),
			Horizon:     time.Duration(rapid.Int64Min(0).Draw(t, "horizon")),
			IgnoreLeaks: rapid.Bool().Draw(t, "leaks"),
			Detail:      rapid.IntRange(0, 2).Draw(t, "detail"),
			Longest:     rapid.Uint64().Draw(t, "longest"),
			Largest:     rapid.Uint64().Draw(t, "largest"),
			Faults:      rapid.SampledFrom([][]string{nil, {FaultReset}, {FaultShort, FaultFiles}}).Draw(t, "faults"),
			Net:         rapid.SampledFrom([]string{"", NetMemory, NetReal}).Draw(t, "net"),
			Fair:        rapid.Uint64().Draw(t, "fair"),
			Bound:       rapid.IntRange(0, 9).Draw(t, "bound"),
			Budget:      time.Duration(rapid.Int64Min(0).Draw(t, "budget")),
			Switches:    switches().Draw(t, "switches"),
			Drops:       drops().Draw(t, "drops"),
			Program:     rapid.SampledFrom([]string{"", "17:3,2:0.1,1.0:1.1", "18446744073709551615:1::"}).Draw(t, "program"),
		}
		got, err := ParseRequest(r.Encode())
		if err != nil || !reflect.DeepEqual(got, r) {
			t.Fatalf("%q\ngives %+v, %v\nwant  %+v", r.Encode(), got, err, r)
		}
	})
}

func switches() *rapid.Generator[[]Switch] {
	one := rapid.Custom(func(t *rapid.T) Switch {
		s := Switch{
			G:    rapid.Uint32().Draw(t, "g"),
			N:    rapid.Uint64().Draw(t, "n"),
			Kind: rapid.SampledFrom([]byte{ToGoroutine, ToClock, ToCase, ToOrder, ToTimer, ToFault}).Draw(t, "kind"),
		}
		if s.Kind != ToClock {
			s.To = rapid.Uint32().Draw(t, "to")
		}
		return s
	})
	return rapid.Custom(func(t *rapid.T) []Switch {
		list := rapid.SliceOfN(one, 0, 5).Draw(t, "list")
		if len(list) == 0 {
			return nil
		}
		return list
	})
}

func drops() *rapid.Generator[[]Part] {
	return rapid.Custom(func(t *rapid.T) []Part {
		var list []Part
		for range rapid.IntRange(0, 3).Draw(t, "parts") {
			from := rapid.IntRange(0, MaxSwitches).Draw(t, "from")
			list = append(list, Part{from, rapid.IntRange(from, MaxSwitches).Draw(t, "to")})
		}
		return list
	})
}

func TestSwitchForms(t *testing.T) {
	const text = "2.7:1,0.3:c,4.12:s1,1.1:m5"
	list, err := ParseSwitches(text)
	want := []Switch{{2, 7, ToGoroutine, 1}, {0, 3, ToClock, 0}, {4, 12, ToCase, 1}, {1, 1, ToOrder, 5}}
	if err != nil || !reflect.DeepEqual(list, want) {
		t.Fatalf("%v, %v, want %v", list, err, want)
	}
	if got := FormatSwitches(list); got != text {
		t.Fatalf("%q, want %q", got, text)
	}
	for _, bad := range []string{"1", "1.2", "1:2", "a.1:2", "1.a:2", "1.2:", "1.2:x3", "1.2:s", "1.2:c1x", ",", "1.2:3,", "4294967296.1:1"} {
		if list, err := ParseSwitches(bad); err == nil {
			t.Errorf("%q gives %v, want an error", bad, list)
		}
	}
}

func TestRequestErrors(t *testing.T) {
	for bad, want := range map[string]string{
		"":                      "version",
		"v=2 fd=3":              "version",
		"v=1":                   "descriptor",
		"v=1 fd=2":              "descriptor",
		"v=1 fd=3 x=1":          `"x"`,
		"v=1 fd=3 seed":         `"seed"`,
		"v=1 fd=3 seed=a":       "number",
		"v=1 fd=3 strategy=x":   `"x"`,
		"v=1 fd=3 time=x":       `"x"`,
		"v=1 fd=3 net=x":        `"x"`,
		"v=1 fd=3 switches=1:1": "switch",
		"v=1 fd=3 drops=3":      "part",
		"v=1 fd=3 program=1:2":  "seed:sizes:out:simple",
		"v=1 fd=3 drops=3-2":    "part",
		"v=1 fd=3 drops=1-9999": "part",
	} {
		if _, err := ParseRequest(bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gives %v, want an error with %q", bad, err, want)
		}
	}
	if err := (Request{FD: 3, Switches: make([]Switch, MaxSwitches+1)}).Validate(); err == nil {
		t.Error("too many switches are accepted")
	}
	if err := (Request{FD: 3, Drops: make([]Part, MaxDrops+1)}).Validate(); err == nil {
		t.Error("too many drops are accepted")
	}
}

func TestRecords(t *testing.T) {
	const text = "hello v=1 go=go1.26.8\n" +
		`finding verdict=deadlock schedule=17 message="all \"wait\"\n" hash=0xff early=1 switches=2.7:1,0.1:s1` + "\n" +
		`goroutine g=2 parent=0 state="sync.Mutex.Lock" op=lock obj=3 holds=1,2 stack="main.f()\n\t/a b.go:3"` + "\n" +
		"end\nsummary schedules=5 complete=1\nprogress schedu"
	var got []Record
	err := Read(strings.NewReader(text), func(r Record) error { got = append(got, r); return nil })
	if err != nil || len(got) != 5 {
		t.Fatalf("%v, %v", got, err)
	}
	s, err := ScheduleOf(got[1])
	want := Schedule{Verdict: Deadlock, Message: "all \"wait\"\n", Number: 17, Hash: 0xff, Early: true, Switches: []Switch{{G: 2, N: 7, To: 1}, {N: 1, Kind: ToCase, To: 1}}}
	if err != nil || !reflect.DeepEqual(s, want) {
		t.Errorf("%+v, %v, want %+v", s, err, want)
	}
	g := GoroutineOf(got[2])
	if g.Number != 2 || g.State != "sync.Mutex.Lock" || g.Object != 3 || !reflect.DeepEqual(g.Holds, []uint64{1, 2}) || g.Stack != "main.f()\n\t/a b.go:3" {
		t.Errorf("%+v", g)
	}
	if c := CountsOf(got[4]); c.Schedules != 5 || !c.Complete {
		t.Errorf("%+v", c)
	}
	if s, err := ScheduleOf(Record{Fields: map[string]string{"switches": "?"}}); err != nil || !s.Cut {
		t.Errorf("%+v, %v", s, err)
	}
	stop := errors.New("stop")
	if err := Read(strings.NewReader(text), func(Record) error { return stop }); err != stop {
		t.Error(err)
	}
	for _, bad := range []string{"\n", "a b\n", "a b=\"c\n", "a b=\"c\"d=1\n", "a =1\n"} {
		if err := Read(strings.NewReader(bad), func(Record) error { return nil }); err == nil {
			t.Errorf("%q is no error", bad)
		}
	}
}

func TestProgramForms(t *testing.T) {
	const text = "17:3,2:0.1,1.0:1.1"
	p, err := ParseProgram(text)
	want := Program{17, []int{3, 2}, []Place{{0, 1}, {1, 0}}, []Place{{1, 1}}}
	if err != nil || !reflect.DeepEqual(p, want) || p.String() != text {
		t.Fatalf("%+v, %v, want %+v", p, err, want)
	}
	if p.Has(Place{0, 1}) || !p.Has(Place{0, 0}) {
		t.Error("the operations that are left out are others")
	}
	for _, bad := range []string{"", "1", "a:1::", "1:x::", "1:1:0:", "1:1:0.a:", "1:1::0"} {
		if p, err := ParseProgram(bad); err == nil {
			t.Errorf("%q gives %+v, want an error", bad, p)
		}
	}
}
