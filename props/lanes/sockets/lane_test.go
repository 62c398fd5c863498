//go:build linux && shadow

package sockets

import (
	"testing"
	"testing/synctest"

	"eventide/props/lanes/programs"
)

var overTCP = programs.Lane[Program]{Name: "sockets", Programs: Programs(), Run: Run, Draw: Draw}

var overBlocking = programs.Lane[Program]{Name: "blocking", Programs: BlockingPrograms(), Run: RunBlocking, Draw: Draw}

func init() { untilBlocked = synctest.Wait }

func TestLane(t *testing.T)         { overTCP.Explore(t) }
func TestBlockingLane(t *testing.T) { overBlocking.Explore(t) }
func TestCase(t *testing.T)         { overTCP.Repeat(t) } // of both: a program says what it is for
