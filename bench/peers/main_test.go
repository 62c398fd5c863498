package peers

import (
	"fmt"
	"os"
	"testing"
)

// TestMain lets the test binary be the driver of the Go implementations, as the program
// is: ourselves starts what is running.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "-serve" {
		if err := Serve(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}
