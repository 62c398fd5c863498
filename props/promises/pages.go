package promises

import (
	"os"
	"path/filepath"
	"strings"
)

// partsOf returns the pages of dir and their parts, each under a heading: true for the pages,
// and for the parts of the pages that promise something.
func partsOf(dir string, promising map[string]bool) (symbols, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.md"))
	if err != nil {
		return nil, err
	}
	s := symbols{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		page := filepath.Base(path)
		s[page] = true
		for _, heading := range headingsOf(string(text)) {
			s[page+": "+heading] = promising[page]
		}
	}
	return s, nil
}

// headingsOf returns the headings of a page except its title. A line of a program or a command
// is none.
func headingsOf(text string) (headings []string) {
	code := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") {
			code = !code
		}
		marks, heading, ok := strings.Cut(line, " ")
		if ok && !code && len(marks) > 1 && strings.Trim(marks, "#") == "" {
			headings = append(headings, heading)
		}
	}
	return headings
}
