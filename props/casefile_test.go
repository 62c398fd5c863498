package props

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestShellWord: a shell makes of the word the text that went in, and a plain path stays
// as it is.
func TestShellWord(t *testing.T) {
	require.Equal(t, "../out/cases/G3-1a.case", ShellWord("../out/cases/G3-1a.case"))
	for _, text := range []string{"a b/c.case", "it's", "$HOME", "`id`", "a\nb", "~", "ü", ""} {
		out, err := exec.Command("sh", "-c", "printf %s "+ShellWord(text)).CombinedOutput()
		require.NoError(t, err, text)
		require.Equal(t, text, string(out))
	}
}
