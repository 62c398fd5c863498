package lane

import (
	"path/filepath"

	"eventide/props/internal/runner"
)

// Build builds the test binary of the properties from the module at root, with an
// overlay if one is given, and returns its path: dir/name.test. An error has the
// output of the go command.
func Build(root, dir, name, overlay string) (string, error) {
	return runner.Tests{
		Root: root, Package: "props", Bin: filepath.Join(dir, name+".test"), Overlay: overlay, Args: []string{"-tags", "verify"},
	}.Build()
}
