package process

import "strings"

// running names the bodies that an executor runs now. It calls the method Running of ex
// or, for a group, of each member. It returns "" if ex is neither.
func running(ex any) string {
	switch ex := ex.(type) {
	case interface{ Running() string }:
		return ex.Running()
	case groupOf:
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
