package survey

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// Page writes a text between two marks of a page, which are comments with the part's
// name. With check it returns an error if the page has another text there.
func Page(page, part, text string, check bool) error {
	old, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	begin, end := "<!-- "+part+": begin -->\n", "<!-- "+part+": end -->\n"
	before, rest, ok := bytes.Cut(old, []byte(begin))
	_, after, ok2 := bytes.Cut(rest, []byte(end))
	if !ok || !ok2 {
		return fmt.Errorf("%s: there is no place between %q and %q", page, begin, end)
	}
	want := slices.Concat(before, []byte(begin), []byte(text), []byte(end), after)
	switch {
	case bytes.Equal(want, old):
		return nil
	case check:
		return fmt.Errorf("%s does not state the kept results about %s; run survey -render", page, part)
	}
	return os.WriteFile(page, want, 0o644)
}

// Table returns the kept results as text of a page.
func (k *Kept) Table() string {
	if len(k.Modules) == 0 {
		return "Not run.\n"
	}
	var b strings.Builder
	tests, ran, failing, findings := 0, 0, 0, 0
	var schedules uint64
	total := map[string]int{}
	fmt.Fprintf(&b, "| module | tests | run | not run | schedules | s | findings | by class | tool |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range k.Modules {
		class := map[string]int{}
		for _, f := range r.Findings {
			class[f.Class]++
			total[f.Class]++
		}
		fmt.Fprintf(&b, "| %s %s | %d | %d | %s | %d | %.0f | %s | %s | %s |\n", r.Module, short(r.Version), r.Tests, r.Run, counts(r.notRun()), r.Schedules, r.Seconds, counts(r.Verdicts), counts(class), r.Commit)
		tests, ran, failing, findings, schedules = tests+r.Tests, ran+r.Run, failing+r.Failing, findings+len(r.Findings), schedules+r.Schedules
	}
	fmt.Fprintf(&b, "\n%d modules, %d tests, %d of them run, %d schedules, %d findings (%s). %d tests fail without control too. %s; the tool at %s.\n",
		len(k.Modules), tests, ran, schedules, findings, counts(total), failing, k.Go, k.commits())
	return b.String()
}

// commits are the commits of the tool that made the results.
func (k *Kept) commits() string {
	seen := map[string]bool{}
	for _, r := range k.Modules {
		seen[r.Commit] = true
	}
	return strings.Join(slices.Sorted(maps.Keys(seen)), ", ")
}

// notRun are the tests that were not run, and whether the module was cut off.
func (r *Result) notRun() map[string]int {
	all := maps.Clone(r.NotRun)
	if r.Failed != "" {
		if all == nil {
			all = map[string]int{}
		}
		all["module, cut off when its time was up"] = 1
	}
	return all
}

// short is a version without the hash of a pseudo-version.
func short(version string) string {
	if parts := strings.Split(version, "-"); len(parts) == 3 {
		return parts[0] + "-" + parts[1]
	}
	return version
}

// counts lists what is counted, by name.
func counts(m map[string]int) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf("%d %s", m[key], key))
	}
	return strings.Join(parts, ", ")
}
