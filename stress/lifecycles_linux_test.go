package stress

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/tcp"
)

// Lifecycles made by TestLifecyclesOfEveryKind.
const (
	lifecycles      = 40_000
	lifecyclesShort = 10_000
	lifecyclesLeaky = 2_000 // of TestGrowthIsSeen, per leak
)

// kindsOfLifecycle are one life of each kind.
var kindsOfLifecycle = []func(i int) error{useExecutor, useEpollLoop, useGroup, usePool, useConnection}

// useAnyKind is one life, of each kind in turn. Each kind gets every number, so all of its variants.
func useAnyKind(i int) error {
	return kindsOfLifecycle[i%len(kindsOfLifecycle)](i / len(kindsOfLifecycle))
}

// TestLifecyclesOfEveryKind makes executors, event loops, groups, pools and TCP connections, uses them and ends
// them, and finds the process as it was after the first of them: goroutines, descriptors and memory (G24).
func TestLifecyclesOfEveryKind(t *testing.T) {
	n := lifecycles
	if testing.Short() {
		n = lifecyclesShort
	}
	used, err := flat(n, hangGuard, useAnyKind)
	t.Log(used)
	if err != nil {
		t.Errorf("G24: %v", err)
	}
}

// TestGrowthIsSeen plants a leak of each resource.
func TestGrowthIsSeen(t *testing.T) {
	var files []*os.File
	var held [][]byte
	release := make(chan struct{})
	for want, leak := range map[string]func() error{
		"goroutines": func() error { go func() { <-release }(); return nil },
		"heap":       func() error { held = append(held, make([]byte, 64)); return nil },
		"descriptors": func() error {
			f, err := os.Open(os.DevNull)
			files = append(files, f)
			return err
		},
	} {
		_, err := flat(lifecyclesLeaky, time.Millisecond, func(i int) error {
			if err := useAnyKind(i); err != nil {
				return err
			}
			if want == "descriptors" && i%100 != 0 { // few, so that the process stays below its limit
				return nil
			}
			return leak()
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error about %s", err, want)
		}
	}
	close(release)
	for _, f := range files {
		f.Close()
	}
	runtime.KeepAlive(held)
}

// parts is how many parts flat divides the uses into. The first firstParts warm the process up, and those up to
// baseParts are the base.
const (
	parts      = 20
	firstParts = 5
	baseParts  = 10
	lastParts  = 3
)

// allocatedPerLeak bounds what a use may leave on the heap, in fractions of the bytes that a use of the base
// allocates: of some 30 KB about 8 bytes, and an entry in a list is at least as large.
const allocatedPerLeak = 4096

// held are the resources of the process at rest after a part.
type held struct {
	usage
	descriptors int
	allocated   uint64 // since the process began
}

// trend has the resources after each part.
type trend struct {
	n    int
	part []held
}

func (tr trend) String() string {
	if len(tr.part) < parts {
		return fmt.Sprintf("%d of %d parts", len(tr.part), parts)
	}
	first, last := tr.part[firstParts], tr.part[parts-1]
	return fmt.Sprintf("%d uses: goroutines %d -> %d, descriptors %d -> %d, heap %d -> %d bytes", tr.n, first.goroutines, last.goroutines,
		first.descriptors, last.descriptors, first.heap, last.heap)
}

// flat calls use n times, in parts, and returns the resources after each part, and an error if the last parts
// hold more than the base. After each part goroutines have until settle to be gone.
func flat(n int, settle time.Duration, use func(i int) error) (trend, error) {
	tr := trend{n: n}
	goroutines := runtime.NumGoroutine()
	for part := range parts {
		for i := part * n / parts; i < (part+1)*n/parts; i++ {
			if err := use(i); err != nil {
				return tr, err
			}
		}
		h := held{usage: rest(goroutines, settle)}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		h.allocated = m.TotalAlloc
		names, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			return tr, err
		}
		h.descriptors = len(names)
		if tr.part = append(tr.part, h); h.goroutines > goroutines {
			return tr, fmt.Errorf("goroutines are left after part %d: %d, and %d were there before the first use", part, h.goroutines, goroutines)
		}
	}
	return tr, tr.judge()
}

