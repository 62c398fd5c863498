package driver

import (
	"testing"
	"time"
)

// Tests that need less than their share leave the rest to the others.
func TestBudgetShares(t *testing.T) {
	b := &budget{total: 40 * time.Second, tests: 4, workers: 2}
	first, second := b.share(), b.share()
	if first != 20*time.Second || second != 20*time.Second {
		t.Errorf("shares %v and %v of two workers, want 20s each", first, second)
	}
	b.unused(20 * time.Second)
	b.unused(20 * time.Second)
	if third := b.share(); third != 40*time.Second {
		t.Errorf("share %v after two tests that needed nothing, want 40s", third)
	}
}

func TestBudgetOfOneTest(t *testing.T) {
	b := &budget{total: 10 * time.Second, tests: 1, workers: 8}
	if got := b.share(); got != 10*time.Second {
		t.Errorf("share %v, want all of 10s", got)
	}
}

func TestNoBudget(t *testing.T) {
	b := &budget{tests: 3, workers: 2}
	if got := b.share(); got != 0 {
		t.Errorf("share %v, want none", got)
	}
}
