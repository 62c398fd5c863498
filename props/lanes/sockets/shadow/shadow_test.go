package shadow

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const root = "../../../.."

// other are the files of core that import a package with system calls, and that programs of
// connections do not need: why.
var other = map[string]string{
	"core/yieldthread_linux.go":                     "sched_yield, which has no effect on connections",
	"core/internal/epoll/errors_linux.go":           "names of errors, and no call",
	"core/blocking/lifecycle.go":                    "names of errors, and no call",
	"core/blocking/poller.go":                       "names of errors, and no call",
	"core/blocking/serve.go":                        "names of errors, and no call",
	"core/process/inherited_linux.go":               "fstat of sockets from Listeners, of which no program has one",
	"core/process/listener.go":                      "types of raw connections, and no call",
	"core/process/signals_windows.go":               "another system",
	"core/tcp/accept.go":                            "names of errors, and no call",
	"core/tcp/faults.go":                            "names of errors, and no call",
	"core/tcp/flush.go":                             "names of errors, and no call",
	"core/tcp/read.go":                              "names of errors, and no call",
	"core/tcp/socket.go":                            "names of errors, and no call",
	"core/tcp/sys_other.go":                         "another system",
	"core/tcp/tcptest/tcptest.go":                   "helpers of tests",
	"core/pollertest/model.go":                      "helpers of tests",
	"core/internal/coretest/underload/underload.go": "helpers of tests",
}

// TestEveryCallIsModelled: a file of core that imports package unix or syscall is one of
// Files, or has a reason not to be.
func TestEveryCallIsModelled(t *testing.T) {
	seen := map[string]bool{}
	err := filepath.WalkDir(filepath.Join(root, "core"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		for _, spec := range f.Imports {
			if p, _ := strconv.Unquote(spec.Path.Value); p != "syscall" && p != "golang.org/x/sys/unix" {
				continue
			}
			seen[name] = true
			if slices.Contains(Files, name) == (other[name] != "") {
				t.Errorf("%s imports %s: want it in Files, or in other with the reason", name, spec.Path.Value)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range other {
		if !seen[name] {
			t.Errorf("%s imports no package with system calls, want it left out of other", name)
		}
	}
}

// TestRewrite: imports are replaced, and a file that has none of them is an error.
func TestRewrite(t *testing.T) {
	imports := map[string]string{"syscall": calls + "syscall"}
	got, err := rewrite("a.go", "package a\n\nimport (\n\t\"os\"\n\t\"syscall\"\n)\n", imports)
	if want := "package a\n\nimport (\n\t\"os\"\n\t\"" + calls + "syscall\"\n)\n"; err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	if _, err := rewrite("a.go", "package a\n", imports); err == nil {
		t.Error("a file without system calls is rewritten, want an error")
	}
	if changed, err := Changed(root, map[string]string{Files[0]: "package tcp\n"}); err == nil {
		t.Errorf("a changed file without system calls is rewritten to %q, want an error", changed[Files[0]])
	}
}
