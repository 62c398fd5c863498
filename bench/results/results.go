// Package results writes RESULTS.md from raw files that are kept in
// testdata/bench: what `make compare`, `make verify`, `make mutants`, `make peers`,
// `make matrix`, `make servers`, `make gate`, `make gate-proof`, `make scale` and `make ablation` wrote, and of those
// about chosen schedules in testdata/interleave. No number in it is typed by hand, and its plots are drawn from
// the same files.
package results

import (
	"bytes"
	_ "embed"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"eventide/internal/contract"
)

// plotDir is where the plots go, in the directory of the raw files.
const plotDir = "plots"

// verdicts is what RESULTS.md shows of verify.json.
type verdicts struct {
	Schema  int     `json:"schema"`
	Commit  string  `json:"commit"`
	Go      string  `json:"go"`
	Seconds float64 `json:"seconds"`
	Model   struct {
		States, Edges, Depth int
		Complete             bool
	} `json:"model"`
	Channels struct {
		States, Edges, Depth int
		Complete             bool
	} `json:"model_channels"`
	Traces struct {
		Model, History int
		Wrong          []string
	} `json:"traces"`
	Virtual struct {
		Programs int     `json:"programs"`
		Rate     float64 `json:"programs_per_processor_second"`
	} `json:"virtual"`
	Interleave struct {
		Schedules int     `json:"schedules"`
		Classes   int     `json:"classes"`
		StepRate  float64 `json:"steps_per_processor_second"`
		Rate      float64 `json:"schedules_per_processor_second"`
		Speed     []struct {
			Program   string  `json:"program"`
			Steps     float64 `json:"steps_per_second"`
			Schedules float64 `json:"schedules_per_second"`
		} `json:"speed"`
		Exhausted struct {
			Scenarios  int            `json:"scenarios"`
			CompleteTo map[string]int `json:"complete_to"` // preemptions -> scenarios
		} `json:"exhausted"`
	} `json:"interleave"`
	Guarantees []struct {
		ID        string `json:"id"`
		Verdict   string `json:"verdict"`
		Exercised int    `json:"exercised"`
		Mutant    struct {
			Name   string `json:"name"`
			Killed bool   `json:"killed"`
		} `json:"mutant"`
		Lanes []struct {
			Lane    string `json:"lane"`
			Verdict string `json:"verdict"`
			Runs    int    `json:"runs"`
			Seed    uint64 `json:"seed"`
		} `json:"lanes"`
	} `json:"guarantees"`
}

// mutants is what it shows of mutants.json.
type mutants struct {
	Schema  int     `json:"schema"`
	Score   float64 `json:"score"`
	Mutants []struct {
		Target  string `json:"target"`
		Verdict string `json:"verdict"`
		Lane    string `json:"lane"`
	} `json:"mutants"`
}

// A tally counts mutants that have something in common.
type tally struct {
	Of                           string
	Killed, Survived, Equivalent int
}

// By counts them by their target or, for "lane", by the lane that killed them.
func (m *mutants) By(what string) []tally {
	counts := map[string]*tally{}
	for _, x := range m.Mutants {
		of := x.Target
		if what == "lane" {
			of = x.Lane
		}
		if of == "" {
			of = "none"
		}
		t := counts[of]
		if t == nil {
			t = &tally{Of: of}
			counts[of] = t
		}
		switch x.Verdict {
		case "killed":
			t.Killed++
		case "equivalent":
			t.Equivalent++
		default:
			t.Survived++
		}
	}
	var list []tally
	for _, of := range slices.Sorted(maps.Keys(counts)) {
		list = append(list, *counts[of])
	}
	return list
}

//go:embed results.md.tmpl
var page string

//go:embed chosen.md.tmpl
var chosenPart string

//go:embed mechanical.md.tmpl
var mechanicalPart string

//go:embed scale.md.tmpl
var scalePart string

//go:embed ablation.md.tmpl
var ablationPart string

