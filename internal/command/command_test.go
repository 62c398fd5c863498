package command

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func parse(args ...string) (code int, said string) {
	var stderr bytes.Buffer
	f := flag.NewFlagSet("tool", flag.ContinueOnError)
	n := f.Int("n", 3, "how many")
	wait := f.Duration("wait", time.Second, "how long")
	err := Parse(f, args, &stderr, func() error {
		return errors.Join(AtLeast("-n", *n, 1), Positive("-wait", *wait))
	})
	if err == nil {
		return -1, stderr.String()
	}
	return Refuse(&stderr, "tool", err), stderr.String()
}

// TestRefusals: each mistake is said once, with the value and what was expected.
func TestRefusals(t *testing.T) {
	for want, args := range map[string][]string{
		"tool: -n is 0, want at least 1; -h lists the flags\n":                        {"-n", "0"},
		"tool: -wait is -1s, want more than 0; -h lists the flags\n":                  {"-wait", "-1s"},
		"tool: got arguments [\"more\"], want none; -h lists the flags\n":             {"more"},
		"tool: flag needs an argument: -n; -h lists the flags\n":                      {"-n"},
		"tool: flag provided but not defined: -colour; -h lists the flags\n":          {"-colour"},
		"tool: invalid value \"x\" for flag -n: parse error; -h lists the flags\n":    {"-n", "x"},
		"tool: invalid value \"7\" for flag -wait: parse error; -h lists the flags\n": {"-wait", "7"},
	} {
		code, said := parse(args...)
		require.Equal(t, ExitUsage, code)
		require.Equal(t, want, said)
	}
	code, said := parse("-n", "1")
	require.Equal(t, -1, code)
	require.Empty(t, said)
}

func TestHelp(t *testing.T) {
	code, said := parse("-h")
	require.Zero(t, code)
	require.Contains(t, said, "-wait duration")
	require.NotContains(t, said, "help requested")
}

func TestGivenAndOneOf(t *testing.T) {
	f := flag.NewFlagSet("tool", flag.ContinueOnError)
	f.Int("n", 3, "how many")
	f.Int("m", 3, "how many")
	require.NoError(t, Parse(f, []string{"-n", "3"}, nil, nil))
	require.True(t, Given(f, "n"))
	require.False(t, Given(f, "m"))
	require.NoError(t, OneOf("-x", "a", []string{"a", "b"}))
	require.EqualError(t, OneOf("-x", "c", []string{"a", "b"}), `-x is "c", want one of a, b`)
}

// TestWriteFile: the directory is made, an old file is replaced, and each failure is returned.
func TestWriteFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "out", "report.txt")
	for _, text := range []string{"a longer text", "short"} {
		require.NoError(t, WriteFile(name, func(w io.Writer) error { _, err := io.WriteString(w, text); return err }))
		got, err := os.ReadFile(name)
		require.NoError(t, err)
		require.Equal(t, text, string(got))
	}
	broken := errors.New("broken")
	require.ErrorIs(t, WriteFile(name, func(io.Writer) error { return broken }), broken)
	none := func(io.Writer) error { return nil }
	require.ErrorIs(t, WriteFile(filepath.Dir(name), none), syscall.EISDIR)
	require.ErrorIs(t, WriteFile(filepath.Join(name, "below"), none), syscall.ENOTDIR)
}
