package props_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"eventide/internal/contract"
	"eventide/props"
	"eventide/props/history"
	"eventide/props/mutant"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// places has, for each place of the checklist in docs/layout.md, what is missing there of
// the guarantee with that index.
var places = []struct {
	name  string
	check func(i int, g contract.Guarantee) error
}{
	{"1, sentence", func(i int, _ contract.Guarantee) error {
		for _, p := range parts {
			text, err := os.ReadFile(filepath.Join(root, p.file))
			if err == nil {
				err = checkPart(p, string(text))
			}
			if err != nil {
				return err
			}
		}
		return nil
	}},
	{"2, predicate", func(_ int, g contract.Guarantee) error {
		row, _ := props.Lookup(g.ID)
		for _, name := range row.Predicates {
			if !slices.ContainsFunc(history.Predicates(), func(p history.Predicate) bool { return p.Name == name }) {
				return fmt.Errorf("props/history/predicates.go has no %s", name)
			}
		}
		if !row.Checked() {
			return errors.New("its row in props/guarantees.go names no predicate")
		}
		return nil
	}},
	{"3, row", func(i int, g contract.Guarantee) error {
		if i >= len(props.Guarantees) || props.Guarantees[i].ID != g.ID {
			return fmt.Errorf("props/guarantees.go has no row %d of %s", i+1, g.ID)
		}
		return nil
	}},
	{"4, planted bug", func(_ int, g contract.Guarantee) error {
		row, _ := props.Lookup(g.ID)
		planted, err := mutant.Load(filepath.Join(root, "testdata", "mutants"))
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(planted, func(m mutant.Mutant) bool { return m.Name == row.Mutant && m.Guarantee == g.ID }) {
			return fmt.Errorf("testdata/mutants has no %q of %s", row.Mutant, g.ID)
		}
		return nil
	}},
	{"5, property", func(_ int, g contract.Guarantee) error {
		return hasText("prop_test.go", `"`+g.ID+`"`, "func TestProp"+g.ID)
	}},
	{"6, scenario of the kit", func(_ int, g contract.Guarantee) error {
		return hasText("exectest/clauses.go", `"`+g.ID+`"`)
	}},
}

func hasText(file string, texts ...string) error {
	source, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	for _, text := range texts {
		if !strings.Contains(string(source), text) {
			return fmt.Errorf("props/%s has no %s", file, text)
		}
	}
	return nil
}

// missing has a line for each place where something of the guarantee is missing.
func missing(i int, g contract.Guarantee) (lines []string) {
	for _, place := range places {
		if err := place.check(i, g); err != nil {
			lines = append(lines, fmt.Sprintf("%s: place %s: %v", g.ID, place.name, err))
		}
	}
	return lines
}

// TestEveryGuaranteeIsComplete: each place of the checklist in docs/layout.md is done for
// each guarantee, and there is no row of one that the contract does not have.
func TestEveryGuaranteeIsComplete(t *testing.T) {
	for i, g := range contract.Guarantees {
		assert.Empty(t, missing(i, g))
	}
	require.Len(t, props.Guarantees, len(contract.Guarantees), "one row for each guarantee")
}

// TestAGuaranteeWithoutAnythingIsSeen: all places but the first, which is that of every
// guarantee, lack one that does not exist.
func TestAGuaranteeWithoutAnythingIsSeen(t *testing.T) {
	lines := missing(len(contract.Guarantees), contract.Guarantee{ID: "G999", Sentence: "Nothing is missing"})
	require.Len(t, lines, len(places)-1, "a line for each place")
}