// A Site is RESULTS.md and its plots, by their name.
type Site struct {
	Page  []byte
	Plots map[string][]byte
}

// Generate returns the site for the raw files in dir, and in the folder interleave beside
// it. bench.json
// and verify.json must be there; what the others would have shown is said to be
// missing without them.
func Generate(dir string) (Site, error) {
	r, err := readAll(dir)
	if err != nil {
		return Site{}, err
	}
	t, err := template.New("RESULTS.md").Funcs(template.FuncMap{"sentence": sentence, "number": number, "cell": cell, "millions": func(n float64) float64 { return n / 1e6 }, "join": strings.Join, "percent": percent}).Parse(page)
	if err != nil {
		return Site{}, err
	}
	for name, part := range map[string]string{"chosen": chosenPart, "mechanical": mechanicalPart, "scale": scalePart, "ablation": ablationPart} {
		if _, err := t.New(name).Parse(part); err != nil {
			return Site{}, err
		}
	}
	var out bytes.Buffer
	if err := t.Execute(&out, r); err != nil {
		return Site{}, err
	}
	site := Site{Page: out.Bytes(), Plots: map[string][]byte{}}
	for _, f := range r.Figures {
		site.Plots[f.File] = f.plot.svg()
	}
	return site, nil
}

// sentence is that of a guarantee of the contract; an error for any other.
func sentence(id string) (string, error) {
	if text := contract.Sentence(id); text != "" {
		return text, nil
	}
	return "", fmt.Errorf("results: %s has a row for %q, which is no guarantee", verifyFile, id)
}

// cell keeps a text inside one cell of a table.
func cell(text string) string {
	return strings.NewReplacer("\n", " ", "|", "\\|").Replace(text)
}

// Write writes the page at path, and the plots beside the raw files in dir; a plot
// that there is no data for any more goes.
func Write(dir, path string) error {
	site, err := Generate(dir)
	if err != nil {
		return err
	}
	plots := filepath.Join(dir, plotDir)
	if err := os.MkdirAll(plots, 0o777); err != nil {
		return err
	}
	stale, err := site.stale(dir)
	if err != nil {
		return err
	}
	for _, name := range stale {
		if err := os.Remove(filepath.Join(plots, name)); err != nil {
			return err
		}
	}
	for name, text := range site.Plots {
		if err := os.WriteFile(filepath.Join(plots, name), text, 0o666); err != nil {
			return err
		}
	}
	return os.WriteFile(path, site.Page, 0o666)
}

// stale returns the plots in dir that are not the site's.
func (s Site) stale(dir string) ([]string, error) {
	there, err := filepath.Glob(filepath.Join(dir, plotDir, "*.svg"))
	var names []string
	for _, path := range there {
		if name := filepath.Base(path); s.Plots[name] == nil {
			names = append(names, name)
		}
	}
	return names, err
}

// Check returns an error if the page at path or a plot is not what the raw files in
// dir give: a number was changed by hand, or the files were.
func Check(dir, path string) error {
	site, err := Generate(dir)
	if err != nil {
		return err
	}
	if err := sameText(path, site.Page); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(site.Plots)) {
		if err := sameText(filepath.Join(dir, plotDir, name), site.Plots[name]); err != nil {
			return err
		}
	}
	stale, err := site.stale(dir)
	if err == nil && len(stale) > 0 {
		err = fmt.Errorf("results: plots %q are not of these raw files; `make results` removes them", stale)
	}
	return err
}

func sameText(path string, want []byte) error {
	got, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("results: %w", err)
	}
	gotLines, wantLines := bytes.Split(got, []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range max(len(gotLines), len(wantLines)) {
		if g, w := line(gotLines, i), line(wantLines, i); g != w {
			return fmt.Errorf("results: %s, line %d: got %q, want %q; `make results` writes it anew", path, i+1, g, w)
		}
	}
	return nil
}

func line(lines [][]byte, i int) string {
	if i < len(lines) {
		return string(lines[i])
	}
	return "(nothing)"
}
