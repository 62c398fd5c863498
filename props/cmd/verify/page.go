package main

import (
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"eventide/internal/timeline"
)

//go:embed page.html.tmpl
var pageMarkup string

//go:embed page.css
var pageStyle string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"percent": func(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) },
	"sub":     func(a, b int) int { return a - b },
	"class":   func(verdict string) string { return strings.ReplaceAll(verdict, " ", "-") },
}).Parse(pageMarkup))

// page is report.html: one file that loads nothing from elsewhere.
type page struct {
	report
	Style     template.CSS
	Script    template.JS
	Verdict   string          // of the whole run, in one sentence
	Class     string          // pass, fail or not-run
	Timelines []template.HTML // of the runs that failed
	Recorded  []recorded      // of the kept traces of bugs
	Plots     []plot
	Unread    []string // what could not be shown, with the reason
}

// recorded is a kept trace.
type recorded struct {
	Title string
	Drawn template.HTML
}

// plot is a kept picture as the address of an image.
type plot struct {
	Name string
	Data template.URL
}

// writePage writes report.html. It shows the timelines of this run alone: those in cases
// that are not older than the run. What cannot be read is named in the page and in the
// error, and the rest is shown.
func (r report) writePage(path, root, cases string) error {
	p := page{report: r, Style: template.CSS(pageStyle) + timeline.Style(), Script: timeline.Script()}
	p.Verdict, p.Class = r.verdict()
	err := errors.Join(p.addTimelines(cases), p.addRecorded(), p.addPlots(filepath.Join(root, "testdata", "bench", "plots")))
	out, createErr := os.Create(path)
	if createErr != nil {
		return errors.Join(err, createErr)
	}
	return errors.Join(err, pageTemplate.Execute(out, p), out.Close())
}

// verdict is the sentence on top, and its class.
func (r report) verdict() (text, class string) {
	counts := map[string]int{}
	for _, g := range r.Guarantees {
		counts[g.Verdict]++
	}
	beside := ""
	if r.Model.bad() || r.Channels.bad() || len(r.Traces.Wrong) > 0 {
		beside = "The model or a kept trace has a wrong verdict. "
	}
	switch {
	case counts[fail] > 0:
		return fmt.Sprintf("%s%d of %d guarantees are violated.", beside, counts[fail], len(r.Guarantees)), fail
	case beside != "":
		return beside, fail
	case counts[notRun] > 0:
		return fmt.Sprintf("No violation was found, but %d of %d guarantees were not checked enough to pass.", counts[notRun], len(r.Guarantees)), "not-run"
	}
	return fmt.Sprintf("All %d guarantees pass.", len(r.Guarantees)), pass
}

// addTimelines adds the timelines of the run: breaches first, then what nothing broke.
func (p *page) addTimelines(dir string) error {
	paths, err := filepath.Glob(filepath.Join(dir, "*"+timeline.Extension))
	if err != nil {
		return err
	}
	var errs []error
	var all []*timeline.Timeline
	for _, path := range paths {
		info, err := os.Stat(path)
		if err == nil && info.ModTime().Before(p.Began.Truncate(time.Second)) {
			continue // of an earlier run
		}
		l, err := timeline.Load(path)
		if err != nil {
			errs = append(errs, err)
			p.Unread = append(p.Unread, err.Error())
			continue
		}
		all = append(all, l)
	}
	slices.SortStableFunc(all, func(a, b *timeline.Timeline) int { return breaches(b) - breaches(a) })
	for _, l := range all {
		drawn, err := l.HTML()
		if err != nil { // Load has checked it
			return err
		}
		p.Timelines = append(p.Timelines, drawn)
	}
	return errors.Join(errs...)
}

func (p *page) addRecorded() error {
	for _, l := range p.Traces.recorded {
		drawn, err := l.HTML()
		if err != nil {
			return err
		}
		p.Recorded = append(p.Recorded, recorded{l.Title, drawn})
	}
	return nil
}

// breaches is the number of breaches in a timeline: 0 or 1.
func breaches(l *timeline.Timeline) int {
	if slices.ContainsFunc(l.Rows, func(r timeline.Row) bool { return r.Kind == timeline.Breach }) {
		return 1
	}
	return 0
}

func (p *page) addPlots(dir string) error {
	paths, err := filepath.Glob(filepath.Join(dir, "*.svg"))
	if err != nil {
		return err
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			p.Unread = append(p.Unread, err.Error())
			return err
		}
		name := strings.ReplaceAll(strings.TrimSuffix(filepath.Base(path), ".svg"), "-", " ")
		p.Plots = append(p.Plots, plot{name, template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(data))})
	}
	return nil
}
