package lane

import (
	"fmt"
	"os/exec"
	"path/filepath"
)

// Build builds the test binary of the properties from the module at root, with an
// overlay if one is given, and returns its path: dir/name.test. An error has the
// output of the go command.
func Build(root, dir, name, overlay string) (string, error) {
	bin, err := filepath.Abs(filepath.Join(dir, name+".test"))
	if err != nil {
		return "", err
	}
	args := []string{"test", "-c", "-vet=off", "-tags", "verify", "-o", bin}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	cmd := exec.Command("go", append(args, "./props")...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go test -c of %s: %w\n%s", name, err, out)
	}
	return bin, nil
}
