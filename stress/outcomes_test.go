package stress

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files of this package anew")

// golden compares got with a file that a person has agreed to.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; if the new text is right: go test ./stress -run '^%s$' -update\ngot:\n%s\nwant:\n%s", path, t.Name(), got, want)
	}
}

func sampleTable() *Table {
	table := NewTable("Execute against Shutdown",
		Row{"accepted, ran", Acceptable, "The enqueue came before the close."},
		Row{"refused", Acceptable, "The close came before the enqueue."},
		Row{"accepted, lost", Forbidden, "G3: what was accepted runs before done."},
	)
	for range 29_999 {
		table.Add("accepted, ran")
	}
	table.Add("refused")
	return table
}

// TestTableGolden shows how tables look: one that passes and one that does not.
func TestTableGolden(t *testing.T) {
	good, bad := sampleTable(), sampleTable()
	bad.Add("accepted, lost")
	bad.Add("refused, ran")
	golden(t, "table.golden", good.String()+"\n"+bad.String()+"\n"+bad.Check().Error()+"\n")
	if err := good.Check(); err != nil {
		t.Errorf("the table of acceptable outcomes: got %v, want no error", err)
	}
}

func TestTableCheck(t *testing.T) {
	cases := []struct {
		name string
		rows []Row
		add  []string
		want string // part of the error; empty: none
	}{
		{"acceptable", []Row{{"a", Acceptable, "Fine."}}, []string{"a"}, ""},
		{"forbidden but not seen", []Row{{"a", Acceptable, "Fine."}, {"b", Forbidden, "Bad."}}, []string{"a"}, ""},
		{"forbidden", []Row{{"a", Acceptable, "Fine."}, {"b", Forbidden, "Bad."}}, []string{"a", "b", "a"}, `FORBIDDEN outcome "b" seen 1 times in 3: Bad.`},
		{"no row", []Row{{"a", Acceptable, "Fine."}}, []string{"a", "c"}, `outcome "c", seen 1 times, has no verdict`},
		{"no verdict, not even seen", []Row{{"a", Acceptable, "Fine."}, {Outcome: "b", Why: "Hm."}}, []string{"a"}, `outcome "b", seen 0 times, has no verdict`},
		{"verdict out of range", []Row{{"a", Forbidden + 1, "Hm."}}, []string{"a"}, `outcome "a", seen 1 times, has no verdict`},
		{"no sentence", []Row{{"a", Acceptable, ""}}, []string{"a"}, "no sentence"},
		{"two rows", []Row{{"a", Acceptable, "Fine."}, {"a", Forbidden, "Bad."}}, []string{"a"}, "two rows"},
		{"nothing counted", []Row{{"a", Acceptable, "Fine."}}, nil, "nothing was counted"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			table := NewTable("sample", c.rows...)
			for _, outcome := range c.add {
				table.Add(outcome)
			}
			err := table.Check()
			if c.want == "" {
				if err != nil {
					t.Errorf("Check: got %v, want no error", err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Check: got %v, want an error with %q", err, c.want)
			}
		})
	}
}
