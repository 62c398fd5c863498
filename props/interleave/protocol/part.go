package protocol

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxDrops is the length of the longest list of parts that a process takes.
const MaxDrops = 1024

// A Part is a part of a list of switches: those at From up to To, that one not included.
type Part struct{ From, To int }

// formatParts returns parts as the request has them: 0-16,16-32.
func formatParts(parts []Part) string {
	words := make([]string, len(parts))
	for i, p := range parts {
		words[i] = fmt.Sprintf("%d-%d", p.From, p.To)
	}
	return strings.Join(words, ",")
}

func parseParts(s string) ([]Part, error) {
	var parts []Part
	for word := range strings.SplitSeq(s, ",") {
		from, to, ok := strings.Cut(word, "-")
		a, err1 := strconv.ParseUint(from, 10, 16)
		b, err2 := strconv.ParseUint(to, 10, 16)
		if !ok || err1 != nil || err2 != nil || a > b || b > MaxSwitches {
			return nil, fmt.Errorf("protocol: part %q: want two numbers up to %d, such as 0-16", word, MaxSwitches)
		}
		parts = append(parts, Part{int(a), int(b)})
	}
	return parts, nil
}
