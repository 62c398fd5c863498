package results

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
)

// comparison is one row of the README's table: a figure of a raw file that tells where
// Eventide stands. It has what is worse than the rival as well as what is better.
type comparison struct {
	what, file           string
	workload, impl, unit string
	rival                string
}

var comparisons = []comparison{
	{"time per task, 64 goroutines submit", benchFile, "Execute/producers=64", "core", "ns/task", "a channel of functions"},
	{"time per task, 64 goroutines submit", peersFile, "execute/producers=64", "core", "ns/task", "Netty"},
	{"round trip to an idle executor, median", benchFile, "RoundTrip", "core", "p50 ns/trip", "two unbuffered channels"},
	{"schedule and cancel a timer in the loop", peersFile, "schedule-cancel/in-loop", "core-loop", "ns/pair", "Netty"},
	{"echo on 50 connections, requests per second: more is better", peersFile, "echo/connections=50", "core-loop", "requests/s", "package net"},
	{"memory of an idle connection", peersFile, "memory/idle-channels=10000/resident", "core-loop", "B/channel", "gnet"},
	{"shutdown with 10,000 connections, which are drained", peersFile, "shutdown/channels=10000", "core-loop", "ns/shutdown", "Netty, which drops what was not sent"},
}

// comparisonTable is the region of the README that is made of them.
var comparisonTable = regexp.MustCompile(`\| \| Eventide \| divided by \|\n(\|.*\n)+`)

// Comparison returns the README's table for the raw files in dir. It is an error if they
// lack one of its figures.
func Comparison(dir string) (string, error) {
	r, err := readAll(dir)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("| | Eventide | divided by |\n|---|---|---|\n")
	for _, c := range comparisons {
		ratio, err := c.ratio(r)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", c.what, ratio, c.rival)
	}
	return b.String(), nil
}

func (c comparison) ratio(r raw) (string, error) {
	if c.file == benchFile {
		for _, row := range r.Bench.Rows {
			if row.Workload == c.workload && row.Impl == c.impl && row.Unit == c.unit && row.Ratio != 0 {
				return interval(row.Ratio, row.Low, row.High), nil
			}
		}
	} else if r.Peers != nil {
		for _, row := range r.Peers.Rows {
			if row.Workload == c.workload && row.Impl == c.impl && row.Unit == c.unit && row.Ratio != 0 {
				return interval(row.Ratio, row.RatioLow, row.RatioHigh), nil
			}
		}
	}
	return "", fmt.Errorf("results: %s has no ratio of %s, %s, in %s, which the README shows", c.file, c.workload, c.impl, c.unit)
}

func interval(ratio, low, high float64) string {
	return fmt.Sprintf("%.2f (%.2f to %.2f)", ratio, low, high)
}

// WriteReadme writes the table into the README at path.
func WriteReadme(dir, path string) error {
	text, table, err := readmeAndTable(dir, path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, comparisonTable.ReplaceAllLiteral(text, []byte(table)), 0o666)
}

// CheckReadme returns an error if the table in the README at path is not what the raw
// files in dir give.
func CheckReadme(dir, path string) error {
	text, table, err := readmeAndTable(dir, path)
	if err != nil {
		return err
	}
	if got := string(comparisonTable.Find(text)); got != table {
		return fmt.Errorf("results: %s: got the table\n%swant\n%s`make results` writes it", path, got, table)
	}
	return nil
}

func readmeAndTable(dir, path string) (text []byte, table string, err error) {
	if table, err = Comparison(dir); err != nil {
		return nil, "", err
	}
	if text, err = os.ReadFile(path); err != nil {
		return nil, "", fmt.Errorf("results: %w", err)
	}
	if !comparisonTable.Match(text) {
		return nil, "", errors.New("results: " + path + " has no table of comparisons")
	}
	return text, table, nil
}
