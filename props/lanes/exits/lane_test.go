//go:build linux && shadow

package exits

import (
	"testing"

	"eventide/props/lanes/programs"
)

var lane = programs.Lane[Program]{Name: "exits", Programs: Programs(), Run: Run, Draw: Draw}

func TestLane(t *testing.T) { lane.Explore(t) }
func TestCase(t *testing.T) { lane.Repeat(t) }
