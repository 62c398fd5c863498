package results

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"eventide/bench/ablation"
	"eventide/bench/compare"
	"eventide/bench/gate"
	"eventide/props/lane"
)

// The raw files, in the order in which they are needed.
const (
	benchFile   = "bench.json"
	verifyFile  = "verify.json"
	lanesFile   = "lanes.json"
	mutantsFile = "mutants.json"
	histFile    = "histograms.txt"
	peersFile   = "peers.json"
	matrixFile  = "matrix.json"
	drainFile   = "drain.json"
	gateFile    = "gate.json"

	ablationFile = "ablation.json"
	proofFile    = "gateproof.json"
)

// raw is everything that the page is made of.
type raw struct {
	Bench   compare.Report
	Verify  verdicts
	Lanes   *lane.Alone // nil: not kept, as the others
	Mutants *mutants
	Peers   *peers
	Matrix  *matrix
	Drain   *drain
	Gate    *gateReport
	Scale   *processors
	Parts   *ablation.Report
	Proof   *gate.Proof
	Chosen  chosen
	Auto    *mechanical // nil: no run is kept
	Figures []Figure

	// Survivors counts the planted bugs that the properties did not see, and that
	// are therefore no part of the score.
	Survivors int
}

func readAll(dir string) (raw, error) {
	var r raw
	if err := read(dir, benchFile, &r.Bench, &r.Bench.Schema); err != nil {
		return r, err
	}
	if err := read(dir, verifyFile, &r.Verify, &r.Verify.Schema); err != nil {
		return r, err
	}
	var (
		l lane.Alone
		m mutants
		p peers
		x matrix
		d drain
		g gateReport
		c processors
		a ablation.Report
		o gate.Proof
	)
	for _, optional := range []struct {
		name    string
		into    any
		version *int
		found   func()
	}{
		{lanesFile, &l, &l.Schema, func() { r.Lanes = &l }},
		{mutantsFile, &m, &m.Schema, func() { r.Mutants = &m }},
		{peersFile, &p, &p.Schema, func() { r.Peers = &p }},
		{matrixFile, &x, &x.Schema, func() { r.Matrix = &x }},
		{drainFile, &d, &d.Schema, func() { r.Drain = &d }},
		{gateFile, &g, &g.Schema, func() { r.Gate = &g }},
		{scaleFile, &c, &c.Schema, func() { r.Scale = &c }},
		{ablationFile, &a, &a.Schema, func() { r.Parts = &a }},
		{proofFile, &o, &o.Schema, func() { r.Proof = &o }},
	} {
		switch err := read(dir, optional.name, optional.into, optional.version); {
		case err == nil:
			optional.found()
		case !errors.Is(err, fs.ErrNotExist):
			return r, err
		}
	}
	histograms, err := readHistograms(filepath.Join(dir, histFile))
	if err != nil {
		return r, err
	}
	if r.Chosen, err = readChosen(filepath.Join(dir, "..", "interleave")); err != nil {
		return r, err
	}
	if r.Auto, err = readMechanical(filepath.Join(dir, "..", "mutants", "auto", "score.json")); err != nil {
		return r, err
	}
	r.Figures = figures(r.Bench.Rows, histograms, r.Peers)
	if r.Scale != nil {
		r.Figures = r.Scale.draw(r.Figures)
	}
	survivors, err := filepath.Glob(filepath.Join(dir, "..", "mutants", "survivors", "*.mutant"))
	r.Survivors = len(survivors)
	return r, err
}

func readHistograms(path string) ([]compare.Histogram, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return compare.ReadHistograms(file)
}

// schema is the version of all files.
const schema = 1

func read(dir, name string, into any, version *int) error {
	path := filepath.Join(dir, name)
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("results: %w", err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("results: %s: %w", path, err)
	}
	if *version != schema {
		return fmt.Errorf("results: %s: schema is %d, want %d", path, *version, schema)
	}
	return nil
}
