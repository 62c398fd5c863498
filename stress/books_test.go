package stress

import (
	"fmt"
	"maps"
	"slices"

	"eventide/core"
)

// books are the sums of one round at rest, and what is wrong with it.
type books struct {
	attempts, accepted, refused, ran int64
	after                            int64 // accepted after the shutdown call had returned
	problems                         []string
}

// balance closes the books. report and bodies were taken when Done was closed,
// everything else after the last producer had stopped.
func (r *round) balance(report core.Report, bodies int64) books {
	var b books
	everybody := []*producer{&r.witness, &r.gate, &r.extras.task}
	for i := range r.producers {
		everybody = append(everybody, &r.producers[i])
	}
	for _, p := range everybody {
		b.add(p)
	}
	b.faults(r.observer.faults)
	b.faults(r.extras.faults)
	b.compare("G15: bodies that had run when Done was closed, and at rest", bodies, r.bodies.total)
	b.judgeWitness(r)
	b.judgeReport(r, report)
	if r.plan.extras {
		b.problems = append(b.problems, r.extras.judge(r.removed, r.cancelled, report)...)
	}
	return b
}

// add adds one producer's books and balances them on their own.
func (b *books) add(p *producer) {
	b.attempts += p.attempts
	b.accepted += p.accepted.n
	b.refused += p.refused
	b.ran += p.ran.n
	b.after += p.after
	b.compare("a producer's attempts, and accepted + refused", p.attempts, p.accepted.n+p.refused)
	if p.accepted != p.ran {
		b.problem("G3: tasks of one producer: accepted %d, ran %d (sets %#x, %#x), want the same, each once", p.accepted.n, p.ran.n, p.accepted.which, p.ran.which)
	}
	b.faults(p.faults)
	b.faults(p.broken)
}

// judgeWitness makes sure that the round was worth running: in a graceful one a
// task was accepted after the call had returned, and in every one some were
// refused.
func (b *books) judgeWitness(r *round) {
	if got, want := r.witness.accepted.n == 1, r.plan.kind.graceful(); got != want {
		b.problem("G5: the task offered after the call had returned and before the close: accepted %v, want %v", got, want)
	}
	if r.plan.kind.graceful() && b.after == 0 {
		b.problem("not exercised: no task was accepted after the call had returned")
	}
	if b.refused == 0 {
		b.problem("not exercised: no task was refused")
	}
}

// judgeReport compares what the executor says with what was seen. The report
// stops counting refusals somewhere before Done, Stats does not.
func (b *books) judgeReport(r *round, report core.Report) {
	stats := r.ex.Stats()
	b.compare("G20: Report.Accepted, and tasks accepted", report.Accepted, b.accepted)
	b.compare("G20: Report.Ran, and tasks that ran", report.Ran, b.ran)
	b.compare("G20: Stats.Accepted, and tasks accepted", stats.Accepted, b.accepted)
	b.compare("G20: Stats.Ran, and tasks that ran", stats.Ran, b.ran)
	b.compare("G20: Stats.Rejected, and tasks refused", stats.Rejected, b.refused)
	if report.Rejected < r.witness.refused || report.Rejected > b.refused {
		b.problem("G20: Report.Rejected: got %d, want %d, which were refused before Done, to %d, which were in all", report.Rejected, r.witness.refused, b.refused)
	}
	if report.Cancelled != 0 || report.Panicked != 0 {
		b.problem("Report: %d tasks cancelled, %d panicked, want none", report.Cancelled, report.Panicked)
	}
	if err := r.ex.Termination().Err(); err != nil {
		b.problem("Termination().Err: got %v, want nil", err)
	}
}

func (b *books) compare(what string, got, want int64) {
	if got != want {
		b.problem("%s: %d and %d, want the same", what, got, want)
	}
}

func (b *books) faults(f faults) {
	for _, what := range slices.Sorted(maps.Keys(f)) {
		b.problem("%s (%d times)", what, f[what])
	}
}

func (b *books) problem(format string, args ...any) {
	b.problems = append(b.problems, fmt.Sprintf(format, args...))
}
