// Package bench stands in for the real one in the gate's own test.
package bench
