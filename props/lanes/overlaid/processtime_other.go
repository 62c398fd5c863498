//go:build !unix

package interleave

import "time"

// processTime is not known here: perSecond takes the time that has gone by.
func processTime() time.Duration { return 0 }
