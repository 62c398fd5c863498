package history

import "strings"

// maxLine bounds, in bytes, a line of a bounded report.
const maxLine = 240

// Bound shortens a report to about limit bytes. It keeps the beginning, the marked lines
// of the trace, the replay command, and the other violations, and cuts long lines. left
// is the number of omitted lines.
func Bound(report string, limit int) (short string, left int) {
	var lines []string
	size := 0
	for line := range strings.Lines(report) {
		lines = append(lines, Clip(strings.TrimRight(line, "\n")))
		size += len(lines[len(lines)-1]) + 1
	}
	if size <= limit {
		return strings.Join(lines, "\n") + "\n", 0
	}
	var b strings.Builder
	for _, line := range lines {
		if b.Len()+len(line) > limit || b.Len()+len(line) > limit/2 && !telling(line) {
			left++
			continue
		}
		b.WriteString(line + "\n")
	}
	return b.String(), left
}

func telling(line string) bool {
	for _, mark := range []string{">", "replay", "also"} {
		if strings.HasPrefix(line, mark) {
			return true
		}
	}
	return false
}

// Clip shortens one line of a report.
func Clip(line string) string {
	if len(line) > maxLine {
		return strings.ToValidUTF8(line[:maxLine], "") + "…"
	}
	return line
}
