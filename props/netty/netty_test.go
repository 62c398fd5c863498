package netty

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler)) // many programs panic, or pass their timeout
	goleak.VerifyTestMain(m)
}

// minPrograms is how many recorded programs there must be.
const minPrograms = 2000

func records(t *testing.T) []Record {
	t.Helper()
	files, err := filepath.Glob("../../testdata/netty/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all []Record
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		comment, some, err := Read(file)
		file.Close()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		t.Logf("%s: %s", name, strings.TrimSpace(comment))
		all = append(all, some...)
	}
	return all
}

// TestPropNettyOracle: what core does with the recorded programs equals what Netty
// did, or differs as a named departure predicts; and each departure that programs can
// show is among them.
func TestPropNettyOracle(t *testing.T) {
	var tally Tally
	for _, r := range records(t) {
		core, err := RunCore(t, r.Program)
		if err != nil {
			t.Fatal(err)
		}
		tally.Add(Judge(r.Program, r.Netty, core))
	}
	for i, v := range tally.Wrong {
		if i == 3 {
			t.Errorf("and %d more", len(tally.Wrong)-i)
			break
		}
		t.Errorf("%v\nreplay  go test -count=1 -run '^TestPropNettyOracle$' eventide/props/netty", v)
	}
	for _, d := range tally.Missing() {
		t.Errorf("no program shows the departure %v: %s", d.Rules, d.Netty)
	}
	if tally.Programs < minPrograms {
		t.Errorf("got %d recorded programs, want at least %d", tally.Programs, minPrograms)
	}
	if tally.Equal == 0 || tally.Differ == 0 {
		t.Errorf("got %d equal outcomes and %d that differ, want some of each", tally.Equal, tally.Differ)
	}
	t.Logf("%d programs: %d equal, %d differ as the rules say; by rule %v, alone %v",
		tally.Programs, tally.Equal, tally.Differ, tally.Shown, tally.Alone)
}

// TestPropContractPredictsCore: core does what the contract says with programs that
// nobody has recorded.
func TestPropContractPredictsCore(t *testing.T) {
	n := 1000
	if testing.Short() {
		n = 200
	}
	const seed = 2
	for id := range n {
		p, _ := Generate(seed, id)
		core, err := RunCore(t, p)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		c := runContract(p, 0)
		want, got := outcomeOf(p, c.trace, c.early), outcomeOf(p, core, c.early)
		if d := got.differences("core did", want, "the contract says"); len(d) > 0 {
			t.Fatalf("seed %d: program %v\n\t%s\nreplay  go test -count=1 -run '^TestPropContractPredictsCore$' eventide/props/netty", seed, p, strings.Join(d, "\n\t"))
		}
	}
}

// TestPropEveryDifferenceHasARule: of programs that nobody has recorded, what Netty's
// rules say and what core does are equal, or differ as a named departure predicts; and
// core does what the contract says.
func TestPropEveryDifferenceHasARule(t *testing.T) {
	n := 4000
	if testing.Short() {
		n = 300
	}
	const seed = 4242
	for id := range n {
		p, _ := Generate(seed, id)
		core, err := RunCore(t, p)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if v := Judge(p, runReference(p).trace, core); len(v.Wrong) > 0 {
			t.Errorf("seed %d: %v", seed, v)
		}
	}
}

// TestHookAddedByATask: Netty adds a hook from outside by a task, behind what a task
// before it adds. The difference has the name of a rule.
func TestHookAddedByATask(t *testing.T) {
	p, err := Parse("1 nio fail=0 H1 x2{h3{}} h4{} R5 g6(0,0)")
	if err != nil {
		t.Fatal(err)
	}
	core, err := RunCore(t, p)
	if err != nil {
		t.Fatal(err)
	}
	v := Judge(p, runReference(p).trace, core)
	if len(v.Wrong) > 0 || !v.Differs || !slices.Contains(v.Rules, "R119 task") {
		t.Errorf("got %v, differs %v, want a difference by R119 task", v, v.Differs)
	}
}

