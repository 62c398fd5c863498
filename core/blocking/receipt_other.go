//go:build !linux

package blocking

// unreceived cannot tell here.
func (t connection) unreceived() (n int, known bool, err error) { return 0, false, nil }
