package release

import (
	"context"
	"path/filepath"

	"eventide/bench/gate/measure"
)

// A workspace is a checkout of base beside head, with the binaries that a run of the gate
// builds of both.
type workspace struct {
	*measure.Checkout

	workloads string // whose workloads measure base
}

// The names of workloads in the report.
const (
	workloadsHead = "head's on both sides"
	workloadsOwn  = "each side its own: head's do not build with base's core"
)

// openWorkspace checks base out. The caller must Close the result.
func openWorkspace(ctx context.Context, root, base string) (*workspace, error) {
	c, err := measure.Open(ctx, root, base)
	if err != nil {
		return nil, err
	}
	return &workspace{Checkout: c}, nil
}

// build compiles the test binary of package bench of the module in dir. -trimpath
// keeps the directory out of it: equal sources give equal binaries.
func (w *workspace) build(ctx context.Context, dir, name, overlay string) (binary, error) {
	b := binary{path: filepath.Join(w.Dir, name), dir: filepath.Join(w.New, "bench")}
	args := []string{"test", "-c", "-trimpath", "-buildvcs=false", "-o", b.path}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	_, err := w.Command(ctx, dir, "go", append(args, "./bench")...)
	return b, err
}

func (w *workspace) buildHead(ctx context.Context) (binary, error) {
	return w.build(ctx, w.New, "head.test", "")
}

func (w *workspace) buildPlanted(ctx context.Context) (binary, error) {
	overlay, err := plant(w.New, w.Dir)
	if err != nil {
		return binary{}, err
	}
	return w.build(ctx, w.New, "planted.test", overlay)
}

// buildBase builds base with head's package bench, so that the same code measures both
// sides. If that does not build, it builds base with its own package bench.
func (w *workspace) buildBase(ctx context.Context) (binary, error) {
	overlay, err := w.transplant()
	if err != nil {
		return binary{}, err
	}
	w.workloads = workloadsHead
	b, err := w.build(ctx, w.Old, "base.test", overlay)
	if err == nil || ctx.Err() != nil {
		return b, err
	}
	w.workloads = workloadsOwn
	return w.build(ctx, w.Old, "base.test", "")
}

func (w *workspace) transplant() (overlay string, err error) {
	replace := map[string]string{}
	for _, side := range []string{w.Old, w.New} { // head's come last and win
		paths, err := filepath.Glob(filepath.Join(side, "bench", "*.go"))
		if err != nil {
			return "", err
		}
		for _, path := range paths {
			at := filepath.Join(w.Old, "bench", filepath.Base(path))
			replace[at] = "" // gone
			if side == w.New {
				replace[at] = path
			}
		}
	}
	return writeOverlay(filepath.Join(w.Dir, "transplant.json"), replace)
}
