package core_test

import (
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"weak"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/pollertest"

	"pgregory.net/rapid"
)

// TestPropG24EndedRegistrationsAreReleased: once a registration has ended, the loop holds neither it nor its handler,
// whether or not the loop had found readiness of it, and in whatever order the registrations have become ready and end.
func TestPropG24EndedRegistrationsAreReleased(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(rt, "registrations")
		rounds := rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(0, n-1), 1, n), 1, 4).Draw(rt, "ready")
		ends := rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 1, n, func(i int) int { return i }).Draw(rt, "end")
		inHandler := rapid.Bool().Draw(rt, "in a handler")
		channel := rapid.Bool().Draw(rt, "channels")
		checkInBubble(t, rt, func(t *testing.T) string {
			l, m := modelLoop(t)
			held := registerPayloads(t, l, m, n, rounds, ends, inHandler, channel)
			runtime.GC()
			for _, i := range ends {
				if held[i].Value() != nil {
					return fmt.Sprintf("G24: the loop still holds registration %d of %d, which has ended", i, n)
				}
			}
			return ""
		})
	})
}

// registerPayloads registers n handlers, makes them ready in rounds and ends some of them. It returns what their handlers
// refer to. Nothing else does.
func registerPayloads(t *testing.T, l *core.EventLoop, m *pollertest.Model, n int, rounds [][]int, ends []int, inHandler, channel bool) []weak.Pointer[[64]int] {
	var held []weak.Pointer[[64]int]
	ds, regs := make([]*pollertest.Descriptor, n), make([]*core.Registration, n)
	last := false
	end := func() {
		for _, i := range ends {
			if regs[i] != nil {
				coretest.Must(t, regs[i].Close())
				regs[i] = nil // other handlers refer to regs
			}
		}
	}
	for i := range n {
		payload := new([64]int)
		held = append(held, weak.Make(payload))
		ds[i] = m.Open()
		ready := func(core.Readiness) {
			payload[0]++
			coretest.Must(t, ds[i].Drain())
			if last && inHandler {
				end()
			}
		}
		if channel {
			regs[i] = mustRegisterChannel(t, l, ds[i].FD(), &fakeChannel{ready: ready})
		} else {
			regs[i] = mustRegister(t, l, ds[i].FD(), core.Readable, ready)
		}
	}
	synctest.Wait()
	for k, round := range rounds {
		coretest.OnLoop(t, l, func() {
			last = k == len(rounds)-1
			for _, i := range round {
				coretest.Must(t, ds[i].Input())
			}
		})
		synctest.Wait()
	}
	end()
	synctest.Wait()
	for _, r := range regs {
		if r != nil && channel {
			t.Cleanup(func() { r.End(core.ChannelEnd{}) })
		}
	}
	return held
}
