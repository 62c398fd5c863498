package strategy

import "eventide/props/lanes/interleave/det"

// feedback keeps the schedules that reached a happens-before class for the first
// time, and makes new ones of them: the same up to some decision, then one other,
// then the same again as far as it goes.
type feedback struct {
	random
	kept []kept
	next int // place for the next to keep

	made   []int // decisions of this schedule
	like   []int
	at     int
	cut    int
	second int
}

type kept struct{ picks []int }

const (
	mostKept      = 512
	mostDecisions = 4096
)

func newFeedback(r random) *feedback {
	return &feedback{random: r, made: make([]int, 0, mostDecisions)}
}

func (*feedback) Name() string { return "feedback" }

func (f *feedback) Begin() bool {
	f.made, f.like, f.at = f.made[:0], nil, 0
	if len(f.kept) > 0 && f.below(8) != 0 {
		f.like = f.kept[f.below(len(f.kept))].picks
		f.cut = f.below(max(1, len(f.like)))
		f.second = f.cut
		if f.below(2) == 0 {
			f.second = f.below(max(1, len(f.like)))
		}
	}
	return true
}

func (f *feedback) End(r *det.Result, newClass bool) {
	if !newClass || r.Verdict == det.Pruned {
		return
	}
	k := kept{append([]int(nil), f.made...)}
	if len(f.kept) < mostKept {
		f.kept = append(f.kept, k)
		return
	}
	f.kept[f.next] = k
	f.next = (f.next + 1) % mostKept
}

// Next implements det.Strategy.
//
//go:norace
func (f *feedback) Next(d *det.Decision) int {
	pick := -1
	if f.at < len(f.like) && f.at != f.cut && f.at != f.second {
		for i, id := range d.Runnable {
			if id == f.like[f.at] {
				pick = i
			}
		}
	}
	switch {
	case pick >= 0:
	case f.like != nil && f.at != f.cut && f.at != f.second:
		pick = d.Default()
	case f.like == nil && d.Cur >= 0 && f.below(4) != 0:
		pick = d.Cur
	default:
		pick = f.below(len(d.Runnable))
	}
	f.at++
	if len(f.made) < cap(f.made) {
		f.made = append(f.made, d.Runnable[pick])
	}
	return pick
}
