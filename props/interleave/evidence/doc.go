// Package evidence defines the kept files about chosen schedules, below
// testdata/interleave, and the tables that pages show of them. Package measure writes
// the files.
package evidence
