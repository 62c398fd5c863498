package interleave_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"eventide/props/lanes/interleave"

	"github.com/stretchr/testify/require"
)

// TestInterleaveShards: four shards as processes, one of which is killed and started
// again, cover what one run covers.
func TestInterleaveShards(t *testing.T) {
	if testing.Short() {
		t.Skip("makes the same 10,000 schedules twice")
	}
	const shards = 4
	dir, bin := t.TempDir(), lane(t)
	command := func(part string, env ...string) *exec.Cmd {
		cmd := exec.Command(bin, "-seed", "5", "-rounds", "1", "-first", "0", "-n", "20", "-part", part, "-cases", dir)
		cmd.Dir, cmd.Env = root, append(os.Environ(), env...)
		return cmd
	}
	var parts []string
	for i := 1; i <= shards; i++ {
		part := filepath.Join(dir, fmt.Sprintf("%d.json", i))
		shard := fmt.Sprintf("SHARD=%d/%d", i, shards)
		parts = append(parts, part)
		if i == 2 {
			interrupt(t, command(part, shard), part)
			_, err := interleave.Merge(parts)
			require.ErrorContains(t, err, "has not come to its end")
		}
		require.NoError(t, command(part, shard).Run())
	}
	merged, err := interleave.Merge(parts)
	require.NoError(t, err)
	whole := filepath.Join(dir, "whole.json")
	require.NoError(t, command(whole, "SHARD=").Run())
	one, err := interleave.Merge([]string{whole})
	require.NoError(t, err)
	merged.Coverage.Elapsed, one.Coverage.Elapsed = 0, 0
	merged.Coverage.Processor, one.Coverage.Processor = 0, 0
	merged.Exhausted.Seconds, one.Exhausted.Seconds = 0, 0
	require.NotZero(t, one.Coverage.Schedules)
	require.Equal(t, one, merged)
}

// interrupt starts a shard and kills it in its midst, however fast the machine is: the shard prints a line of several
// kilobytes after each of its hundreds of turns, into a pipe that is not read once the first turns are over.
func interrupt(t *testing.T, cmd *exec.Cmd, part string) {
	t.Helper()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	cmd.Args, cmd.Stdout = append(cmd.Args, "-lines", "1ns"), w
	require.NoError(t, errors.Join(cmd.Start(), w.Close()))
	under := regexp.MustCompile(`"next": [1-9]`)
	for kept, line := []byte{}, make([]byte, 4096); !under.Match(kept); {
		_, err := r.Read(line)
		require.NoError(t, err)
		kept, _ = os.ReadFile(part) // it is not there at first
	}
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
}
