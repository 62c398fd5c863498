//go:build !linux

package blocking

// unreceived returns known false: only Linux can tell.
func (t connection) unreceived() (n int, known bool, err error) { return 0, false, nil }
