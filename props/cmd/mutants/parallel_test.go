package main

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"eventide/props/mutant"

	"github.com/stretchr/testify/require"
)

// TestWhoHangsLendsItsSlot: the next has its turn while the first hangs, and the first
// waits for it to end before it goes on.
func TestWhoHangsLendsItsSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		at := map[string]time.Duration{}
		r := newRoom(1)
		require.NoError(t, r.each([]mutant.Mutant{{Name: "hangs"}, {Name: "next"}, {Name: "third"}}, func(m mutant.Mutant) error {
			at[m.Name] = time.Since(began)
			back := r.lend(3 * time.Second)
			switch m.Name {
			case "hangs":
				time.Sleep(time.Minute)
			case "next":
				time.Sleep(2 * time.Second)
			case "third":
				time.Sleep(4 * time.Minute)
			}
			back()
			at[m.Name+" goes on"] = time.Since(began)
			return nil
		}))
		require.Equal(t, map[string]time.Duration{
			"hangs": 0, "next": 3 * time.Second, "next goes on": 5 * time.Second, "third": 5 * time.Second,
			"hangs goes on": time.Minute, "third goes on": 5*time.Second + 4*time.Minute,
		}, at)
	})
}

// TestOneThatFailsKeepsNobodyFromItsTurn, and all errors are told.
func TestOneThatFailsKeepsNobodyFromItsTurn(t *testing.T) {
	first, third := errors.New("first"), errors.New("third")
	err := newRoom(2).each([]mutant.Mutant{{Name: "1"}, {Name: "2"}, {Name: "3"}}, func(m mutant.Mutant) error {
		return map[string]error{"1": first, "3": third}[m.Name]
	})
	require.ErrorIs(t, err, first)
	require.ErrorIs(t, err, third)
}
