package evidence

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Score sums up the column of a strategy or of another tool.
type Score struct {
	Name         string
	Always       int    // kernels whose bug was found by each seed, or in each batch
	Sometimes    int    // by some of them
	Never        int    // by none of them
	NotRun       int    // kernels
	Median, Most uint64 // of a strategy: median of the kernels' medians, and most schedules of any seed that found the bug
	Complete     int    // of the exhaustive search: kernels without the bug up to the bound
	Twins        int    // of another tool: repaired twins that failed in a batch
}

// Scores returns the scores of all strategies.
func (k *Kernels) Scores() []Score {
	var all []Score
	for _, name := range k.Strategies() {
		s := Score{Name: name}
		var medians []uint64
		for i := range k.Rows {
			c := k.Rows[i].Cell(name)
			if c == nil || c.NotRun != "" {
				s.NotRun++
				continue
			}
			s.add(c.Found(), len(c.Schedules))
			s.Most = max(s.Most, slices.Max(c.Schedules))
			if m, ok := c.Median(); ok {
				medians = append(medians, m)
			}
			if c.Complete {
				s.Complete++
			}
		}
		if slices.Sort(medians); len(medians) > 0 {
			s.Median = medians[len(medians)/2]
		}
		all = append(all, s)
	}
	return all
}

// ToolScores returns the scores of the other tools.
func (k *Kernels) ToolScores() []Score {
	var all []Score
	for _, name := range Tools {
		s := Score{Name: name}
		for i := range k.Rows {
			t := k.Rows[i].Tool(name)
			if t == nil || t.NotRun != "" {
				s.NotRun++
				continue
			}
			s.add(t.Found(), len(t.Runs))
			if total(t.Twin) > 0 {
				s.Twins++
			}
		}
		all = append(all, s)
	}
	return all
}

func (s *Score) add(found, of int) {
	switch found {
	case of:
		s.Always++
	case 0:
		s.Never++
	default:
		s.Sometimes++
	}
}

// text is a cell of the table of schedules: the median, and how many seeds found the
// bug if not all of them did.
func (c *Cell) text(limit uint64) string {
	switch m, ok := c.Median(); {
	case c.NotRun != "":
		return "not run"
	case c.Found() == 0 && c.Complete:
		return "complete, none"
	case c.Found() == 0:
		return "none"
	case !ok:
		return fmt.Sprintf(">%d (%d of %d)", limit, c.Found(), len(c.Schedules))
	case c.Found() < len(c.Schedules):
		return fmt.Sprintf("%d (%d of %d)", m, c.Found(), len(c.Schedules))
	default:
		return fmt.Sprint(m)
	}
}

// text is a cell of the table of schedules: the batches that failed, how, and in which
// run.
func (t *Tool) text() string {
	if t.NotRun != "" {
		return "not run"
	}
	text := fmt.Sprint(t.Found())
	if t.Found() > 0 {
		text += fmt.Sprintf(" %s (%d)", strings.Join(slices.Sorted(maps.Keys(t.How)), ", "), t.MedianRun())
	}
	if n := total(t.Twin); n > 0 {
		text += fmt.Sprintf("; twin %d %s", n, strings.Join(slices.Sorted(maps.Keys(t.Twin)), ", "))
	}
	return text
}
