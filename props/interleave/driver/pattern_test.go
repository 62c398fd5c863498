package driver

import "testing"

func TestPattern(t *testing.T) {
	for _, c := range []struct{ pattern, name, want string }{
		{"", "TestA", "^TestA$"},
		{"A", "TestA", "^TestA$"},
		{"B", "TestA", ""},
		{"A/one", "TestA", "^TestA$/one"},
		{"A/one/two|B", "TestA", "^TestA$/one/two"},
		{"A/one|A/two", "TestA", "^TestA$/one|^TestA$/two"},
		{"A/one|A", "TestA", "^TestA$"},
		{"Test(A|B)/x", "TestB", "^TestB$/x"},
		{"Test[|/]", "Test|", `^Test\|$`},
		{`Test\|A`, "Test|A", `^Test\|A$`},
	} {
		p, err := parsePattern("-run", c.pattern)
		if err != nil {
			t.Fatalf("%s: %v", c.pattern, err)
		}
		if got := p.only(c.name); got != c.want {
			t.Errorf("-run %s of %s: %q, want %q", c.pattern, c.name, got, c.want)
		}
	}
}

func TestPatternError(t *testing.T) {
	for _, s := range []string{"(", "A/(", "A|["} {
		if _, err := parsePattern("-run", s); err == nil {
			t.Errorf("-run %s: no error", s)
		}
	}
}

func TestPatternSkip(t *testing.T) {
	p, err := parsePattern("-skip", "A/x|B")
	if err != nil {
		t.Fatal(err)
	}
	if p.skips("TestA") {
		t.Error("-skip of a subtest leaves out the whole test")
	}
	if !p.skips("TestB") {
		t.Error("-skip B keeps TestB")
	}
}
