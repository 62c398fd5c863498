package driver

import (
	"os"
	"path/filepath"
	"strings"

	picture "eventide/internal/timeline"
)

// writeHTML writes the timeline of a finding into the directory of -html, and returns
// the name of the file.
func (s *search) writeHTML(f *found) (string, error) {
	if err := os.MkdirAll(s.opts.HTML, 0o755); err != nil {
		return "", inputError("-html: %w", err)
	}
	drawn, err := s.picture(f).Page()
	if err != nil {
		return "", err
	}
	name := filepath.Join(s.opts.HTML, unsafeName.ReplaceAllString(s.test.Name, "_")+"-"+f.cause.Verdict+"-"+shortHash(f.cause.key())+".html")
	if err := os.WriteFile(name, drawn, 0o644); err != nil {
		return "", inputError("-html: %w", err)
	}
	return name, nil
}

// picture is the minimal schedule of a finding, with what the page in text says about it.
func (s *search) picture(f *found) *picture.Timeline {
	t := newTimeline(f, s.test.Name, &sourceLines{})
	t.keepOwn(s.pkg.Root)
	p := &page{search: s, found: f, line: t}
	out := &picture.Timeline{
		Title: s.pkg.ImportPath + " " + s.test.Name + ": " + f.cause.Verdict + ", " + sentences[f.cause.Verdict],
	}
	about := []string{p.confirmation()}
	if f.cause.Message != "" && words(f.cause.Message) != words(sentences[f.cause.Verdict]) {
		about = append(about, f.cause.Message)
	}
	if f.replay != nil {
		about = append(about, t.waits(f.replay, s.pkg)...)
	}
	if printed := strings.TrimSpace(f.printed); printed != "" {
		about = append(about, "the test printed:", printed)
	}
	out.Text = strings.Join(about, "\n")
	if f.file != "" {
		out.Replay = s.opts.Command + " replay " + quoted(f.file)
	}
	columns := map[uint64]int{}
	for i, l := range t.active(t.rows) {
		columns[l.number] = i
		out.Actors = append(out.Actors, "g"+itoa(l.number)+" "+l.name)
	}
	for _, r := range t.rows {
		out.Rows = append(out.Rows, t.pictureRow(r, columns[r.g]))
	}
	markBreach(out, f.cause.Verdict)
	return out
}

func (t *timeline) pictureRow(r row, column int) picture.Row {
	out := picture.Row{At: shortDuration(r.at), Actor: column, Text: t.cell(r), Detail: r.op}
	if r.obj != 0 {
		out.Detail += " of " + t.object(r.obj)
	}
	switch {
	case r.moved:
		out.Kind, out.Detail = picture.Switch, ""
	case r.note != "":
		out.Kind = picture.Cited
	}
	return out
}

// markBreach marks the last row with a note as the breach. If no row has a note, it adds a
// row that says how the schedule ended.
func markBreach(t *picture.Timeline, verdict string) {
	for i := len(t.Rows) - 1; i >= 0; i-- {
		if t.Rows[i].Kind == picture.Cited {
			t.Rows[i].Kind = picture.Breach
			return
		}
	}
	t.Rows = append(t.Rows, picture.Row{Actor: -1, Text: "the schedule ends: " + verdict, Kind: picture.Breach})
}
