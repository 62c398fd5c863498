//go:build !unix

package lane

import "time"

// ProcessTime returns 0: it is not known on this system, and rates are then not shown.
func ProcessTime() time.Duration { return 0 }
