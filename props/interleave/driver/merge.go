package driver

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"eventide/internal/shard"
)

// Merge joins the files of state of all shards of a run, prints the results as Test
// does, and returns the exit code of the run. It returns an error if a shard is missing
// or given twice, or if the shards have explored different sources.
func Merge(o Options, names []string) (int, error) {
	if err := o.complete(); err != nil {
		return ExitInput, err
	}
	shards, err := readShards(names)
	if err != nil {
		return ExitInput, err
	}
	tests := map[string][]*keptTest{}
	for _, s := range shards {
		for key, t := range s.Tests {
			tests[key] = append(tests[key], t)
		}
	}
	s := &session{opts: &o, sink: &sink{out: o.Stdout, json: o.JSON, verbose: o.Verbose}}
	suites := map[string]*suite{}
	for _, key := range slices.Sorted(maps.Keys(tests)) {
		k, err := mergeTest(tests[key], len(shards))
		if err != nil {
			return ExitInput, err
		}
		out := suites[k.Package]
		if out == nil {
			out = &suite{name: k.Package, result: "pass"}
			suites[k.Package] = out
		}
		if k.Result == "fail" {
			out.result = "fail"
		}
		o.Exhaust = k.Exhaust
		out.tests = append(out.tests, k.result(&o, fmt.Sprintf("of %s", plural(len(shards), "shard", "shards"))))
		out.took += k.Took
		s.worse(k.Code)
	}
	for _, name := range slices.Sorted(maps.Keys(suites)) {
		out := suites[name]
		out.tail = plural(len(out.tests), "test", "tests")
		s.sink.put(out)
	}
	if o.JUnit != "" {
		if err := s.sink.writeJUnit(o.JUnit); err != nil {
			return ExitInput, err
		}
	}
	return s.code, nil
}

// readShards reads the files of all shards of a run.
func readShards(names []string) ([]*state, error) {
	seen := map[shard.Shard]string{}
	var all []*state
	for _, name := range names {
		s, err := readState(name)
		if err != nil {
			return nil, err
		}
		if other := seen[s.Shard]; other != "" {
			return nil, inputError("%s and %s are both of %s", other, name, shardText(s.Shard))
		}
		seen[s.Shard] = name
		all = append(all, s)
		if s.Shard.Of != all[0].Shard.Of {
			return nil, inputError("%s is of %s, and %s of %s", names[0], shardText(all[0].Shard), name, shardText(s.Shard))
		}
	}
	if of := max(all[0].Shard.Of, 1); len(all) != of {
		return nil, inputError("got the files of %s, want %d", plural(len(all), "shard", "shards"), of)
	}
	return all, nil
}

// mergeTest joins the results of one test from all shards.
func mergeTest(parts []*keptTest, shards int) (*keptTest, error) {
	if whole := slices.DeleteFunc(slices.Clone(parts), func(p *keptTest) bool { return p.elsewhere() }); len(whole) > 0 && len(whole) < len(parts) {
		return mergeTest(whole, len(whole))
	}
	k := *parts[0]
	k.Findings = nil
	var notices []string
	for i, p := range parts {
		if p.Hash != k.Hash {
			return nil, inputError("%s %s: the shards have explored different sources, or with different flags", k.Package, k.Test)
		}
		if i > 0 {
			k.Coverage.merge(&p.Coverage)
			k.Spent += p.Spent
			k.Took = max(k.Took, p.Took)
			k.Code = worst(k.Code, p.Code)
			k.Result = worstResult(k.Result, p.Result)
			k.Done = k.Done && p.Done
		}
		k.addFindings(p.Findings)
		if p.Notice != "" && !slices.Contains(notices, p.Notice) {
			notices = append(notices, p.Notice)
		}
	}
	if len(parts) < shards || !k.Done {
		notices = append(notices, "a shard has not come to the end of this test: start it again")
		k.Code = worst(k.Code, ExitUndecided)
		k.Result = worstResult(k.Result, "skip")
	}
	k.Notice = strings.Join(notices, "\n")
	return &k, nil
}

// addFindings adds the findings of another shard. Findings with the same cause become
// one.
func (k *keptTest) addFindings(more []keptFinding) {
next:
	for _, f := range more {
		for i := range k.Findings {
			if k.Findings[i].Cause.key() == f.Cause.key() {
				k.Findings[i].Finding.Times += f.Finding.Times
				continue next
			}
		}
		k.Findings = append(k.Findings, f)
	}
}

// worstResult is the more serious of two results: a failure is worse than an undecided
// test.
func worstResult(a, b string) string {
	rank := map[string]int{"": 0, "pass": 0, "skip": 1, "fail": 2}
	if rank[b] > rank[a] {
		return b
	}
	return a
}
