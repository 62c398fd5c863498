package evidence

// Speed is the content of speed.json: what `interleave bench` printed.
type Speed struct {
	About
	Rows []Rate
}

// Rate is a line of interleave bench.
type Rate struct {
	What      string
	Build     string  `json:",omitempty"` // duration of the build, where the line is about one
	PerSecond float64 `json:",omitempty"` // schedules, by the clock
	PerCPU    float64 `json:",omitempty"` // schedules for each second of processor time
}

// ReadSpeed reads speed.json.
func ReadSpeed(name string) (*Speed, error) {
	s := &Speed{}
	return s, read(name, s)
}
