package process

import (
	"context"
	"crypto/rand"
	"flag"
	"log/slog"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

// TestPropFeed compares what a service manager receives with a specification, in virtual time. While no executor is stuck it
// receives WATCHDOG=1 at once, and then twice in each interval. While one is stuck it receives nothing, and the log has one line
// that names the executor. Nothing is sent after stop.
func TestPropFeed(t *testing.T) {
	coretest.CheckLeaks(t)
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(r *rapid.T) {
		interval := rapid.SampledFrom([]time.Duration{2, 20 * time.Microsecond, time.Second, 30 * time.Second}).Draw(r, "interval")
		var busy []int // for each probe: 0: nothing waits, 1: a task waits, 2: a task waits, and one has run
		for range rapid.IntRange(1, 12).Draw(r, "probes") {
			busy = append(busy, rapid.SampledFrom([]int{1, 1, 1, 0, 2}).Draw(r, "the executor"))
		}
		name := "@eventide-" + rand.Text()
		conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
		coretest.Must(t, err)
		defer conn.Close()
		received := untilTheEnd(conn)
		var mu sync.Mutex
		var now core.Report // guarded by mu
		term, _, err := core.NewTermination(func() error { return nil }, func() core.Report {
			mu.Lock()
			defer mu.Unlock()
			return now
		})
		coretest.Must(t, err)
		ex := &reported{term: term}
		var log coretest.Log
		synctest.Test(t, func(t *testing.T) {
			s := &supervisor{address: name, watchdog: interval, log: &scribe{logger: slog.New(slog.NewTextHandler(&log, nil)), ctx: t.Context()}}
			probe := func(state int) {
				mu.Lock()
				defer mu.Unlock()
				now.Accepted = now.Ran + int64(min(state, 1))
				if state == 2 {
					now.Accepted, now.Ran = now.Accepted+1, now.Ran+1
				}
			}
			probe(busy[0])
			stop := s.feed(newMonitor([]Step{{Name: "engine", Executor: ex}}))
			synctest.Wait()
			for _, state := range busy[1:] {
				probe(state)
				time.Sleep(interval / 2)
				synctest.Wait()
			}
			stop()
			s.log.flush(time.Hour)
			time.Sleep(time.Hour) // in which nothing more may be sent
			coretest.Must(t, s.send("the end"))
		})
		want, lines, said, stuckFor := 0, 0, false, 0
		for i, state := range busy {
			if stuckFor++; state != 1 || i == 0 {
				stuckFor = 0 // nothing waited at this probe, or a task had run since the one before
			}
			switch {
			case stuckFor < 2:
				want++
				said = false
			case !said:
				lines++
				said = true
			}
		}
		if got := <-received; !slices.Equal(got, slices.Repeat([]string{"WATCHDOG=1"}, want)) {
			r.Fatalf("the manager has received %q, want WATCHDOG=1 %d times: interval %v, the executor %v", got, want, interval, busy)
		}
		const line = `level=ERROR msg="executors are stuck: the watchdog is not fed" stuck=[engine]`
		if got := strings.Count(log.String(), "\n"); got != lines || strings.Count(log.String(), line) != lines {
			r.Fatalf("the log is %q, want %d lines: the executor %v", log.String(), lines, busy)
		}
	})
}

// untilTheEnd returns what a service manager receives before "the end".
func untilTheEnd(conn *net.UnixConn) <-chan []string {
	received := make(chan []string, 1)
	go func() {
		var all []string
		text := make([]byte, 100)
		for {
			n, err := conn.Read(text)
			if err != nil || string(text[:n]) == "the end" {
				received <- all
				return
			}
			all = append(all, string(text[:n]))
		}
	}()
	return received
}

// TestSystemdWatchdogIsFedUntilTheEnd: the service manager receives WATCHDOG=1 twice in each interval from the begin of Run
// to its return, also during the exit, and not later.
func TestSystemdWatchdogIsFedUntilTheEnd(t *testing.T) {
	coretest.CheckLeaks(t)
	conn := manager(t, "@eventide-"+rand.Text())
	received := untilTheEnd(conn)
	address := "@" + strings.TrimPrefix(conn.LocalAddr().String(), "@")
	t.Setenv("NOTIFY_SOCKET", address)
	t.Setenv("WATCHDOG_USEC", "4000000")
	synctest.Test(t, func(t *testing.T) {
		tr := launch(t, t.Context(), Plan{
			Start: func(ctx context.Context) error { <-ctx.Done(); return nil },
			Steps: []Step{{Name: "one", Run: func(context.Context) error {
				time.Sleep(4 * time.Second) // of the bubble
				return nil
			}}},
		})
		time.Sleep(9 * time.Second) // of the bubble
		tr.signals <- os.Interrupt
		tr.wantCode(CodeClean)
		tr.wantTook(13 * time.Second)
		time.Sleep(time.Hour) // of the bubble
		coretest.Must(t, (&supervisor{address: address}).send("the end"))
	})
	const want = 7 // after 0, 2, 4, 6, 8, 10 and 12 s
	got := <-received
	if n := len(slices.DeleteFunc(slices.Clone(got), func(text string) bool { return text != "WATCHDOG=1" })); n != want {
		t.Errorf("the manager has received %q, want WATCHDOG=1 %d times", got, want)
	}
}

// TestStopOfTheFeedWaits: stop returns when the feed has ended, and not while it reads the report of an executor.
func TestStopOfTheFeedWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		term, _, err := core.NewTermination(func() error { return nil }, func() core.Report { <-gate; return core.Report{} })
		coretest.Must(t, err)
		s := &supervisor{address: "@eventide-" + rand.Text(), watchdog: time.Second, log: discard(t)}
		stop := s.feed(newMonitor([]Step{{Name: "engine", Executor: &reported{term: term}}}))
		stopped := make(chan struct{})
		go func() { stop(); close(stopped) }()
		synctest.Wait()
		select {
		case <-stopped:
			t.Error("stop has returned, and the feed has not ended")
		default:
		}
		close(gate)
		<-stopped
	})
}
