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
	"eventide/props/lanes/sockets/shadow"
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
	if len(r.Model.objections("")) > 0 || len(r.Channels.objections("")) > 0 || len(r.Traces.Wrong) > 0 {
		beside = "The model or a kept trace has a wrong verdict. "
	}
	short := 0
	for _, s := range r.Modelled() {
		switch s.Verdict {
		case fail:
			beside += fmt.Sprintf("The %s lane found a violation. ", s.Name)
		case notRun:
			short++
		}
	}
	switch {
	case counts[fail] > 0:
		return fmt.Sprintf("%s%d of %d guarantees are violated.", beside, counts[fail], len(r.Guarantees)), fail
	case beside != "":
		return strings.TrimSpace(beside), fail
	case counts[notRun] > 0:
		return fmt.Sprintf("No violation was found, but %d of %d guarantees were not checked enough to pass.", counts[notRun], len(r.Guarantees)), "not-run"
	case short > 0:
		return fmt.Sprintf("No violation was found, but %d of %d lanes over a model did not run enough to pass.", short, len(r.Modelled())), "not-run"
	}
	return fmt.Sprintf("All %d guarantees pass.", len(r.Guarantees)), pass
}

// modelled is a lane over a model, with its name and what its programs are.
type modelled struct {
	Name, Programs string
	Count          int // of programs
	Verdict        string
	Reason         string // of a verdict that is not pass
}

// Modelled returns the lanes over a model.
func (r report) Modelled() (all []modelled) {
	for i, s := range r.shadows() {
		name := shadow.Lanes[i].Name
		all = append(all, modelled{name, programsOf[name], s.Programs, s.Verdict, s.Reason})
	}
	return all
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

// addRecorded adds the kept traces, by guarantee.
func (p *page) addRecorded() error {
	number := func(l *timeline.Timeline) (n int) {
		_, _ = fmt.Sscanf(l.Title, "G%d", &n) // 0 for another title
		return n
	}
	all := slices.Clone(p.Traces.recorded)
	slices.SortStableFunc(all, func(a, b *timeline.Timeline) int { return number(a) - number(b) })
	for _, l := range all {
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
