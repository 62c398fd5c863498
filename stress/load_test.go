package stress

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"testing"
	"time"
)

// Rounds of TestShutdownsUnderLoad without EVENTIDE_SOAK.
const (
	loadRounds      = 1000
	loadRoundsShort = 40
)

// TestShutdownsUnderLoad has 64 producers offer tasks at full speed through many
// shutdowns, and balances the books of every one: attempts = accepted + refused,
// and accepted = ran, for each producer and to the single task.
//
// EVENTIDE_SOAK=10m makes it run for that long; SIGINT ends it after the round in
// hand, with the totals so far.
func TestShutdownsUnderLoad(t *testing.T) {
	rounds := loadRounds
	if testing.Short() {
		rounds = loadRoundsShort
	}
	stop := func(round int) bool { return round == rounds }
	sum := newTotals()
	if soak := soakTime(t); soak > 0 {
		ctx, cancel := signal.NotifyContext(t.Context(), os.Interrupt)
		defer cancel()
		ctx, end := context.WithTimeout(ctx, soak)
		defer end()
		context.AfterFunc(ctx, cancel) // a second SIGINT kills
		stop = progress(ctx, sum)
	}
	for i := 0; !stop(i); i++ {
		load(t, i, sum)
		if t.Failed() {
			break
		}
	}
	fmt.Fprintf(t.Output(), "%v", sum)
	if all := sum.all(); all.rounds >= allPlans && len(sum.plans) != differentPlans {
		t.Errorf("not exercised: %d plans in %d rounds, want all %d", len(sum.plans), all.rounds, differentPlans)
	}
}

// load runs and judges one round.
func load(t *testing.T, i int, sum *totals) {
	p := planOf(i)
	r, err := newRound(p, newExecutor)
	if err != nil {
		t.Fatalf("%s: %v", describe(i, p), err)
	}
	b, err := r.run()
	if err != nil {
		t.Fatalf("%s: %v", describe(i, p), err)
	}
	sum.add(p, b)
	if len(b.problems) > 0 {
		t.Errorf("%s:\n  %s\nagain: go test ./stress -run '^%s$'", describe(i, p), strings.Join(b.problems, "\n  "), t.Name())
	}
}

// soakTime reads EVENTIDE_SOAK; 0: not set.
func soakTime(t *testing.T) time.Duration {
	value := os.Getenv("EVENTIDE_SOAK")
	if value == "" {
		return 0
	}
	soak, err := time.ParseDuration(value)
	if err != nil || soak <= 0 {
		t.Fatalf("EVENTIDE_SOAK is %q, want a duration such as 10m", value)
	}
	if end, ok := t.Deadline(); ok && time.Until(end) < soak {
		t.Fatalf("EVENTIDE_SOAK is %v, longer than the test may take; paste: EVENTIDE_SOAK=%v go test ./stress -v -timeout 0 -run '^%s$'", soak, soak, t.Name())
	}
	return soak
}

// progressEach is how often a soak says how far it is.
const progressEach = 10 * time.Second

// progress returns a stop condition that is true once ctx has ended, and prints
// where a soak is: at once, so that it can be seen to have begun, and then now and
// again.
func progress(ctx context.Context, sum *totals) (stop func(int) bool) {
	var next time.Time
	return func(round int) bool {
		if now := time.Now(); round > 0 && now.After(next) {
			all := sum.all()
			fmt.Printf("soak: %v, %d shutdowns, %d tasks accepted, %d ran\n", time.Since(sum.began).Round(time.Second), all.rounds, all.accepted, all.ran)
			next = now.Add(progressEach)
		}
		return ctx.Err() != nil
	}
}
