// Survey runs the tests of a pinned list of modules under chosen schedules.
//
//	survey                   explore each module of the list, and write the results
//	survey -only regexp      explore the modules that match, and keep the other results
//	survey -healthy          explore tests without bugs; each finding is a false alarm
//	survey -render           write the classes of findings.txt, and the table of the page
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

	"eventide/props/interleave/survey"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "survey:", err)
		os.Exit(1)
	}
}

var (
	list     = flag.String("list", "testdata/interleave/modules.txt", "the modules")
	kept     = flag.String("kept", "testdata/interleave/modules.json", "the results")
	classes  = flag.String("classes", "testdata/interleave/findings.txt", "what reading the findings showed")
	page     = flag.String("page", "docs/interleave.md", "the page that states the results")
	dir      = flag.String("dir", "out/modules", "sources and full reports of each module")
	only     = flag.String("only", "", "explore only modules that match the `regexp`")
	check    = flag.Bool("check", false, "compare the page with the kept results")
	healthy  = flag.Bool("healthy", false, "explore tests without bugs")
	render   = flag.Bool("render", false, "write the page from the kept results")
	side     = flag.Int("side", 1, "modules explored side by side")
	source   = flag.String("source", "", "of a child process: the module's directory")
	reports  = flag.String("reports", "", "of a child process: where the reports go")
	settings survey.Options
)

func init() {
	flag.Uint64Var(&settings.Schedules, "schedules", 200, "most schedules of a test")
	flag.DurationVar(&settings.Budget, "budget", time.Minute, "of the search in all tests of a module")
	flag.DurationVar(&settings.Limit, "limit", 4*time.Minute, "of a module with its build")
	flag.BoolVar(&settings.Race, "race", false, "build with the race detector")
	flag.BoolVar(&settings.Leaks, "leaks", false, "goroutines left behind are findings")
	flag.IntVar(&settings.Processes, "p", 1, "processes of a module at once")
}

func run() error {
	flag.Parse()
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
		return survey.Page(*page, *kept, true)
	case *render:
		return write()
	}
	pattern, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	modules = slices.DeleteFunc(modules, func(m survey.Module) bool { return !pattern.MatchString(m.Path) })
	return exploreAll(modules)
}

// write writes the classes of the findings, and the table of the page.
func write() error {
	results, err := survey.ReadKept(*kept)
	if err != nil {
		return err
	}
	if err := results.Write(*kept, *classes); err != nil {
		return err
	}
	return survey.Page(*page, *kept, false)
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

// exploreHealthy explores the tests without bugs, from the root of the repository.
func exploreHealthy() error {
	for _, h := range survey.HealthyTests {
		r, err := survey.ExploreHealthy(h[0], h[1], settings, os.Stderr)
		if err != nil {
			return err
		}
		results, err := survey.ReadKept(*kept)
		if err != nil {
			return err
		}
		fmt.Printf("%+v\n", r)
		results.PutHealthy(r)
		if err := results.Write(*kept, *classes); err != nil {
			return err
		}
	}
	return nil
}

func childOf(m survey.Module, source, reports string) *exec.Cmd {
	return exec.Command(os.Args[0], "-list", *list, "-only", m.Path, "-source", source, "-reports", reports,
		"-schedules", fmt.Sprint(settings.Schedules), "-budget", settings.Budget.String(), "-limit", settings.Limit.String(),
		fmt.Sprintf("-race=%v", settings.Race), fmt.Sprintf("-leaks=%v", settings.Leaks), "-p", fmt.Sprint(settings.Processes))
}
