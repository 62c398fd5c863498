package results

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"eventide/bench/ablation"
)

// TestCitedParts: a sentence of docs/performance.md that names experiments with a part removed has
// their ratios, as the kept run has them. A ratio is a number with two digits behind its point.
func TestCitedParts(t *testing.T) {
	var kept ablation.Report
	text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "bench", ablationFile))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &kept))
	ratios := map[string][]string{}
	for _, row := range kept.Rows {
		ratios[row.Ablation] = append(ratios[row.Ablation], fmt.Sprintf("%.2f", row.Ratio))
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "performance.md"))
	require.NoError(t, err)
	for name, wrong := range wrongRatios(string(page), ratios) {
		t.Errorf("a sentence about %s has %s of %s", name, wrong, ablationFile)
	}
	require.Contains(t, wrongRatios("It takes 0.11 (`task-lock`).", ratios), "task-lock", "the test sees nothing")
}

var (
	sentenceEnd = regexp.MustCompile(`[.:;]\s|\n\n|\n\|`)
	ratio       = regexp.MustCompile(`\b[0-9]\.[0-9][0-9]\b`)
	quoted      = regexp.MustCompile("`([a-z0-9-]+)`")
)

// wrongRatios returns a wrong number, and what would be right, by the experiments of its sentence.
func wrongRatios(page string, ratios map[string][]string) map[string]string {
	wrong := map[string]string{}
	for _, sentence := range sentenceEnd.Split(page, -1) {
		var names, known []string
		for _, q := range quoted.FindAllStringSubmatch(sentence, -1) {
			if of, ok := ratios[q[1]]; ok {
				names, known = append(names, q[1]), append(known, of...)
			}
		}
		for _, number := range ratio.FindAllString(sentence, -1) {
			if len(names) > 0 && !slices.Contains(known, number) {
				wrong[strings.Join(names, ", ")] = fmt.Sprintf("%s, want one of %v", number, known)
			}
		}
	}
	return wrong
}
