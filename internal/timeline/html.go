package timeline

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"strings"
)

//go:embed style.css
var style string

//go:embed script.js
var script string

//go:embed timeline.html.tmpl
var markup string

// Style returns the style sheet of what HTML returns, for a page to include once. It
// follows the reader's preference of light or dark.
func Style() template.CSS { return template.CSS(style) }

// Script returns the script of what HTML returns, for a page to include once. Without it
// everything can be read; with it j and k move from row to row, Enter opens one, b moves to
// the breach, and each timeline begins with the breach in the middle.
func Script() template.JS { return template.JS(script) }

// cell is what a row shows in one place.
type cell struct {
	Number int // of the row, from 1; of the first one of a fold
	Row
	Column int      // of the table
	Name   string   // of the actor
	Words  string   // what a reader who sees no colour needs: "the breach"
	Folded []string // texts of the rows of a fold, which have no other detail
	Band   *band    // begins with this row
}

// band is the cell of a state, as high as the rows that it lasts.
type band struct {
	State string
	Index int
	Rows  int
}

type view struct {
	*Timeline
	Cells []cell
	Wide  int // columns of the table
}

var page = template.Must(template.New("timeline").Funcs(template.FuncMap{
	"span": func(n int) []struct{} { return make([]struct{}, n) },
	"sub":  func(a, b int) int { return a - b },
}).Parse(markup))

// HTML draws the timeline as one element. It returns the error of Check.
func (t *Timeline) HTML() (template.HTML, error) {
	if err := t.Check(); err != nil {
		return "", err
	}
	v := view{Timeline: t, Cells: t.fold(), Wide: 2 + len(t.Actors)}
	if len(t.States) > 0 {
		v.Wide++
		v.bands()
	}
	var b strings.Builder
	if err := page.Execute(&b, v); err != nil {
		return "", err
	}
	return template.HTML(b.String()), nil
}

// Has reports whether a row is of the kind, for the legend.
func (v view) Has(k Kind) bool {
	return slices.ContainsFunc(v.Rows, func(r Row) bool { return r.Kind == k })
}

// HasSource reports whether a row can be opened, and HasCauses whether one names the row that it
// saw.
func (v view) HasSource() bool {
	return slices.ContainsFunc(v.Cells, func(c cell) bool { return c.Detail != "" || c.Folded != nil })
}

func (v view) HasCauses() bool {
	return slices.ContainsFunc(v.Rows, func(r Row) bool { return r.After > 0 })
}

// words name the kinds for readers who see no colour.
var words = map[Kind]string{Breach: "here the rule is broken", Cited: "the rule is about this", Switch: "the turn goes to another"}

// fold returns the rows, those minor rows of one actor that follow each other as one.
func (t *Timeline) fold() []cell {
	var out []cell
	for i, r := range t.Rows {
		if n := len(out); r.Kind == Minor && n > 0 {
			if last := &out[n-1]; last.Kind == Minor && last.Actor == r.Actor && last.State == r.State {
				if last.Folded == nil {
					last.Folded = []string{folded(last.Row)}
				}
				last.Folded = append(last.Folded, folded(r))
				last.Text = fmt.Sprintf("%d operations that change nothing", len(last.Folded))
				continue
			}
		}
		c := cell{Number: i + 1, Row: r, Column: r.Actor, Words: words[r.Kind]}
		if r.Actor >= 0 {
			c.Name = t.Actors[r.Actor]
		}
		out = append(out, c)
	}
	return out
}

func folded(r Row) string {
	if r.Detail == "" {
		return r.Text
	}
	return r.Text + "  " + r.Detail
}

// bands gives the first cell of each state the height of its band.
func (v *view) bands() {
	for i := range v.Cells {
		c := &v.Cells[i]
		if i == 0 || c.State != v.Cells[i-1].State {
			c.Band = &band{State: v.States[c.State], Index: c.State}
			for _, later := range v.Cells[i:] {
				if later.State != c.State {
					break
				}
				c.Band.Rows++
			}
		}
	}
}

// wholePage is one file: it loads nothing from a network.
var wholePage = template.Must(template.New("page").Parse(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{{.Title}}</title>
<style>body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 90rem; padding: 1rem; }
@media (prefers-color-scheme: dark) { body { color: #e4e7ec; background: #16181d; } }
{{.Style}}</style>
</head>
<body>
{{.Timeline}}
<p>Keys: j and k go to the next and the previous row, Enter opens a row, b goes to the row where the rule is broken.</p>
<script>{{.Script}}</script>
</body>
</html>
`))

// Page returns the timeline as a page of its own. It returns the error of Check.
func (t *Timeline) Page() ([]byte, error) {
	drawn, err := t.HTML()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = wholePage.Execute(&b, struct {
		Title    string
		Style    template.CSS
		Script   template.JS
		Timeline template.HTML
	}{t.Title, Style(), Script(), drawn})
	return b.Bytes(), err
}
