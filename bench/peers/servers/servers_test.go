package servers

import (
	"slices"
	"strings"
	"testing"

	"eventide/props/draintest"
)

// TestOthersAreJudged: the kit's clients reach gRPC and gnet, and GracefulStop is right where
// Stop is not.
func TestOthersAreJudged(t *testing.T) {
	for _, s := range All() {
		if !s.Foreign {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			s.Kit.Rounds = 2
			r, err := s.Kit.Check(s.Start)
			if err != nil {
				t.Fatal(err)
			}
			t.Log("\n" + r.String())
			for _, row := range r.Rows {
				if row.Status == draintest.Fail {
					t.Log(row.Report)
				}
			}
			failed := r.Failed()
			switch {
			case strings.Contains(s.Name, "GracefulStop") && failed != nil:
				t.Errorf("%v failed, want none", failed)
			case s.Name == "gRPC, Stop" && !slices.Contains(failed, draintest.NoneCut):
				t.Errorf("%v failed, want %s", failed, draintest.NoneCut)
			}
			if r.Row(draintest.NoneLost).Exercised == 0 {
				t.Error("no request was accepted during the shutdown")
			}
		})
	}
}

func TestServersAreNamedOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range All() {
		if seen[s.Name] || s.Name == "" {
			t.Errorf("%q is empty, or the name of two servers", s.Name)
		}
		seen[s.Name] = true
	}
}
