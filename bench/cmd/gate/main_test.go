package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"eventide/bench/gate"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestBadUsage(t *testing.T) {
	for _, args := range [][]string{
		nil, {"-base", ""}, {"-base", "--force"}, {"-base", "HEAD", "-run", "("}, {"-base", "HEAD", "-rounds", "9"},
		{"-base", "HEAD", "-times", "perhaps"}, {"-base", "no-such-commit"}, {"-nonsense"},
	} {
		var said bytes.Buffer
		require.Equal(t, gate.ExitUsage, run(t.Context(), args, io.Discard, &said), "%v", args)
		require.NotEmpty(t, said.String(), "%v", args)
	}
	var help bytes.Buffer
	require.Equal(t, gate.ExitPass, run(t.Context(), []string{"-h"}, io.Discard, &help))
	require.Contains(t, help.String(), "exit 0 pass, 1 a regression")
}

// TestInterrupted: the code is its own, never a verdict.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Equal(t, exitInterrupted, run(ctx, []string{"-base", "HEAD", "-C", "../../.."}, io.Discard, io.Discard))
}

// TestDocumentedCommands: what the documentation says can be typed.
func TestDocumentedCommands(t *testing.T) {
	command := regexp.MustCompile(`out/gate( -base[^;\n]*)`)
	found := 0
	for _, file := range []string{"main.go", "../../gate/doc.go", "../../../docs/gate.md"} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range command.FindAllStringSubmatch(string(text), -1) {
			found++
			s, err := parse(strings.Fields(strings.ReplaceAll(m[1], "'", "")), io.Discard)
			require.NoError(t, err, m[0])
			require.NotEmpty(t, s.Patterns)
		}
	}
	require.GreaterOrEqual(t, found, 5)
}

func TestWritesFiles(t *testing.T) {
	dir := t.TempDir()
	report := gate.Report{Schema: 1, Base: "abc"}
	require.NoError(t, create("", report.WriteJSON))
	for name, c := range map[string]struct {
		write func(io.Writer) error
		want  string
	}{"gate.json": {report.WriteJSON, `"base": "abc"`}, "gate.md": {report.WriteMarkdown, "base `abc`"}} {
		require.NoError(t, create(filepath.Join(dir, name), c.write))
		text, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Contains(t, string(text), c.want)
	}
}
