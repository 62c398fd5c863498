package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"eventide/props/lanes/interleave/build"
	"eventide/props/mutant"
)

// row is what became of one mutant.
type row struct {
	Name      string   `json:"name"`
	Guarantee string   `json:"guarantee"`
	Verdict   string   `json:"verdict"` // killed, survived, error
	By        []string `json:"by,omitempty"`
	Found     []string `json:"strategies,omitempty"`
	Schedules []int    `json:"schedules,omitempty"`
	Median    int      `json:"median,omitempty"`
	Seconds   float64  `json:"seconds"`
	Error     string   `json:"error,omitempty"`
}

// table plants every mutant and prints one line each.
func (s settings) table() (int, error) {
	var all []mutant.Mutant
	for _, dir := range strings.Split(s.mutants, ",") {
		some, err := mutant.Load(filepath.Join(s.root, dir))
		if err != nil {
			return 2, err
		}
		all = append(all, some...)
	}
	next := make(chan mutant.Mutant)
	var mu sync.Mutex
	var rows []row
	var workers sync.WaitGroup
	for i := range s.parallel {
		workers.Go(func() {
			for m := range next {
				r := s.one(m, filepath.Join(s.out, "mutant-"+strconv.Itoa(i)))
				mu.Lock()
				rows = append(rows, r)
				fmt.Printf("[%d/%d] %-42s %-8s %-28s median %6d schedules of %d seeds  %v  %5.1fs %s\n",
					len(rows), len(all), r.Name, r.Verdict, strings.Join(r.By, ","), r.Median, len(r.Schedules), r.Found, r.Seconds, firstLine(r.Error))
				mu.Unlock()
			}
		})
	}
	for _, m := range all {
		next <- m
	}
	close(next)
	workers.Wait()
	return s.finish(rows)
}

func (s settings) finish(rows []row) (int, error) {
	slices.SortFunc(rows, func(a, b row) int { return strings.Compare(a.Name, b.Name) })
	data, err := json.MarshalIndent(rows, "", " ")
	if err != nil {
		return 2, err
	}
	if err := os.WriteFile(filepath.Join(s.out, "mutants.json"), append(data, '\n'), 0o644); err != nil {
		return 2, err
	}
	counts := map[string]int{}
	for _, r := range rows {
		counts[r.Verdict]++
	}
	fmt.Printf("%d mutants: %d killed, %d survived, %d did not build or run\n", len(rows), counts["killed"], counts["survived"], counts["error"])
	if counts["error"] > 0 {
		return 2, nil
	}
	return 0, nil
}

func (s settings) one(m mutant.Mutant, dir string) (r row) {
	r = row{Name: m.Name, Guarantee: m.Guarantee}
	began := time.Now()
	defer func() { r.Seconds = time.Since(began).Seconds() }()
	changed, err := m.Apply(s.root)
	if err != nil {
		return r.failed(err)
	}
	bin, err := build.Lane{Root: s.root, Dir: dir, Changed: changed}.Build()
	if err != nil {
		return r.failed(err)
	}
	for seed := 1; seed <= s.seeds; seed++ {
		found, err := s.hunt(bin, m.Guarantee, seed)
		if err != nil {
			return r.failed(err)
		}
		if found.Schedule == 0 {
			if seed == 1 {
				r.Verdict = "survived"
				return r
			}
			continue // it counts as unlucky: the median is of those that found it
		}
		r.Verdict = "killed"
		r.Schedules = append(r.Schedules, found.Schedule)
		for id := range found.Failed {
			if !slices.Contains(r.By, id) {
				r.By = append(r.By, id)
			}
		}
		if !slices.Contains(r.Found, found.FoundBy) {
			r.Found = append(r.Found, found.FoundBy)
		}
	}
	sorted := slices.Sorted(slices.Values(r.Schedules))
	r.Median = sorted[len(sorted)/2]
	return r
}

func (r row) failed(err error) row {
	r.Verdict, r.Error = "error", err.Error()
	return r
}

// line is the part of the lane's output that matters here.
type line struct {
	Failed   map[string]string `json:"failed"`
	FoundBy  string            `json:"found_by"`
	Schedule int               `json:"schedule"`
	Runs     int               `json:"runs"`

	Seconds   float64 `json:"seconds"`
	Scenarios int     `json:"scenarios"`
	Exhausted struct {
		Schedules int `json:"schedules"`
		Scenarios int `json:"scenarios"`
	} `json:"exhausted"`
}

func (s settings) hunt(bin, guarantee string, seed int) (line, error) {
	cmd := exec.Command(bin, "-quick", "-lean", guarantee, "-budget", s.budget.String(), "-seed", strconv.Itoa(seed), "-cases", filepath.Join(s.out, "cases"))
	cmd.Dir = s.root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var ended *exec.ExitError
	if err != nil && (!errors.As(err, &ended) || ended.ExitCode() != 1) {
		return line{}, fmt.Errorf("%w\n%s", err, stderr.Bytes())
	}
	at := bytes.LastIndex(out, []byte("\n@@"))
	if at < 0 {
		return line{}, fmt.Errorf("the lane printed no result\n%s", stderr.Bytes())
	}
	text, _, _ := bytes.Cut(out[at+3:], []byte("\n"))
	var l line
	return l, json.Unmarshal(text, &l)
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}
