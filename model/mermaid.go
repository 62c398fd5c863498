package model

import (
	"fmt"
	"strings"
)

// Mermaid returns the phases and their moves as a Mermaid state diagram, generated from
// the table in phase.go.
func Mermaid() string {
	var b strings.Builder
	b.WriteString("stateDiagram-v2\n    direction LR\n    [*] --> NotStarted\n")
	for _, m := range moves {
		fmt.Fprintf(&b, "    %v --> %v: %s\n", m.from, m.to, m.reason)
	}
	b.WriteString("    Terminated --> [*]\n")
	return b.String()
}