// TestEveryBreachIsSeen changes one thing in what core or Netty did, in each way that
// a trace has, and wants it noticed.
func TestEveryBreachIsSeen(t *testing.T) {
	const line = "1 nio fail=0 h1{q2} x3{x4{}} u5{} l6(5) s7(30){} t8{} p9(90) g10(30,100) x11{} p12(90) x13{}"
	p, err := Parse(line)
	if err != nil {
		t.Fatal(err)
	}
	sound, err := RunCore(t, p)
	if err != nil {
		t.Fatal(err)
	}
	if v := Judge(p, runReference(p).trace, sound); len(v.Wrong) > 0 {
		t.Fatalf("%v\ncore: %v", v, sound)
	}
	for name, change := range map[string]func(*Trace){
		"a task is lost":           func(t *Trace) { t.Loop = without(t.Loop, ">4") },
		"a task runs twice":        func(t *Trace) { t.Loop = append(t.Loop, ">4") },
		"two tasks change places":  func(t *Trace) { swap(t.Loop, ">3", ">4") },
		"a refused task runs":      func(t *Trace) { t.Loop = append(t.Loop, ">13") },
		"a refusal is an answer":   func(t *Trace) { t.Outer[slices.Index(t.Outer, "13-")] = "13+" },
		"an acceptance is refused": func(t *Trace) { t.Outer[slices.Index(t.Outer, "11+")] = "11-" },
		"a hook is skipped":        func(t *Trace) { t.Loop = without(t.Loop, ">1") },
		"a hook comes too late":    func(t *Trace) { swap(t.Loop, ">1", ">11") },
		"a state is wrong":         func(t *Trace) { t.Loop[slices.Index(t.Loop, "2=1")] = "2=0" },
		"a timer is lost":          func(t *Trace) { t.Loop = without(t.Loop, ">7") },
		"a tail task is lost":      func(t *Trace) { t.Loop = without(t.Loop, ">8") },
		"a listener is lost":       func(t *Trace) { t.Loop = without(t.Loop, "L6") },
		"a future stays open":      func(t *Trace) { t.End[slices.Index(t.End, "u5=ok")] = "u5=pending" },
		"it never ends":            func(t *Trace) { t.End[len(t.End)-1] = "end=2" },
		"a body is off the loop":   func(t *Trace) { t.Loop[slices.Index(t.Loop, ">4")] = ">4?" },
	} {
		t.Run(name, func(t *testing.T) {
			broken := Trace{slices.Clone(sound.Outer), slices.Clone(sound.Loop), slices.Clone(sound.End)}
			change(&broken)
			if v := Judge(p, runReference(p).trace, broken); len(v.Wrong) == 0 {
				t.Errorf("core: got no complaint about %v", broken)
			}
			if v := Judge(p, broken, sound); len(v.Wrong) == 0 {
				t.Errorf("Netty: got no complaint about %v", broken)
			}
		})
	}
}

func without(tokens []string, token string) []string {
	i := slices.Index(tokens, token)
	return slices.Delete(tokens, i, i+1)
}

func swap(tokens []string, a, b string) {
	i, j := slices.Index(tokens, a), slices.Index(tokens, b)
	tokens[i], tokens[j] = tokens[j], tokens[i]
}

func TestParse(t *testing.T) {
	for id := range 50 {
		p, _ := Generate(3, id)
		q, err := Parse(p.String())
		if err != nil || q.String() != p.String() {
			t.Errorf("got %v, %v; want %v", q, err, p)
		}
	}
	for _, bad := range []string{"", "1 nio fail=0", "1 oio fail=0 x1{}", "1 nio fail=x x1{}", "1 nio fail=0 x1{", "1 nio fail=0 s1{}", "1 nio fail=0 y1", "1 nio fail=0 x1{}}"} {
		if p, err := Parse(bad); err == nil {
			t.Errorf("%q: got %v, want an error", bad, p)
		}
	}
}

func TestReadRefusesHalfRecords(t *testing.T) {
	for _, bad := range []string{"= | |\n", "1 nio fail=0 x1{}\n", "1 nio fail=0 x1{}\n= 1+\n", "1 nio fail=0 x1{}\n2 nio fail=0 x1{}\n= | |\n"} {
		if _, _, err := Read(strings.NewReader(bad)); err == nil {
			t.Errorf("%q: got no error", bad)
		}
	}
}
