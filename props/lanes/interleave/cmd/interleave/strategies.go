package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"eventide/props/interleave/inprocess"
	"eventide/props/internal/runner"
	"eventide/props/lanes/interleave/build"
	"eventide/props/mutant"
)

// exhaustiveFactor is how many times more schedules the exhaustive strategy gets than
// one seed of another: it has no seeds, and runs once.
const exhaustiveFactor = 10

// hunter hunts for one planted bug.
type hunter interface {
	hunt(ctx context.Context, strategy string, seed, limit int) (trial, error)
	small(ctx context.Context, strategy string, seed, limit int, want trial) (*minimised, error)
}

// tabler fills a table of strategies.
type tabler struct {
	settings
	names  []string // of the strategies
	base   string   // the binary without a bug
	only   *regexp.Regexp
	commit string

	mu    sync.Mutex // guards what follows
	table strategyTable
	rows  int // done in this run
}

// compare implements -mutants: it hunts each mutant with each strategy alone, and writes
// the table after each mutant. Results in the file that are of the same core and the same
// mutant are not run again.
func (s settings) compare() (int, error) {
	t := &tabler{settings: s, commit: runner.Commit(s.root)}
	var err error
	if t.names, err = strategyNames(s.strategies); err != nil {
		return 2, err
	}
	if t.only, err = regexp.Compile(s.only); err != nil {
		return 2, fmt.Errorf("-only: %w", err)
	}
	all, err := t.open()
	if err != nil {
		return 2, err
	}
	clearEnvironment()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	t.all(ctx, all)
	t.table.write(os.Stdout, t.names)
	if err := runner.WriteJSON(s.tableFile, t.table); err != nil {
		return 2, err
	}
	if slices.ContainsFunc(t.table.Mutants, func(r strategyRow) bool { return r.State == rowError }) {
		return 2, nil
	}
	return 0, ctx.Err()
}

// clearEnvironment removes the settings of lanes: the table depends on the flags alone.
func clearEnvironment() {
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		for _, prefix := range []string{"EVENTIDE_", "SHARD", "TEST_", "JOB_COMPLETION_INDEX"} {
			if strings.HasPrefix(name, prefix) {
				_ = os.Unsetenv(name) // the name is valid
			}
		}
	}
}

// strategyNames returns the strategies of a list, or all strategies if it is empty.
func strategyNames(list string) ([]string, error) {
	known := append(inprocess.Names(), exhaustive)
	slices.Sort(known)
	if list == "" {
		return known, nil
	}
	names := strings.Split(list, ",")
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("-strategies: there is no %q, want some of %v", name, known)
		}
	}
	return names, nil
}

// open reads the table, and the mutants that change a file that the lane explores.
func (t *tabler) open() ([]mutant.Mutant, error) {
	files, err := build.CoreFiles(t.root)
	if err != nil {
		return nil, err
	}
	var all []mutant.Mutant
	var rows []strategyRow
	for _, dir := range strings.Split(t.mutants, ",") {
		some, err := mutant.Load(filepath.Join(t.root, dir))
		if err != nil {
			return nil, err
		}
		for _, m := range some {
			if slices.ContainsFunc(m.Edits, func(e mutant.Edit) bool { return slices.Contains(files, e.File) }) {
				all = append(all, m)
				rows = append(rows, strategyRow{Name: m.Name, Guarantee: m.Guarantee, Mutant: fingerprint(m), State: rowNotRun})
			}
		}
	}
	slices.SortFunc(rows, func(a, b strategyRow) int { return cmp.Compare(a.Name, b.Name) })
	if t.base, err = (build.Lane{Root: t.root, Dir: filepath.Join(t.out, "table-base"), Race: t.race}).Build(); err != nil {
		return nil, err
	}
	hash, err := build.CoreHash(t.root, nil)
	if err != nil {
		return nil, err
	}
	t.table, err = openTable(t.tableFile, hash, rows)
	return all, err
}

func fingerprint(m mutant.Mutant) string {
	data, err := json.Marshal(m.Edits)
	if err != nil {
		panic(err) // they are texts
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])[:12]
}

// all runs the selected rows, several at a time.
func (t *tabler) all(ctx context.Context, mutants []mutant.Mutant) {
	mutants = slices.DeleteFunc(mutants, func(m mutant.Mutant) bool { return !t.only.MatchString(m.Name) })
	next := make(chan mutant.Mutant)
	var workers sync.WaitGroup
	for i := range t.parallel {
		workers.Go(func() {
			for m := range next {
				t.one(ctx, m, filepath.Join(t.out, "table-"+strconv.Itoa(i)), len(mutants))
			}
		})
	}
	for _, m := range mutants {
		if ctx.Err() != nil {
			break
		}
		next <- m
	}
	close(next)
	workers.Wait()
}

