package evidence

import (
	"bytes"
	_ "embed"
	"fmt"
	"os"
	"strings"
	"text/template"
)

//go:embed kernels.md.tmpl
var kernelsPage string

// Page returns the page of the kernels.
func (k *Kernels) Page() ([]byte, error) {
	t, err := template.New("kernels").Funcs(template.FuncMap{"join": strings.Join, "short": shortName}).Parse(kernelsPage)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = t.Execute(&out, k)
	return out.Bytes(), err
}

func shortName(kernel string) string { return strings.TrimPrefix(kernel, "Test") }

// Columns returns the cells of a row of the table of schedules.
func (k *Kernels) Columns(r Row) []string {
	var cells []string
	for _, name := range k.Strategies() {
		if c := r.Cell(name); c != nil {
			limit := k.Limits.Schedules
			if name == Exhaustive {
				limit = k.Limits.Exhaustive
			}
			cells = append(cells, c.text(limit))
		}
	}
	for _, name := range Tools {
		if t := r.Tool(name); t != nil {
			cells = append(cells, t.text())
		}
	}
	return cells
}

// Times returns the cells of a row of the table of processor time.
func (k *Kernels) Times(r Row) []string {
	var cells []string
	for _, name := range k.Strategies() {
		switch c := r.Cell(name); {
		case c == nil || c.NotRun != "":
			cells = append(cells, "not run")
		default:
			cells = append(cells, fmt.Sprintf("%.0f", c.MedianTime()))
		}
	}
	return cells
}

// Render writes a page, or with check fails if the page has another text.
func Render(page string, want []byte, check bool) error {
	if !check {
		return os.WriteFile(page, want, 0o644)
	}
	got, err := os.ReadFile(page)
	if err != nil {
		return fmt.Errorf("evidence: %w", err)
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("evidence: %s does not state the kept results; `make interleave-pages` writes it", page)
	}
	return nil
}
