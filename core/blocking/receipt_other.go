//go:build !linux

package blocking

// unreceived asks nothing: only Linux can tell.
func (t connection) unreceived() (n int, known bool, err error) { return 0, false, nil }
