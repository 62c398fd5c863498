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

	"eventide/bench/gate/release"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestBadUsage(t *testing.T) {
	for _, args := range [][]string{
		nil, {"-base", ""}, {"-base", "--force"}, {"-base", "HEAD", "more"}, {"-base", "HEAD", "-run", "("},
		{"-base", "HEAD", "-rounds", "9"}, {"-base", "HEAD", "-tiers", "speed"}, {"-base", "HEAD", "-run", "no such benchmark"}, {"-nonsense"},
	} {
		var said bytes.Buffer
		require.Equal(t, release.ExitUsage, run(t.Context(), args, io.Discard, &said), "%v", args)
		require.NotEmpty(t, said.String(), "%v", args)
	}
	var help, twice bytes.Buffer
	require.Equal(t, release.ExitPass, run(t.Context(), []string{"-h"}, io.Discard, &help))
	require.Contains(t, help.String(), "exit 0 pass, 1 a regression")
	require.Contains(t, help.String(), "-rounds")
	require.Equal(t, release.ExitUsage, run(t.Context(), []string{"-base", "HEAD", "-run", "nosuch("}, io.Discard, &twice))
	require.Equal(t, 1, strings.Count(twice.String(), "missing closing"), "said once: %s", twice.String())
	require.Equal(t, 1, strings.Count(twice.String(), "\n"), "said in one line: %s", twice.String())
}

// TestInterrupted: the code is its own, never a verdict.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Equal(t, exitInterrupted, run(ctx, []string{"-base", "HEAD", "-root", "../../.."}, io.Discard, io.Discard))
}

// TestDocumentedCommands: what the documentation says can be typed.
func TestDocumentedCommands(t *testing.T) {
	command := regexp.MustCompile(`out/release( -base[^;\n]*)`)
	found := 0
	for _, file := range []string{"main.go", "../../gate/release/doc.go"} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range command.FindAllStringSubmatch(string(text), -1) {
			found++
			s, err := parse(strings.Fields(strings.ReplaceAll(m[1], "'", "")), io.Discard)
			require.NoError(t, err, m[0])
			for _, tier := range s.Tiers {
				require.Contains(t, append([]string{release.TierSelfTest}, release.Tiers...), tier)
			}
		}
	}
	require.GreaterOrEqual(t, found, 3)
}

func TestWritesBothFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	require.NoError(t, save(dir, release.Report{Schema: 1, Base: "abc"}))
	for name, want := range map[string]string{"gate.json": `"base": "abc"`, "gate.md": "| base | `abc` |"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Contains(t, string(text), want)
	}
}
