//go:build !linux

package blocking

// unreceived returns known false: the number is known on Linux only.
func (t connection) unreceived() (n int, known bool, err error) { return 0, false, nil }
