package evidence

// Speed is the content of speed.json: what `interleave bench` printed, the best of
// several rounds.
type Speed struct {
	About
	Rounds int
	Rows   []Rate
}

// Rate is a line of interleave bench.
type Rate struct {
	What      string
	Build     float64 `json:",omitempty"` // seconds of the build, where the line is about one
	PerSecond float64 `json:",omitempty"` // schedules, by the clock
	PerCPU    float64 `json:",omitempty"` // schedules for each second of processor time
}

// ReadSpeed reads speed.json.
func ReadSpeed(name string) (*Speed, error) {
	s := &Speed{}
	return s, read(name, s)
}
