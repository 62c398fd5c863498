// Survey runs the tests of a pinned list of modules under chosen schedules.
//
//	survey                   explore each module of the list, and write the results
//	survey -only regexp      explore the modules that match, and keep the other results
//	survey -healthy          explore tests without bugs; each finding is a false alarm
//	survey -render           write the classes of findings.txt, and the tables of the page
//	survey -check            fail if the page does not state the kept results
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"

	"eventide/internal/command"
	"eventide/props/interleave/evidence"
	"eventide/props/interleave/survey"
)

func main() {
	if err := command.Parse(set, os.Args[1:], os.Stderr, nil); err != nil {
		os.Exit(command.Refuse(os.Stderr, "survey", err))
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "survey:", err)
		os.Exit(1)
	}
}

var (
	set      = flag.NewFlagSet("survey", flag.ContinueOnError)
	list     = set.String("list", "testdata/interleave/modules.txt", "the modules")
	kept     = set.String("kept", "testdata/interleave/modules.json", "the results")
	raced    = set.String("raced", "testdata/interleave/modules-race.json", "the results with the race detector, for the page")
	sound    = set.String("sound", "testdata/interleave/healthy.json", "the results of tests without bugs")
	classes  = set.String("classes", "testdata/interleave/findings.txt", "what reading the findings showed")
	page     = set.String("page", "docs/interleave.md", "the page that states the results")
	dir      = set.String("dir", "out/modules", "sources and full reports of each module")
	only     = set.String("only", "", "explore only modules that match the `regexp`")
	check    = set.Bool("check", false, "compare the page with the kept results")
	healthy  = set.Bool("healthy", false, "explore tests without bugs")
	render   = set.Bool("render", false, "write the page from the kept results")
	side     = set.Int("side", 1, "modules explored side by side")
	source   = set.String("source", "", "of a child process: the module's directory")
	reports  = set.String("reports", "", "of a child process: where the reports go")
	settings survey.Options
)

func init() {
	set.Uint64Var(&settings.Schedules, "schedules", 200, "most schedules of a test")
	set.DurationVar(&settings.Budget, "budget", time.Minute, "of the search in all tests of a module")
	set.DurationVar(&settings.Limit, "limit", 4*time.Minute, "of a module with its build")
	set.BoolVar(&settings.Race, "race", false, "build with the race detector")
	set.BoolVar(&settings.Leaks, "leaks", false, "goroutines left behind are findings")
	set.IntVar(&settings.Processes, "p", 1, "processes of a module at once")
}

func run() error {
	modules, err := survey.ReadList(*list)
	if err != nil {
		return err
	}
	switch {
	case *source != "":
		return child(modules)
	case *healthy:
		return exploreHealthy()
	case *check:
		return pages(modules, true)
	case *render:
		return write(modules)
	}
	pattern, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	modules = slices.DeleteFunc(modules, func(m survey.Module) bool { return !pattern.MatchString(m.Path) })
	return exploreAll(modules)
}

// write writes the classes of the findings, and the tables of the page.
func write(modules []survey.Module) error {
	for _, name := range []string{*kept, *raced} {
		results, err := survey.ReadKept(name)
		if err != nil {
			return err
		}
		if len(results.Modules) == 0 {
			continue // it was not run
		}
		if err := results.Write(name, *classes); err != nil {
			return err
		}
	}
	return pages(modules, false)
}

// pages writes the tables of the page, or with check compares them.
func pages(modules []survey.Module, check bool) error {
	for _, part := range []struct{ name, file string }{{"modules", *kept}, {"modules-race", *raced}} {
		results, err := survey.ReadKept(part.file)
		if err != nil {
			return err
		}
		if err := survey.Page(*page, part.name, results.Table(modules), check); err != nil {
			return err
		}
	}
	h, err := evidence.ReadHealthy(*sound)
	if err != nil {
		return err
	}
	return survey.Page(*page, "healthy", h.Table(), check)
}

// child explores the one module that -only names.
func child(modules []survey.Module) error {
	i := slices.IndexFunc(modules, func(m survey.Module) bool { return m.Path == *only })
	if i < 0 {
		return fmt.Errorf("%s is not listed", *only)
	}
	out, err := os.Create(*reports)
	if err != nil {
		return err
	}
	defer out.Close()
	return survey.Explore(modules[i], *source, settings, out, os.Stdout)
}

// exploreAll explores the modules and writes the results after each.
func exploreAll(modules []survey.Module) error {
	if err := os.MkdirAll(*dir, 0o755); err != nil {
		return err
	}
	root, err := filepath.Abs(*dir)
	if err != nil {
		return err
	}
	results, err := survey.ReadKept(*kept)
	if err != nil {
		return err
	}
	if _, err := evidence.Describe("interleave-modules", nil); err != nil {
		return err // the results would not say which sources they are of
	}
	results.Stamp(settings)
	var mu sync.Mutex
	var wg sync.WaitGroup
	errs := make(chan error, len(modules))
	slots := make(chan struct{}, max(*side, 1))
	for _, m := range modules {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			r, err := survey.Run(m, root, settings, func(source, reports string) *exec.Cmd { return childOf(m, source, reports) })
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				fmt.Println(r)
				results.Put(r)
				err = results.Write(*kept, *classes)
			}
			if err != nil {
				errs <- fmt.Errorf("%s: %w", m.Path, err)
			}
		})
	}
	wg.Wait()
	close(errs)
	return <-errs
}

// exploreHealthy explores the tests without bugs, from the root of the repository. It
// writes the results when all packages are explored.
func exploreHealthy() error {
	about, err := evidence.Describe("interleave-healthy", nil)
	if err != nil {
		return err
	}
	h := &evidence.Healthy{About: about, Seed: survey.HealthySeed}
	for _, p := range survey.HealthyPackages {
		r, err := survey.ExploreHealthy(p, settings, os.Stderr)
		if err != nil {
			return err
		}
		fmt.Printf("%+v\n", r)
		h.Rows = append(h.Rows, r)
	}
	return evidence.Write(*sound, h)
}

func childOf(m survey.Module, source, reports string) *exec.Cmd {
	return exec.Command(os.Args[0], "-list", *list, "-only", m.Path, "-source", source, "-reports", reports,
		"-schedules", fmt.Sprint(settings.Schedules), "-budget", settings.Budget.String(), "-limit", settings.Limit.String(),
		fmt.Sprintf("-race=%v", settings.Race), fmt.Sprintf("-leaks=%v", settings.Leaks), "-p", fmt.Sprint(settings.Processes))
}
