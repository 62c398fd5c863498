package driver

import (
	"regexp"
	"strings"
)

// A runPattern is a -run or -skip pattern, split as package testing splits it: first
// into alternatives, then by slashes into a pattern for each level of subtests.
type runPattern []alternative

type alternative struct {
	top  *regexp.Regexp
	rest string // patterns of the subtests, with the slash before them
}

func parsePattern(name, s string) (runPattern, error) {
	var p runPattern
	for _, alt := range splitOutside(s, '|') {
		levels := splitOutside(alt, '/')
		re, err := regexp.Compile(levels[0])
		if err != nil {
			return nil, inputError("%s %s: %w", name, s, err)
		}
		for _, level := range levels[1:] {
			if _, err := regexp.Compile(level); err != nil {
				return nil, inputError("%s %s: %w", name, s, err)
			}
		}
		rest := ""
		if len(levels) > 1 {
			rest = "/" + strings.Join(levels[1:], "/")
		}
		p = append(p, alternative{re, rest})
	}
	return p, nil
}

// only returns the pattern that limits p to the named test: it runs the subtests of
// this test that p runs. It returns "" if p does not match the test.
func (p runPattern) only(name string) string {
	var parts []string
	for _, alt := range p {
		if !alt.top.MatchString(name) {
			continue
		}
		if alt.rest == "" {
			return "^" + regexp.QuoteMeta(name) + "$"
		}
		parts = append(parts, "^"+regexp.QuoteMeta(name)+"$"+alt.rest)
	}
	return strings.Join(parts, "|")
}

// skips says whether p, as a -skip pattern, leaves out the whole test.
func (p runPattern) skips(name string) bool {
	for _, alt := range p {
		if alt.rest == "" && alt.top.MatchString(name) {
			return true
		}
	}
	return false
}

// splitOutside splits s at the separators that are in no bracket or parenthesis.
func splitOutside(s string, sep byte) []string {
	var parts []string
	class, group, start := 0, 0, 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			i++
		case c == '[':
			class++
		case c == ']' && class > 0:
			class--
		case c == '(' && class == 0:
			group++
		case c == ')' && class == 0 && group > 0:
			group--
		case c == sep && class == 0 && group == 0:
			parts = append(parts, s[start:i])
			start = i + 1
		}
	}
	return append(parts, s[start:])
}
