package docs

import (
	"context"
	"database/sql"
	"errors"
	"log"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/process"
	"eventide/core/tcp"
	"eventide/core/tracked"
	"eventide/props/exectest"
)

// The functions below have the fragments of the pages, so that the compiler sees them.
var (
	_ = waitWithContext
	_ = bodyThatWatches
	_ = hooksOfAChild
	_ = serverPlan
	_ = databasePlan
	_ = register
	_ = resizeAll
)

func resizeAll(images []string, resize func(ctx context.Context, image string) error) error {
	jobs := tracked.NewGroup(tracked.WithName("resize"))
	jobs.SetLimit(4)
	for _, image := range images {
		err := jobs.Go(image, func(ctx context.Context) error { return resize(ctx, image) })
		if err != nil {
			return err // the group is closed: this image will not be resized here
		}
	}
	return jobs.Close() // waits; the first error of a function
}

func waitWithContext(ex *core.Executor, term *core.Termination) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	report, err := term.Wait(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		log.Printf("still running: %s; %d tasks have not ended", ex.Running(), report.Accepted-report.Ran-report.Cancelled)
	}
}

func bodyThatWatches(ex *core.Executor, items []string, requeue, handle func(string)) error {
	err := ex.Execute(func() {
		for _, item := range items {
			if ex.Context().Err() != nil {
				requeue(item) // the deadline has passed: leave the remaining items to the next process
				continue
			}
			handle(item)
		}
	})
	return err
}

func hooksOfAChild(child core.EventExecutor) bool {
	hooked, ok := child.(interface {
		AddShutdownHook(func()) (func() bool, error)
	})
	return ok && hooked != nil
}

func serverPlan(ctx context.Context, boss, workers *core.Group, addr string, newHandler func() tcp.Handler) {
	os.Exit(process.Run(ctx, process.Plan{
		Start: func(ctx context.Context) error {
			if _, err := tcp.Listen(boss, workers, addr, newHandler); err != nil {
				return err // the port is taken: the exit begins, with code 1
			}
			<-ctx.Done()
			return nil
		},
		Steps: []process.Step{
			{Name: "boss", Executor: boss}, // no connection is accepted any more
			{Name: "workers", Executor: workers, Timeout: 10 * time.Second},
		},
	}))
}

func databasePlan(ctx context.Context, boss, workers *core.Group, serve func(context.Context) error, db *sql.DB) {
	os.Exit(process.Run(ctx, process.Plan{
		Start:    serve, // returns an error if it cannot serve; otherwise waits for its context
		PreDrain: 5 * time.Second,
		Deadline: 25 * time.Second,
		Steps: []process.Step{
			{Name: "acceptors", Executor: boss},
			{Name: "workers", Executor: workers, Timeout: 2 * time.Second},
			{Name: "database", Run: func(context.Context) error { return db.Close() }},
		},
	}))
}

func register(loop *core.EventLoop, fd int, read func(int)) error {
	reg, err := loop.Register(fd, core.Readable, func(r core.Readiness) { read(fd) })
	_ = reg
	return err
}

// pool has one worker.
type pool struct {
	mu      sync.Mutex
	more    *sync.Cond
	queue   []func()
	stopped bool
	done    chan struct{}
}

var (
	errArgument = errors.New("pool: bad argument")
	errStopped  = errors.New("pool: stopped")
)

func newPool() *pool {
	p := &pool{done: make(chan struct{})}
	p.more = sync.NewCond(&p.mu)
	go p.work()
	return p
}

func (p *pool) Done() <-chan struct{} { return p.done }

func (p *pool) Submit(task func()) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return errStopped
	}
	p.queue = append(p.queue, task)
	p.more.Signal()
	return nil
}

func (p *pool) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
	p.more.Signal()
}

func (p *pool) work() {
	defer close(p.done)
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		for len(p.queue) == 0 {
			if p.stopped {
				return
			}
			p.more.Wait()
		}
		task := p.queue[0]
		p.queue = p.queue[1:]
		p.mu.Unlock()
		task()
		p.mu.Lock()
	}
}

// subject wraps a pool for the kit.
type subject struct{ *pool }

func (s subject) Execute(task func()) error { return s.Submit(task) }

func (s subject) Shutdown(quiet, timeout time.Duration) error {
	if quiet < 0 || timeout < quiet {
		return errArgument
	}
	s.Stop()
	return nil
}

func TestConformance(t *testing.T) {
	exectest.Run(t, func() exectest.Subject { return subject{newPool()} },
		exectest.Without("G10", "no quiet period"), exectest.Without("G11", "no timeout"), exectest.Without("G14", "tasks do not panic"),
		exectest.Without("G16", "a stop has no parameters"), exectest.Without("G17", "its goroutine starts at once"))
}

// compiled has the files that fragments are looked for in. The test file of the kit has a
// program that props runs; that of the command interleave runs its page's.
var compiled = []string{"docs/snippets_test.go", "docs/draining_test.go", "docs/tcp_test.go", "docs/watching_test.go", "core/watch/promwatch/page_test.go",
	"core/watch/otelwatch/page_test.go", "props/readme_test.go"}

// TestFragmentsCompile looks for each fragment of Go in these files, whatever its indentation.
func TestFragmentsCompile(t *testing.T) {
	var sources []string
	for _, name := range compiled {
		sources = append(sources, unindented(readPage(t, name).text))
	}
	found := 0
	for _, p := range pages(t) {
		for _, b := range p.blocks() {
			if b.language != "go" || strings.HasPrefix(b.text, "package main\n") || p.name == "docs/interleave.md" {
				continue
			}
			found++
			if !contained(sources, b.text) {
				t.Errorf("%s: no file of %v has\n%s", p.name, compiled, b.text)
			}
		}
	}
	if found < 7 {
		t.Errorf("found %d fragments, want the pages to have at least 7", found)
	}
	if contained(sources, "hooked, ok := "+"nothing\n") {
		t.Error("a fragment that no file has was found")
	}
}

// contained looks for a fragment, without its package clause and imports.
func contained(sources []string, fragment string) bool {
	if _, after, found := strings.Cut(fragment, "\n)\n"); found && strings.HasPrefix(fragment, "package ") {
		fragment = after
	}
	fragment = strings.Trim(unindented(fragment), "\n")
	for _, source := range sources {
		if strings.Contains(source, fragment) {
			return true
		}
	}
	return false
}

func unindented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimLeft(line, "\t"))
	}
	return b.String()
}
