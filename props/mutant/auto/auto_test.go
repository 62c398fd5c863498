package auto

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var update = flag.Bool("update", false, "write testdata/sites.txt instead of comparing it")

const module = "../../.."

// small are the sites of a package that has each thing that an operator changes.
var small = sync.OnceValues(func() (*Source, error) { return Load("testdata/small", ".") })

// core are those of the packages that are measured.
var core = sync.OnceValues(func() (*Source, error) {
	return Load(module, "./core", "./core/tcp", "./core/blocking", "./core/process")
})

// TestEverySite compares each site of a small package, and each way in which it is changed,
// with the list that somebody has read. A way that does not compile is marked.
func TestEverySite(t *testing.T) {
	s, err := small()
	require.NoError(t, err)
	var list bytes.Buffer
	operator := ""
	for _, site := range s.Sites {
		if site.Operator != operator {
			operator = site.Operator
			fmt.Fprintf(&list, "%s\n", operator)
		}
		for way := range site.ways {
			p := Pick{site, way}
			mark := ""
			if !p.compiles() {
				mark = "  (does not compile)"
			}
			fmt.Fprintf(&list, "\t%s: %s%s\n", site.Function, strings.TrimPrefix(p.String(), "small.go:"), mark)
		}
	}
	golden := filepath.Join("testdata", "sites.txt")
	if *update {
		require.NoError(t, os.WriteFile(golden, list.Bytes(), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), list.String())
	for _, o := range Operators() {
		require.Contains(t, list.String(), o[0]+"\n\t", "no site of this operator: the test shows nothing of it")
	}
}

// TestPickIsRepeatable: the same seed gives the same picks, another seed gives others, and
// a larger number begins with the picks of a smaller one.
func TestPickIsRepeatable(t *testing.T) {
	s, err := core()
	require.NoError(t, err)
	texts := func(n int, seed uint64) (all []string) {
		picks, _, err := s.Pick(n, seed)
		require.NoError(t, err)
		for _, p := range picks {
			all = append(all, p.Name())
		}
		return all
	}
	ten := texts(10, 1)
	require.Equal(t, ten, texts(20, 1)[:10])
	require.NotEqual(t, ten, texts(10, 2))
}

// TestPickIsUniform draws one pick with each of many seeds from a small package. Each site
// is drawn about as often as the others; one that never compiles is not drawn.
func TestPickIsUniform(t *testing.T) {
	s, err := small()
	require.NoError(t, err)
	const draws = 6000
	sites := map[string]float64{}
	for seed := range uint64(draws) {
		picks, _, err := s.Pick(1, seed)
		require.NoError(t, err)
		p := picks[0]
		sites[fmt.Sprint(p.Operator, p.ways[0])]++
	}
	expected := draws / float64(len(sites))
	for site, n := range sites {
		// Six standard deviations of a binomial: the seeds are fixed, so this is no lottery.
		// A site with two ways of which one does not compile is drawn half as often.
		require.InDelta(t, expected, n, expected/2+6*math.Sqrt(expected), site)
	}
	require.Greater(t, len(sites), len(s.Sites)*9/10)
}

// TestNamesAreUnique: no two ways of all sites have one name.
func TestNamesAreUnique(t *testing.T) {
	s, err := core()
	require.NoError(t, err)
	named := map[string]Pick{}
	for _, site := range s.Sites {
		for way := range site.ways {
			p := Pick{site, way}
			other, taken := named[p.Name()]
			require.False(t, taken, "%s is the name of two picks: %v and %v", p.Name(), other, p)
			named[p.Name()] = p
		}
	}
}

// TestMutantIsThePick: the planted bug has the text that the pick stands for, for every way
// of one site in seven; all of them take long.
func TestMutantIsThePick(t *testing.T) {
	s, err := core()
	require.NoError(t, err)
	for i := 0; i < len(s.Sites); i += 7 {
		for way := range s.Sites[i].ways {
			p := Pick{s.Sites[i], way}
			changed, err := p.Mutant().Apply(module)
			require.NoError(t, err)
			require.Equal(t, p.Changed(), changed, p.Name())
		}
	}
}

func TestPickRefusesANumber(t *testing.T) {
	s, err := small()
	require.NoError(t, err)
	for _, n := range []int{-1, 0, len(s.Sites) + 1} {
		_, _, err := s.Pick(n, 1)
		require.ErrorContains(t, err, fmt.Sprintf("got %d picks, want 1 to %d", n, len(s.Sites)))
	}
	_, _, err = s.Pick(len(s.Sites), 1)
	require.ErrorContains(t, err, "so many sites have a change that compiles")
}

func TestLoadRefusesWhatDoesNotBuild(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module broken\n\ngo 1.26\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.go"), []byte("package broken\n\nvar a int = true\n"), 0o644))
	_, err := Load(dir, ".")
	require.ErrorContains(t, err, "a.go:3")
	_, err = Load(dir, "./nowhere")
	require.ErrorContains(t, err, "nowhere")
}
