package exectest

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"eventide/props/history"
)

// maxReport bounds, in bytes, what a failed guarantee prints.
const maxReport = 8 << 10

// toldBefore has, for each cause that Run has told in this process, the test that told
// it. The same breach of the same guarantee by a subject of the same type is one cause.
var toldBefore struct {
	sync.Mutex
	tests map[string]string
}

// firstTold returns the test that told the cause first, which may be this one.
func firstTold(cause, test string) string {
	toldBefore.Lock()
	defer toldBefore.Unlock()
	if toldBefore.tests == nil {
		toldBefore.tests = map[string]string{}
	}
	if _, known := toldBefore.tests[cause]; !known {
		toldBefore.tests[cause] = test
	}
	return toldBefore.tests[cause]
}

// tell reports the row. A cause that another test has told takes two lines; a long report
// is bounded, and go test -artifacts keeps all of it.
func (row Row) tell(t *testing.T, c *config) {
	t.Helper()
	switch row.Status {
	case Fail:
		if first := firstTold(c.subject+" "+row.cause, t.Name()); first != t.Name() {
			t.Errorf("%s: the same cause as in %s\nreplay  %s", history.Clip(row.Text), first, row.line)
			return
		}
		t.Error(row.bounded(t))
	case NotSupported:
		t.Skipf("not supported: %s", row.Text)
	case Inconclusive:
		t.Skipf("inconclusive: %s: %s", row.Sentence, row.Text)
	}
}

func (row Row) bounded(t *testing.T) string {
	short, left := history.Bound(row.Report, maxReport)
	if left == 0 {
		return short
	}
	all := filepath.Join(t.ArtifactDir(), row.Guarantee+".txt")
	if err := os.WriteFile(all, []byte(row.Report), 0o644); err != nil {
		return fmt.Sprintf("%s%d lines are left out (%v)", short, left, err)
	}
	return fmt.Sprintf("%s%d lines are left out; with -artifacts go test keeps them", short, left)
}
