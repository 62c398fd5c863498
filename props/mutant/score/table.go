package score

import (
	"fmt"
	"io"
)

// Table prints the score for a person: of all picks, by package, by kind of check, by
// operator, and every survivor.
func (f *File) Table(w io.Writer, operators []string) {
	all := Total(f.Picks)
	fmt.Fprintf(w, "%d picks of %d sites; %d change behaviour as far as is known, %d do not: %d are equivalent, %d change only the performance and %d only the memory\n",
		len(f.Picks), f.Sites, all.Of, all.Aside(), all.Equivalent, all.Slower, all.Larger)
	fmt.Fprintf(w, "generic checks killed %v, all checks %v\n\n", all.GenericScore(), all.Score())
	table(w, "package", Rows(f.Picks, func(p Pick) string { return p.Package }))
	table(w, "operator", Rows(f.Picks, func(p Pick) string { return p.Operator }, operators...))
	fmt.Fprintf(w, "%-14s %6s %6s %6s  %s\n", "check", "looked", "killed", "alone", "share of those it looked for")
	for _, k := range Kinds(f.Picks) {
		fmt.Fprintf(w, "%-14s %6d %6d %6d  %v\n", k.By, k.Looked, k.Killed, k.Alone, k.Share())
	}
	fmt.Fprintf(w, "\n%d survivors\n", all.Survived)
	for _, p := range f.Picks {
		if p.Verdict == Survived {
			fmt.Fprintf(w, "  %s\n", p.Place)
		}
	}
}

func table(w io.Writer, name string, rows []Row) {
	fmt.Fprintf(w, "%-24s %5s  %-26s %-26s %8s\n", name, "picks", "generic", "all", "survived")
	for _, r := range rows {
		fmt.Fprintf(w, "%-24s %5d  %-26v %-26v %8d\n", r.Name, r.Of, r.GenericScore(), r.Score(), r.Survived)
	}
	fmt.Fprintln(w)
}
