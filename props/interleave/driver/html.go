package driver

import (
	"html/template"
	"os"
	"path/filepath"
	"strings"
)

// timelinePage is one file: it loads nothing from a network.
var timelinePage = template.Must(template.New("timeline").Parse(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{{.Test}}: {{.Verdict}}</title>
<style>
body { font: 14px/1.4 system-ui, sans-serif; margin: 2em; color: #222; }
h1 { font-size: 1.3em; }
pre, td, th { font: 12px/1.5 ui-monospace, monospace; }
table { border-collapse: collapse; }
th, td { text-align: left; padding: 2px 10px; border-left: 1px solid #ddd; vertical-align: top; white-space: pre; }
th { position: sticky; top: 0; background: #fff; border-bottom: 1px solid #999; }
td.time { color: #888; border-left: 0; text-align: right; }
td.ran { background: #eef4ff; }
td.moved { background: #fff3d6; color: #7a5500; }
td.last { background: #ffe3e0; }
tr:hover td { outline: 1px solid #bbb; }
</style>
</head>
<body>
<h1>{{.Package}} {{.Test}}: {{.Verdict}}</h1>
<p>{{.Sentence}}. {{.Confirmation}}.</p>
{{if .Message}}<pre>{{.Message}}</pre>{{end}}
{{if .Waits}}<ul>{{range .Waits}}<li>{{.}}</li>{{end}}</ul>{{end}}
<table>
<tr><th>time</th>{{range .Lanes}}<th>{{.}}</th>{{end}}</tr>
{{range .Rows}}<tr><td class="time">{{.Time}}</td>{{range .Cells}}<td{{if .Class}} class="{{.Class}}" title="{{.Title}}"{{end}}>{{.Text}}</td>{{end}}</tr>
{{end}}</table>
{{if .Printed}}<h2>The test printed</h2><pre>{{.Printed}}</pre>{{end}}
{{if .Replay}}<p>Replay: <code>{{.Replay}}</code></p>{{end}}
</body>
</html>
`))

type htmlPage struct {
	Package, Test, Verdict, Sentence, Confirmation, Message, Printed, Replay string
	Waits, Lanes                                                             []string
	Rows                                                                     []htmlRow
}

type htmlRow struct {
	Time  string
	Cells []htmlCell
}

type htmlCell struct{ Text, Class, Title string }

// writeHTML writes the timeline of a finding into the directory of -html, and returns
// the name of the file.
func (s *search) writeHTML(f *found) (string, error) {
	if err := os.MkdirAll(s.opts.HTML, 0o755); err != nil {
		return "", inputError("-html: %w", err)
	}
	t := newTimeline(f, s.test.Name, &sourceLines{})
	t.keepOwn(s.pkg.Root)
	p := &page{search: s, found: f, line: t}
	data := htmlPage{Package: s.pkg.ImportPath, Test: s.test.Name, Verdict: f.cause.Verdict, Sentence: sentences[f.cause.Verdict],
		Confirmation: p.confirmation(), Message: f.cause.Message, Printed: strings.TrimSpace(f.printed)}
	if f.replay != nil {
		data.Waits = t.waits(f.replay, s.pkg)
	}
	if f.file != "" {
		data.Replay = s.opts.Command + " replay " + quoted(f.file)
	}
	lanes := t.active(t.rows)
	for _, l := range lanes {
		data.Lanes = append(data.Lanes, "g"+itoa(l.number)+" "+l.name)
	}
	for _, r := range t.rows {
		data.Rows = append(data.Rows, t.htmlRow(r, lanes))
	}
	name := filepath.Join(s.opts.HTML, unsafeName.ReplaceAllString(s.test.Name, "_")+"-"+f.cause.Verdict+"-"+shortHash(f.cause.key())+".html")
	out, err := os.Create(name)
	if err != nil {
		return "", inputError("-html: %w", err)
	}
	defer out.Close()
	if err := timelinePage.Execute(out, data); err != nil {
		return "", err
	}
	return name, out.Close()
}

func (t *timeline) htmlRow(r row, lanes []lane) htmlRow {
	out := htmlRow{Time: shortDuration(r.at)}
	for _, l := range lanes {
		var c htmlCell
		if l.number == r.g {
			c = htmlCell{Text: t.cell(r), Class: "ran", Title: r.op}
			if r.obj != 0 {
				c.Title += " of " + t.object(r.obj)
			}
			switch {
			case r.moved:
				c.Class = "moved"
			case r.note != "":
				c.Class = "last"
			}
		}
		out.Cells = append(out.Cells, c)
	}
	return out
}
