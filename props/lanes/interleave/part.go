package interleave

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"slices"

	"eventide/internal/command"
	"eventide/props/internal/runner"
	"eventide/props/lane"
)

// partVersion is the version of the format of Part.
const partVersion = 2

// Part is the progress of one shard, as a file. A killed process can be started again
// with the same file: it continues after the last visit in the file.
type Part struct {
	Schema    int               `json:"schema"`
	Seed      uint64            `json:"seed"`
	Shard     int               `json:"shard"` // from 0
	Of        int               `json:"of"`
	Rounds    int               `json:"rounds"` // 0: as many as the budget had time for
	Next      int               `json:"next"`   // turns that are done, those of other shards included
	Scenarios int               `json:"scenarios"`
	Complete  bool              `json:"complete"`
	First     bool              `json:"first"` // the exhaustive part is over
	Exhausted lane.Exhausted    `json:"exhausted"`
	Coverage  Coverage          `json:"coverage"`
	Failed    map[string]string `json:"failed"`
}

// open returns the part that a run begins with: the one in the file, or an empty one if
// there is no file.
func (s settings) open() (Part, error) {
	fresh := Part{
		Schema: partVersion, Seed: s.seed, Shard: s.shard.Index, Of: s.shard.Of, Rounds: s.rounds,
		Exhausted: newExhausted(), Coverage: newCoverage(), Failed: map[string]string{},
	}
	p, err := runner.ReadOr(s.part, partVersion, Part.version, fresh)
	if err == nil && (p.Seed != s.seed || p.Shard != s.shard.Index || p.Of != s.shard.Of || p.Rounds != s.rounds) {
		return Part{}, fmt.Errorf("%s is of seed %d, shard %d of %d, %d rounds, want seed %d, shard %d of %d, %d rounds: remove it to start over",
			s.part, p.Seed, p.Shard, p.Of, p.Rounds, s.seed, s.shard.Index, s.shard.Of, s.rounds)
	}
	return p, err
}

func (p Part) version() int { return p.Schema }

func (p Part) save(path string) error { return runner.WriteJSON(path, p) }

// Merge joins the files of all shards of one run. It returns an error if a shard is
// missing, is there twice, belongs to another run, or has neither come to its end nor
// failed.
func Merge(paths []string) (Part, error) {
	var all Part
	seen := map[int]string{}
	for i, path := range paths {
		p, err := runner.ReadVersion(path, partVersion, Part.version)
		if err != nil {
			return Part{}, err
		}
		if i == 0 {
			all = p
			all.Exhausted, all.Coverage, all.Failed = newExhausted(), newCoverage(), map[string]string{}
			all.Scenarios = 0
		}
		switch {
		case p.Seed != all.Seed || p.Of != all.Of || p.Rounds != all.Rounds:
			return Part{}, fmt.Errorf("interleave: %s is of seed %d, %d shards, %d rounds, and %s of seed %d, %d shards, %d rounds", path, p.Seed, p.Of, p.Rounds, paths[0], all.Seed, all.Of, all.Rounds)
		case seen[p.Shard] != "":
			return Part{}, fmt.Errorf("interleave: %s and %s are both of shard %d", seen[p.Shard], path, p.Shard)
		case !p.Complete && len(p.Failed) == 0:
			return Part{}, fmt.Errorf("interleave: %s: shard %d has not come to its end: start it again", path, p.Shard)
		}
		seen[p.Shard] = path
		all.Scenarios += p.Scenarios
		all.Complete = all.Complete && p.Complete
		mergeExhausted(&all.Exhausted, p.Exhausted)
		all.Coverage.merge(p.Coverage)
		for id, text := range p.Failed {
			all.Failed[id] = text
		}
	}
	if len(seen) != all.Of {
		return Part{}, fmt.Errorf("interleave: got %d shards, want %d", len(seen), all.Of)
	}
	all.Shard, all.Of = 0, 1
	return all, nil
}

// MergeMain is the command line of Merge. Its arguments are the files of the shards; -o
// names the file for the merged part. It prints a summary.
func MergeMain(args []string, out, errs io.Writer) int {
	f := flag.NewFlagSet("merge", flag.ContinueOnError)
	to := f.String("o", "", "file for the merged part")
	if err := command.ParseFlags(f, args, errs); err != nil {
		return command.Refuse(errs, "merge", err)
	}
	if f.NArg() == 0 {
		fmt.Fprintln(errs, "merge: want the files of the shards")
		return exitUsage
	}
	all, err := Merge(f.Args())
	if err == nil && *to != "" {
		err = all.save(*to)
	}
	if err != nil {
		fmt.Fprintln(errs, "merge:", err)
		return exitUsage
	}
	c := all.Coverage
	fmt.Fprintf(out, "seed %d: %d shards, %d scenarios, %d schedules of %d classes, %d histories; exhausted, by bound: %v\n",
		all.Seed, f.NArg(), all.Scenarios, c.whole(), c.Classes, c.Histories, all.Exhausted.To)
	c.text(out)
	for _, id := range slices.Sorted(maps.Keys(all.Failed)) {
		fmt.Fprintf(out, "%s: %s\n", id, all.Failed[id])
	}
	if len(all.Failed) > 0 {
		return exitFound
	}
	return exitClean
}
