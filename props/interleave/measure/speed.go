package measure

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"eventide/props/interleave/evidence"
)

// The lines of interleave bench: a build, and schedules per second.
var (
	buildLine = regexp.MustCompile(`^(\S.*?)\s{2,}(\S+)$`)
	rateLine  = regexp.MustCompile(`^(\S.*?)\s{2,}(\d+) schedules/s\s+(\d+) of processor time$`)
)

// Speed reads what interleave bench printed. The first line names the release.
func Speed(printed string) (*evidence.Speed, error) {
	s := &evidence.Speed{}
	lines := strings.Split(strings.TrimSpace(printed), "\n")
	for _, line := range lines[1:] {
		if m := rateLine.FindStringSubmatch(line); m != nil {
			second, _ := strconv.ParseFloat(m[2], 64) // digits, by the pattern
			cpu, _ := strconv.ParseFloat(m[3], 64)
			s.Rows = append(s.Rows, evidence.Rate{What: m[1], PerSecond: second, PerCPU: cpu})
			continue
		}
		m := buildLine.FindStringSubmatch(line)
		if m == nil {
			return nil, fmt.Errorf("measure: interleave bench printed %q", line)
		}
		s.Rows = append(s.Rows, evidence.Rate{What: m[1], Build: m[2]})
	}
	if len(s.Rows) == 0 {
		return nil, fmt.Errorf("measure: interleave bench printed no figures: %q", printed)
	}
	return s, nil
}
