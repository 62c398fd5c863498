// Package release compares two versions of the project before a release, and says
// whether the newer one has become worse.
//
//	make gate BASE=v1.2.0
//	go build -o out/release ./bench/cmd/release && out/release -base v1.2.0; echo $?
//
// make turns every exit code but 0 into 2, go run into 1: where the code matters, build
// the command. It wants a machine that does nothing else for a quarter of an hour.
// Head is the working tree as it is; base is a commit, checked out in a git
// worktree in a temporary directory that is removed whatever happens. Both sides'
// test binaries of package bench are built by one toolchain with -trimpath. Where
// head's workloads build with base's core, base is measured by them too: then the
// two binaries differ in core alone. Otherwise each side has its own, and the report
// says so. A benchmark that only one side has is listed and not compared.
//
// # Tiers
//
//	selftest     a build of head into which a spin of 25 %, an allocation, a wake-up
//	             and a system call per task have been planted must be caught, each by
//	             the figure that is to see it; the same build twice must pass
//	exact        allocations, bytes, wake-ups, parks, system calls and instructions
//	             per operation, and goroutines left: slopes between two numbers of
//	             operations at GOMAXPROCS=1, two for each side, and up to eight if it
//	             looks worse; a regression is what head's least has above base's
//	             most, beyond the tolerance
//	time         base, head and base again, in processes of their own, forth and back,
//	             20 rounds; slower only if Holm-corrected p < .01 by Mann and Whitney,
//	             and by more than 5 % and more than twice the 90th percentile of what
//	             base differs from itself by; and again so with 20 fresh rounds
//	latency      p50 and p99 of the same runs, of round trips, quiet periods and
//	             shutdowns, beyond a factor of two and by the same rules
//	properties   go test -run Prop -short ./... of head; a property that found nothing,
//	             but whose programs met the premise of its guarantee too seldom, is not run
//	mutants      the planted bugs of testdata/mutants, short, against head
//
// Two sequential runs of one binary gave 10 false alarms in 70 by a plain test at
// p < .01 and 5 %; interleaved ones gave none. This is why there is no shorter way.
//
// # Verdicts
//
// Exit code 0: pass. 1: a regression, or a failing property or mutant. 2: usage, a
// bad waiver, or something that does not build. 3: inconclusive: the machine was too
// restless (base differed from itself), a property was not run, or only a part was
// asked for. 4: the self-test failed, and nothing else was looked at. A tool that is
// not installed (valgrind, strace) leaves its figures "not run", which is said in the
// verdict line; with -strict that is inconclusive.
//
// A known regression passes by a line in testdata/gate/waivers, see waiver.Parse.
// A waiver that has expired, or names nothing that exists, is an error.
package release
