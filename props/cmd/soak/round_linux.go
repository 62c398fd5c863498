package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"eventide/props"
	"eventide/props/faults"
)

// together is how many lifecycles of a round run at once, and perLane how many run one
// after the other.
const (
	together = 6
	perLane  = 3
)

// features are what a round has. The rest is left out.
type features struct {
	kinds      []string
	swarm      props.Swarm // calls that its generated programs do not make
	profile    props.Profile
	processors int
	conditions []condition
	faults     faults.Plan
	promised   *atomic.Int64 // bytes that futures of channels say were sent
}

// draw draws the features of a round: each is in about every second round.
func draw(rng *rand.Rand) features {
	half := func() bool { return rng.IntN(2) == 0 }
	f := features{processors: 1 + rng.IntN(8)}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) { // in an order, so that the seed decides
		if half() {
			f.kinds = append(f.kinds, kind)
		}
	}
	if len(f.kinds) == 0 {
		f.kinds = []string{"programs"}
	}
	f.swarm = props.DrawSwarm(rng)
	f.profile = props.Profile{
		Real: true, Limit: half(), Spawner: half(), Timers: half(), Abrupt: half(), Long: half(), Loop: half(),
	}
	for _, c := range conditions {
		if half() {
			f.conditions = append(f.conditions, c)
		}
	}
	f.faults, f.promised = faults.Draw(rng), new(atomic.Int64)
	return f
}

// outcome is what a round found.
type outcome struct {
	lifecycles map[string]int // by kind
	refused    int
	faults     map[string]int64 // by kind; nil: the command was built without them
	found      []string
}

// round runs the round with this number.
func round(seed uint64, number int) outcome {
	rng := rand.New(rand.NewPCG(seed, uint64(number)))
	f := draw(rng)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(f.processors))
	o := outcome{lifecycles: map[string]int{}}
	var mu sync.Mutex
	var lanes sync.WaitGroup
	stop, sent := disturb(f.conditions), faults.Sent()
	before, work := faults.Counts(), faults.Use(f.faults)
	for range together {
		own := rand.New(rand.NewPCG(rng.Uint64(), 0))
		lanes.Go(func() {
			for range perLane {
				kind := f.kinds[own.IntN(len(f.kinds))]
				broken := kinds[kind](own, f)
				mu.Lock()
				o.lifecycles[kind]++
				if broken != "" {
					o.found = append(o.found, fmt.Sprintf("round %d of seed %d: %s: %s", number, seed, kind, broken))
				}
				mu.Unlock()
			}
		})
	}
	lanes.Wait()
	work()
	stop()
	o.faults = since(before)
	if sent, promised := faults.Sent()-sent, f.promised.Load(); faults.Installed() && sent != promised {
		o.found = append(o.found, fmt.Sprintf("round %d of seed %d: G22: the kernel took %d bytes, and the futures of writes say %d", number, seed, sent, promised))
	}
	refused, broken := scarce(rng)
	if o.refused = refused; broken != "" {
		o.found = append(o.found, fmt.Sprintf("round %d of seed %d: few descriptors: %s", number, seed, broken))
	}
	return o
}

// since returns how many faults of each kind have been injected since the counts were before.
func since(before map[string]int64) map[string]int64 {
	if !faults.Installed() {
		return nil
	}
	now := faults.Counts()
	for kind := range now {
		now[kind] -= before[kind]
	}
	return now
}

// warmUp runs a lifecycle of each kind, from which on the runtime has its own descriptors
// and goroutines.
func warmUp(seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 1<<63))
	stop := disturb(conditions)
	for _, lifecycle := range kinds {
		lifecycle(rng, features{profile: props.Profile{Real: true}})
	}
	stop()
	scarce(rng)
}
