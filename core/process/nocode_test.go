package process

import (
	"os"
	"testing"
	"testing/synctest"

	"eventide/core"
)

// TestLossesThatChangeNoCode: refused writes and aborted channels are logged at Warn, and the
// exit code is 0.
func TestLossesThatChangeNoCode(t *testing.T) {
	for line, work := range map[string]core.Report{
		"step done, and channels refused writes": {WritesRefused: 3},
		"step done, and channels were aborted":   {ChannelsAborted: 2, BytesDiscarded: 9},
	} {
		t.Run(line, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tr := launch(t, t.Context(), Plan{Steps: []Step{{Name: "loops", Executor: newEnded(work)}}})
				tr.signals <- os.Interrupt
				tr.wantCode(CodeClean)
				tr.wantLine("level=WARN", line)
			})
		})
	}
}
