// Package chosen says which of the mutants that are built into one program runs. Only
// programs that package auto puts together import it; see auto.Together.
package chosen

import (
	"fmt"
	"os"
	"strconv"
)

// Variable is the environment variable with the number of the mutant that runs.
const Variable = "EVENTIDE_MUTANT"

// Number is the mutant that runs, or 0: the sources as they are. It does not change after the
// start of the program.
var Number = parse(os.Getenv(Variable))

// parse panics at another text than a number or none: a program that ran without its mutant
// would say that the mutant survived.
func parse(text string) int {
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		panic(fmt.Sprintf("chosen: %s is %q, want the number of a mutant, or 0 for none", Variable, text))
	}
	return n
}

// Environment is what a program is started with so that mutant n runs in it.
func Environment(n int) string { return Variable + "=" + strconv.Itoa(n) }
