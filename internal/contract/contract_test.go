package contract

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
)

// TestSentences: the numbers have no gap, and each sentence fits into a row of a table.
func TestSentences(t *testing.T) {
	seen := map[string]bool{}
	for i, g := range Guarantees {
		if want := fmt.Sprintf("G%d", i+1); g.ID != want {
			t.Errorf("guarantee %d is %s, want %s", i+1, g.ID, want)
		}
		first := []rune(g.Sentence + " ")[0]
		if !unicode.IsUpper(first) || strings.HasSuffix(g.Sentence, ".") || strings.Contains(g.Sentence, "|") || len(g.Sentence) > 108 || seen[g.Sentence] {
			t.Errorf("%s: %q: want a sentence of its own of at most 108 bytes, without the period and without |", g.ID, g.Sentence)
		}
		seen[g.Sentence] = true
		if Sentence(g.ID) != g.Sentence {
			t.Errorf("Sentence(%s) is %q", g.ID, Sentence(g.ID))
		}
	}
	if Sentence("G0") != "" {
		t.Error("G0 has a sentence")
	}
}
