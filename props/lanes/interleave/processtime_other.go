//go:build !unix

package interleave

import "time"

// processTime is not known on this system: perSecond then takes the elapsed time.
func processTime() time.Duration { return 0 }
