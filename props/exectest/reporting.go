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

// reportedBefore has, for each cause that Run has reported in this process, the test that
// reported it. The same breach of the same guarantee by a subject of the same type is one
// cause.
var reportedBefore struct {
	sync.Mutex
	tests map[string]string
}

// firstReported returns the test that reported the cause first, which may be this one.
func firstReported(cause, test string) string {
	reportedBefore.Lock()
	defer reportedBefore.Unlock()
	if reportedBefore.tests == nil {
		reportedBefore.tests = map[string]string{}
	}
	if _, known := reportedBefore.tests[cause]; !known {
		reportedBefore.tests[cause] = test
	}
	return reportedBefore.tests[cause]
}

// tell reports the row to t. For a cause that another test has reported it prints two
// lines. It prints only the beginning of a long report; go test -artifacts keeps the
// whole report in a file.
func (row Row) tell(t *testing.T, c *config) {
	t.Helper()
	switch row.Status {
	case Fail:
		if first := firstReported(c.subject+" "+row.cause, t.Name()); first != t.Name() {
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
		return fmt.Sprintf("%s%d lines are omitted (%v)", short, left, err)
	}
	return fmt.Sprintf("%s%d lines are omitted; with -artifacts go test keeps them", short, left)
}
