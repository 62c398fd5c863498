package process

import (
	"iter"
	"strings"

	"eventide/core"
)

// running names the bodies that an executor runs at this moment, by its method Running or,
// for a group, by that of each member. It returns "" for an executor with neither.
func running(ex any) string {
	switch ex := ex.(type) {
	case interface{ Running() string }:
		return ex.Running()
	case interface {
		All() iter.Seq[core.EventExecutor]
	}:
		var all []string
		for member := range ex.All() {
			if one := running(member); one != "" {
				all = append(all, one)
			}
		}
		return strings.Join(all, "\n")
	}
	return ""
}
