package results

import (
	"fmt"
	"os"
	"regexp"
	"slices"
)

// A heading of the page about missed targets ends with what was measured: "1.7 of a channel's (1.6 to
// 1.8)" for one target, the smallest and the largest ratio for several, and what was wanted.
type heading struct {
	title   string         // up to the figures
	targets *regexp.Regexp // their names
	rival   string
}

var headings = []heading{
	{"Round trip to a loop that was busy a moment ago", regexp.MustCompile(`^roundtrip/busy/p50 core-loop / channel$`), "a channel's"},
	{"Schedule and cancel inside the loop", regexp.MustCompile(`^schedule-cancel/in-loop core(-loop)? / netty-nio$`), "Netty's"},
	{"Waiting time of a task at 10 % load, median", regexp.MustCompile(`^(latency/load=10/p50 .* / channel|SubmitLatency/load=10/.* p50 ns/task, of the channel)$`), "a channel's"},
	{"Shutdown with a backlog of 1,000 tasks or more", regexp.MustCompile(`^shutdown/backlog=1.* / netty-nio$`), "Netty's"},
	{"Shutdown with 10,000 channels", regexp.MustCompile(`^shutdown/channels=10000 core-loop / netty-nio$`), "Netty's"},
	{"Echo with 50 connections", regexp.MustCompile(`^echo/connections=50 core-loop / net$`), "net's"},
	{"Tasks from one to four producers", regexp.MustCompile(`^execute/producers=[124] .* / netty-nio$`), "Netty's"},
}

// figures returns the end of the heading.
func (h heading) figures(goals []goal) (string, error) {
	of := slices.DeleteFunc(slices.Clone(goals), func(g goal) bool { return !h.targets.MatchString(g.Name) })
	if len(of) == 0 {
		return "", fmt.Errorf("results: no target matches %s, of the heading %q", h.targets, h.title)
	}
	first, last := of[0], of[0]
	for _, g := range of {
		if g.Limit != first.Limit || g.Least != first.Least {
			return "", fmt.Errorf("results: the targets %q and %q of the heading %q have different limits", first.Name, g.Name, h.title)
		}
		if g.Measured < first.Measured {
			first = g
		}
		if g.Measured > last.Measured {
			last = g
		}
	}
	wanted := fmt.Sprintf("wanted %.3g", first.Limit)
	if first.Least {
		wanted = fmt.Sprintf("wanted surely above %.3g", first.Limit)
	}
	if len(of) == 1 {
		return fmt.Sprintf("%.2f of %s (%.2f to %.2f), %s", first.Measured, h.rival, first.Low, first.High, wanted), nil
	}
	return fmt.Sprintf("%.2f to %.2f of %s, %s", first.Measured, last.Measured, h.rival, wanted), nil
}

// WriteHeadings writes the figures into the headings of the page at path.
func WriteHeadings(dir, path string) error {
	_, want, err := withHeadings(dir, path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, want, 0o666)
}

// CheckHeadings returns an error if a heading of the page at path is not what the raw files in dir
// give.
func CheckHeadings(dir, path string) error {
	got, want, err := withHeadings(dir, path)
	if err == nil && string(got) != string(want) {
		err = fmt.Errorf("results: %s: the figures of a heading are not those of the raw files: `make results` writes them", path)
	}
	return err
}

// withHeadings returns the page as it is and as it is to be. It is an error if it lacks a heading.
func withHeadings(dir, path string) (got, want []byte, err error) {
	r, err := readAll(dir)
	if err != nil {
		return nil, nil, err
	}
	if got, err = os.ReadFile(path); err != nil {
		return nil, nil, fmt.Errorf("results: %w", err)
	}
	want = got
	for _, h := range headings {
		line := regexp.MustCompile(`(?m)^## ` + regexp.QuoteMeta(h.title) + `: .*$`)
		if !line.Match(want) {
			return nil, nil, fmt.Errorf("results: %s has no heading %q", path, "## "+h.title+": ...")
		}
		figures, err := h.figures(r.Goals())
		if err != nil {
			return nil, nil, err
		}
		want = line.ReplaceAllLiteral(want, []byte("## "+h.title+": "+figures))
	}
	return got, want, nil
}
