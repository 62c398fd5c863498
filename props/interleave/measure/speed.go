package measure

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"eventide/props/interleave/evidence"
)

// The lines of interleave bench: a build, and schedules per second.
var (
	buildLine = regexp.MustCompile(`^(\S.*?)\s{2,}(\S+)$`)
	rateLine  = regexp.MustCompile(`^(\S.*?)\s{2,}(\d+) schedules/s\s+(\d+) of processor time$`)
)

// Speed reads what rounds of interleave bench printed, and takes the best of each line:
// other work on the machine only ever makes a line worse. The first line of a round names
// the release.
func Speed(rounds []string) (*evidence.Speed, error) {
	s := &evidence.Speed{Rounds: len(rounds)}
	for i, printed := range rounds {
		rows, err := rates(printed)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			s.Rows = rows
			continue
		}
		if len(rows) != len(s.Rows) {
			return nil, fmt.Errorf("measure: interleave bench printed %d lines, then %d", len(s.Rows), len(rows))
		}
		for j, r := range rows {
			best := &s.Rows[j]
			if r.What != best.What {
				return nil, fmt.Errorf("measure: interleave bench printed %q, then %q", best.What, r.What)
			}
			best.Build, best.PerSecond, best.PerCPU = min(best.Build, r.Build), max(best.PerSecond, r.PerSecond), max(best.PerCPU, r.PerCPU)
		}
	}
	return s, nil
}

// rates reads what one round printed.
func rates(printed string) ([]evidence.Rate, error) {
	var rows []evidence.Rate
	lines := strings.Split(strings.TrimSpace(printed), "\n")
	for _, line := range lines[1:] {
		if m := rateLine.FindStringSubmatch(line); m != nil {
			second, _ := strconv.ParseFloat(m[2], 64) // digits, by the pattern
			cpu, _ := strconv.ParseFloat(m[3], 64)
			rows = append(rows, evidence.Rate{What: m[1], PerSecond: second, PerCPU: cpu})
			continue
		}
		m := buildLine.FindStringSubmatch(line)
		if m == nil {
			return nil, fmt.Errorf("measure: interleave bench printed %q", line)
		}
		took, err := time.ParseDuration(m[2])
		if err != nil {
			return nil, fmt.Errorf("measure: interleave bench printed %q: %w", line, err)
		}
		rows = append(rows, evidence.Rate{What: m[1], Build: took.Seconds()})
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("measure: interleave bench printed no figures: %q", printed)
	}
	return rows, nil
}
