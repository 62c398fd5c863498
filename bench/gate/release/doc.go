// Package release compares two versions of the project before a release, and says
// whether the newer one has become worse.
//
//	make gate BASE=v1.2.0
//	go build -o out/release ./bench/cmd/release && out/release -base v1.2.0; echo $?
//
// make turns every exit code but 0 into 2, go run into 1: where the code matters, build
// the command. It needs a machine that does nothing else for a quarter of an hour.
// Head is the working tree as it is; base is a commit, checked out in a git worktree in a
// temporary directory that Run always removes. One toolchain builds the test binaries of
// package bench of both sides, with -trimpath. If head's workloads build with base's core,
// they measure base too, so that the two binaries differ in core alone. Otherwise each side
// has its own workloads, and the report says so. A benchmark that only one side has is listed
// and not compared.
//
// # Tiers
//
//	selftest     a build of head with a planted spin of 25 %, and with an allocation, a
//	             wake-up and a system call planted in each task, must be caught, each
//	             by the figure that measures it; the same build twice must pass
//	exact        allocations, bytes, wake-ups, parks, system calls and instructions
//	             per operation, and goroutines left: slopes between two numbers of
//	             operations at GOMAXPROCS=1, two for each side, and up to eight if
//	             head seems worse; a regression if the least slope of head exceeds the
//	             greatest of base by more than the tolerance
//	time         base, head and base again, each in a process of its own, in alternating
//	             order, 20 rounds; a regression if head is slower with Holm-corrected
//	             p < .01 by Mann and Whitney, by more than 5 %, and by more than twice
//	             the 90th percentile of the difference of base from itself; and all of
//	             this again with 20 fresh rounds
//	latency      p50 and p99 of the same runs, of round trips, quiet periods and
//	             shutdowns, beyond a factor of two and by the same rules
//	properties   go test -run Prop -short ./... of head; a property that found nothing,
//	             but whose programs met the premise of its guarantee too seldom, counts as not run
//	mutants      the planted bugs of testdata/mutants, short, against head
//
// Two sequential runs of one binary gave 10 false alarms in 70 by a plain test at p < .01 and
// 5 %; interleaved runs gave none. So the gate has no shorter method.
//
// # Verdicts
//
// Exit code 0: pass. 1: a regression, or a failing property or mutant. 2: usage, a
// bad waiver, or something that does not build. 3: inconclusive: the machine was too
// restless (base differed from itself), a property was not run, or only a part was
// requested. 4: the self-test failed, and nothing else was compared. If a tool is not
// installed (valgrind, strace), its figures are "not run", and the verdict line says so; with
// -strict the run is then inconclusive.
//
// A known regression passes by a line in testdata/gate/waivers, see waiver.Parse.
// A waiver that has expired, or names nothing that exists, is an error.
package release