// judge compares the least of the last parts with the most of the base. The heap of a process at rest is not
// exactly the same twice, so it may grow by as much as it varied in the base, and by a small part of what the uses
// allocate.
func (tr trend) judge() error {
	base, last := tr.part[firstParts:baseParts], tr.part[parts-lastParts:]
	most := func(of []held, what func(held) int) int { return what(slices.MaxFunc(of, by(what))) }
	least := func(of []held, what func(held) int) int { return what(slices.MinFunc(of, by(what))) }
	descriptors := func(h held) int { return h.descriptors }
	heap := func(h held) int { return int(h.heap) }
	uses := func(parts int) int { return parts * tr.n / len(tr.part) }
	perUse := int(base[len(base)-1].allocated-base[0].allocated) / uses(len(base)-1)
	room := most(base, heap) - least(base, heap) + uses(parts-lastParts-baseParts)*perUse/allocatedPerLeak
	switch {
	case least(last, descriptors) > most(base, descriptors):
		return fmt.Errorf("descriptors are left: %v", tr)
	case least(last, heap) > most(base, heap)+room:
		return fmt.Errorf("the heap has grown by more than %d bytes, and a use allocates %d: %v", room, perUse, tr)
	}
	return nil
}

func by(what func(held) int) func(a, b held) int {
	return func(a, b held) int { return what(a) - what(b) }
}

// useGroup is one life of a group, of executors or of event loops.
func useGroup(i int) error {
	make := core.NewExecutorGroup
	if i%2 == 0 {
		make = core.NewGroup
	}
	g, err := make(1 + i%3)
	if err != nil {
		return err
	}
	for range i % 20 {
		if err := g.Execute(nothing); err != nil {
			return err
		}
	}
	return end(i, g)
}

// usePool is one life of a pool.
func usePool(i int) error {
	p, err := core.NewPool(1 + i%3)
	if err != nil {
		return err
	}
	for range i % 20 {
		if err := p.Execute(nothing); err != nil {
			return err
		}
	}
	if _, err := p.Schedule(longTime, nothing); err != nil {
		return err
	}
	return end(i, p)
}

// end ends an executor in each way, and waits for it.
func end(i int, ex core.EventExecutor) (err error) {
	if i%3 == 0 {
		ex.Shutdown()
	} else {
		_, err = ex.ShutdownGracefully(0, longTime)
	}
	if err == nil && !ended(ex) {
		err = fmt.Errorf("number %d never terminated", i)
	}
	return err
}

// echoing sends back its input.
type echoing struct{ tcp.HandlerBase }

func (echoing) Read(ch *tcp.Channel, p []byte) { ch.WriteAndFlush(p) }

// got tells of the first input.
type got struct {
	tcp.HandlerBase
	read chan struct{}
}

func (g got) Read(*tcp.Channel, []byte) {
	select {
	case g.read <- struct{}{}:
	default:
	}
}

// useConnection is one life of a listener and a connection on loopback, in a group of their own. The group ends
// with the connection open, or after the client has closed or reset it.
func useConnection(i int) error {
	g, err := core.NewGroup(1 + i%2)
	if err != nil {
		return err
	}
	defer func() { <-g.Shutdown().Done() }()
	listener, err := tcp.Listen(g, g, "127.0.0.1:0", func() tcp.Handler { return echoing{} })
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), hangGuard)
	defer cancel()
	client := got{read: make(chan struct{}, 1)}
	ch, err := tcp.Dial(ctx, g, listener.Addr().String(), client)
	if err != nil {
		return err
	}
	ch.WriteAndFlush([]byte("echo"))
	select {
	case <-client.read:
	case <-ctx.Done():
		return fmt.Errorf("connection %d got no answer", i)
	}
	switch i % 3 {
	case 1:
		_, err = ch.Close().Wait(ctx)
	case 2:
		_, err = ch.CloseOutput().Wait(ctx)
	}
	if err != nil {
		return err
	}
	return end(i, g)
}