// one runs one row. A row that is interrupted stays as it was.
func (t *tabler) one(ctx context.Context, m mutant.Mutant, dir string, of int) {
	t.mu.Lock()
	r := *t.table.row(m.Name)
	t.mu.Unlock()
	r.Cells = slices.Clone(r.Cells)
	began := time.Now()
	err := t.fill(ctx, &r, m, dir)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		r.State, r.Reason = rowError, err.Error()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	*t.table.row(m.Name) = r
	t.rows++
	fmt.Printf("[%d/%d] %s %.1fs %s\n", t.rows, of, r.text(t.names), time.Since(began).Seconds(), firstLine(r.Reason))
	if err := runner.WriteJSON(t.tableFile, t.table); err != nil {
		fmt.Fprintln(os.Stderr, "interleave:", err)
	}
}

// fill builds the lane with the bug in it and runs what the row lacks.
func (t *tabler) fill(ctx context.Context, r *strategyRow, m mutant.Mutant, dir string) error {
	lacks := r.lacks(t.names, t.seeds, t.limit)
	if len(lacks) == 0 && (r.Minimised != nil || !r.killed()) {
		return nil
	}
	changed, err := m.Apply(t.root)
	if err != nil {
		return err
	}
	bin, err := build.Lane{Root: t.root, Dir: dir, Changed: changed, Race: t.race}.Build()
	if err != nil {
		return err
	}
	root, err := filepath.Abs(t.root)
	if err != nil {
		return err
	}
	p := planted{bin: bin, unchanged: t.base, root: root, dir: filepath.Dir(bin), guarantee: m.Guarantee, budget: t.budget}
	if err := r.run(ctx, p, lacks); err != nil {
		return err
	}
	r.State, r.Reason, r.Commit = rowRun, "", t.commit
	return nil
}

// lacks returns empty cells for the strategies that must run: the row has no cell of the
// strategy, or one with fewer seeds or another limit, or one that was given up before
// another strategy found the bug.
func (r *strategyRow) lacks(names []string, seeds, limit int) []cell {
	var some []cell
	for _, name := range names {
		want := cell{Strategy: name, Seeds: seeds, Limit: limit}
		if name == exhaustive {
			want.Seeds, want.Limit = 1, limit*exhaustiveFactor
		}
		if c := r.cell(name); c == nil || c.Seeds < want.Seeds || c.Limit != want.Limit || r.killed() && !c.decided() {
			some = append(some, want)
		}
	}
	return some
}

// run fills cells and puts them into the row. It runs one seed of each cell first, and
// further seeds only if a strategy has found the bug. Then it minimises one kill.
func (r *strategyRow) run(ctx context.Context, l hunter, cells []cell) error {
	next := func(c *cell) error {
		t, err := l.hunt(ctx, c.Strategy, len(c.Schedules)+1, c.Limit)
		if err == nil {
			c.add(t)
		}
		return err
	}
	killed := r.killed()
	for i := range cells {
		if err := next(&cells[i]); err != nil {
			return err
		}
		killed = killed || cells[i].Found > 0
	}
	for i := range cells {
		for c := &cells[i]; killed && !c.decided(); {
			if err := next(c); err != nil {
				return err
			}
		}
	}
	for _, c := range cells {
		if old := r.cell(c.Strategy); old != nil {
			*old = c
		} else {
			r.Cells = append(r.Cells, c)
		}
	}
	return r.minimise(ctx, l)
}

// minimise minimises the quickest kill. It takes a kill of the exhaustive strategy only
// if there is no other.
func (r *strategyRow) minimise(ctx context.Context, l hunter) (err error) {
	var best cell
	seed, least := 0, 0
	for _, c := range r.Cells {
		for i, n := range c.Schedules {
			if n > 0 && (least == 0 || n < least && c.Strategy != exhaustive || best.Strategy == exhaustive) {
				best, seed, least = c, i+1, n
			}
		}
	}
	if least == 0 {
		r.Minimised = nil
		return nil
	}
	r.Minimised, err = l.small(ctx, best.Strategy, seed, best.Limit, trial{schedule: least})
	return err
}
