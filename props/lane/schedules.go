package lane

import "fmt"

// Coverage says how much of what there is the schedules have shown.
type Coverage struct {
	Unseen       float64         `json:"unseen"`            // the chance that the next one is of a new class, as Good and Turing estimate it
	NewClassRate float64         `json:"new_class_rate"`    // of the last ones
	Actions      Hits            `json:"state_actions"`     // what happens in which state
	Conflicts    Hits            `json:"conflicting_pairs"` // places at which two goroutines met at an object, in this order
	PCT          []PCTConfidence `json:"pct"`               // by depth
}

// Hits is how many of so many were seen, and the first of those that were not. What was
// seen and is not one of them is a mistake of the list, or worse.
type Hits struct {
	Hit        int      `json:"hit"`
	Of         int      `json:"of"`
	Missing    []string `json:"missing,omitempty"`
	Unexpected []string `json:"unexpected,omitempty"`
}

// PCTConfidence is what the schedules of PCT of one depth say of the scenarios that they
// were made of: the least, the median and the greatest of the chances that a bug of that
// depth would have been found, if the scenario had one.
type PCTConfidence struct {
	Depth     int     `json:"depth"`
	Scenarios int     `json:"scenarios"`
	Least     float64 `json:"least"`
	Median    float64 `json:"median"`
	Most      float64 `json:"most"`
}

// Exhausted says of how many scenarios every schedule was seen.
type Exhausted struct {
	Scenarios int            `json:"scenarios"`
	To        map[int]int    `json:"complete_to"` // by bound: scenarios of which each schedule with no more preemptions was seen
	All       int            `json:"complete"`    // of which each schedule was seen, whatever the bound
	Schedules int            `json:"schedules"`
	Classes   int            `json:"classes"`
	Exercised map[string]int `json:"exercised"` // by guarantee: scenarios complete to bound 1 in which its premise occurred
	Seconds   float64        `json:"seconds,omitempty"`
}

// Speed is what a scheduler makes of a program, beside the Go runtime.
type Speed struct {
	Program   string  `json:"program"`
	Race      bool    `json:"race"`
	Steps     float64 `json:"steps_per_second,omitempty"` // decisions before a synchronisation operation
	Schedules float64 `json:"schedules_per_second,omitempty"`
	Free      float64 `json:"free_per_second,omitempty"` // runs of the program in a binary without the overlay
}

// String is a line for a person.
func (s Speed) String() string {
	build := map[bool]string{false: "plain", true: "race"}[s.Race]
	if s.Steps == 0 {
		return fmt.Sprintf("%-5s  %-14s  without the scheduler, %6.0f runs/s", build, s.Program, s.Free)
	}
	text := fmt.Sprintf("%-5s  %-14s  %5.2f million steps/s, %6.0f runs/s", build, s.Program, s.Steps/1e6, s.Schedules)
	if s.Free > 0 {
		text += fmt.Sprintf("; without the scheduler, %6.0f runs/s", s.Free)
	}
	return text
}
