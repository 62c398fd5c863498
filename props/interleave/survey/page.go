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

// Table returns the kept results as text of a page. A module of the list without a result has a
// row that says so.
func (k *Kept) Table(list []Module) string {
	if len(k.Modules) == 0 {
		return "Not run.\n"
	}
	missing := k.missing(list)
	var b strings.Builder
	tests, ran, failing, findings := 0, 0, 0, 0
	var schedules uint64
	total := map[string]int{}
	fmt.Fprintf(&b, "| module | tests | run | not run | schedules | s | findings | by class | tool |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range k.Modules {
		for ; len(missing) > 0 && missing[0].Path < r.Module; missing = missing[1:] {
			b.WriteString(missing[0].notRun())
		}
		class := map[string]int{}
		for _, f := range r.Findings {
			class[f.Class]++
			total[f.Class]++
		}
		fmt.Fprintf(&b, "| %s %s | %d | %d | %s | %d | %.0f | %s | %s | %s |\n", r.Module, short(r.Version), r.Tests, r.Run, counts(r.notRun()), r.Schedules, r.Seconds, counts(r.Verdicts), counts(class), r.Commit)
		tests, ran, failing, findings, schedules = tests+r.Tests, ran+r.Run, failing+r.Failing, findings+len(r.Findings), schedules+r.Schedules
	}
	for _, m := range missing {
		b.WriteString(m.notRun())
	}
	fmt.Fprintf(&b, "\n%d modules, %d tests, %d of them run, %d schedules, %d findings (%s). %d tests fail without control too. %s; the tool at %s.\n",
		len(k.Modules), tests, ran, schedules, findings, counts(total), failing, k.Go, k.commits())
	return b.String()
}

// missing are the modules of the list that have no result, in the order of their paths.
func (k *Kept) missing(list []Module) []Module {
	some := slices.DeleteFunc(slices.Clone(list), func(m Module) bool {
		return slices.ContainsFunc(k.Modules, func(r *Result) bool { return r.Module == m.Path })
	})
	slices.SortFunc(some, func(a, b Module) int { return strings.Compare(a.Path, b.Path) })
	return some
}

// notRun is the row of a module that has no result.
func (m Module) notRun() string {
	return fmt.Sprintf("| %s %s | - | - | **the module was not run** | - | - | - | - | - |\n", m.Path, short(m.Version))
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
