package programs

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"eventide/props/lane"
	"eventide/props/lanes/sockets/shadow"
)

// Kept runs again each program that once violated something: the case files of the lane in
// testdata/cases of the module at root, whose names begin with that of the lane.
func Kept(t *testing.T, root, name string) {
	t.Helper()
	Touch(t, root)
	which, err := shadow.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	bin, err := shadow.Binary{Root: root, Dir: t.TempDir()}.Build(which)
	if err != nil {
		t.Fatal(err)
	}
	cases, err := filepath.Glob(filepath.Join(root, "testdata", "cases", name+"-*.json"))
	if err != nil || len(cases) == 0 {
		t.Fatalf("testdata/cases/%s-*.json: %d files, %v; want at least one", name, len(cases), err)
	}
	for _, path := range cases {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".json"), func(t *testing.T) {
			path, err := filepath.Abs(path) // the lane runs in another directory
			if err != nil {
				t.Fatal(err)
			}
			r, err := lane.Run{Bin: bin, Lane: "TestCase", Budget: time.Minute, Env: []string{CaseVariable + "=" + path}}.Do(root)
			if err != nil {
				t.Fatal(err)
			}
			if r.Ending != lane.Ended || len(r.Failed) > 0 {
				t.Errorf("run %d: %v\n%s", r.Runs, r.Failed[name], r.Output)
			}
		})
	}
}
