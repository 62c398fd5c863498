package ablation

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"eventide/props/mutant"
)

// An Ablation takes a part out of core.
type Ablation struct {
	mutant.Mutant          // StandsFor says which part
	Benchmarks    []string // names without "Benchmark", such as "Execute/impl=core/producers=1"
	MostOps       int      // operations of one sample; 0: any number
}

// The lines of an ablation that the format of a planted bug takes for comments.
const (
	benchmarkMark = "# benchmark: "
	mostMark      = "# most: "
)

// Load reads every ablation in dir, in the order of their names.
func Load(dir string) ([]Ablation, error) {
	mutants, err := mutant.Load(dir)
	if err != nil {
		return nil, fmt.Errorf("ablation: %w", err)
	}
	var all []Ablation
	for _, m := range mutants {
		a := Ablation{Mutant: m}
		if err := a.readMarks(filepath.Join(dir, m.Name+".mutant")); err != nil {
			return nil, fmt.Errorf("ablation: %s: %w", m.Name, err)
		}
		all = append(all, a)
	}
	return all, nil
}

// readMarks reads the marked lines of a file.
func (a *Ablation) readMarks(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if name, is := strings.CutPrefix(lines.Text(), benchmarkMark); is {
			a.Benchmarks = append(a.Benchmarks, name)
		}
		if number, is := strings.CutPrefix(lines.Text(), mostMark); is {
			if a.MostOps, err = strconv.Atoi(number); err != nil || a.MostOps < 1 {
				return fmt.Errorf("%q, want a number of 1 or more", lines.Text())
			}
		}
	}
	if len(a.Benchmarks) == 0 {
		return fmt.Errorf("it names no benchmark, want a line that begins with %q", benchmarkMark)
	}
	return lines.Err()
}
