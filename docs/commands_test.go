package docs

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// run are the commands with which pages begin, and that take seconds.
var run = map[string]string{
	"docs/conditions.md":  "go run ./stress/cmd/conditions -list\n",
	"docs/failures.md":    "ok  ",
	"docs/layout.md":      "ok  ",
	"docs/options.md":     "ok  ",
	"docs/performance.md": "go run ./bench/cmd/results -check\n",
}

// elsewhere are the other pages that begin with commands, with the file that runs these
// and what it has to contain.
var elsewhere = map[string][2]string{
	"docs/interleave.md":   {"props/cmd/interleave/docs_test.go", `exec.Command("sh", "-c", line)`},
	"docs/kernels.md":      {"props/interleave/kernels/kernels_test.go", "func TestBugsAreFound("},
	"docs/lane.md":         {"props/cmd/verify/lane.go", "eventide/props/lanes/interleave"},
	"docs/verification.md": {".ci/run", "make verify"},
	"docs/gate.md":         {"bench/gate/end_to_end_test.go", "func TestPlantedRegressions("},
	"docs/release.md":      {"bench/gate/release/end_to_end_test.go", "func TestEndToEnd("},
	"docs/sockets.md":      {"props/lanes/sockets/prop_test.go", "func TestPropSockets("},
}

// TestOpeningCommands runs the command that each page begins with, or knows what runs it.
func TestOpeningCommands(t *testing.T) {
	for _, p := range pages(t)[1:] {
		first := p.blocks()[0]
		if other, is := elsewhere[p.name]; is {
			if text, err := os.ReadFile(filepath.Join(root, other[0])); err != nil || !bytes.Contains(text, []byte(other[1])) {
				t.Errorf("%s: %s does not run its command: no %q in it, %v", p.name, other[0], other[1], err)
			}
			continue
		}
		if first.language != "sh" {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command("sh", "-e", "-c", first.text)
			cmd.Dir, cmd.Env = root, outsideMake()
			out, err := cmd.CombinedOutput()
			if want, known := run[p.name]; err != nil || !known || !strings.HasPrefix(string(out), want) {
				t.Errorf("%s: %v, want %q, known %v\n%s", first.text, err, want, known, out)
			}
		})
	}
}

// outsideMake is the environment without the variables of a make that runs the tests: by them
// another make would print where it is.
func outsideMake() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "MAKEFLAGS=") || strings.HasPrefix(v, "MAKELEVEL=") || strings.HasPrefix(v, "MFLAGS=")
	})
}

// TestCommandsExist: each command of a page names a target, packages, tests and flags that
// there are.
func TestCommandsExist(t *testing.T) {
	found := 0
	for _, p := range pages(t) {
		for _, line := range commandsOf(p.text) {
			found++
			if err := checkCommand(line); err != nil {
				t.Errorf("%s: %s: %v", p.name, line, err)
			}
		}
	}
	if found < 40 {
		t.Errorf("found %d commands, want at least 40", found)
	}
}

// TestCommandsCanBeWrong has a command with each mistake.
func TestCommandsCanBeWrong(t *testing.T) {
	for line, want := range map[string]string{
		"make certain":                                       "no target certain",
		"make verify BUDGETS=30s":                            "nothing reads BUDGETS",
		"go test ./cores":                                    "no packages in ./cores",
		"go test ./core -run TestG99":                        "no test of ./core matches TestG99",
		"go run ./props/cmd/verified":                        "no command in ./props/cmd/verified",
		"go run ./props/cmd/verify -budgets 3s":              "no flag -budgets",
		"interleave seek":                                    "no command seek of interleave",
		"interleave test -colour":                            "no flag -colour",
		"go build -o out/x ./props/cmd/verified && out/x -a": "no command in ./props/cmd/verified",
	} {
		if err := checkCommand(line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", line, err, want)
		}
	}
}

var (
	codeSpan  = regexp.MustCompile("`((?:make|go test|go run|go build|interleave) [^`\n]+)`")
	indented  = regexp.MustCompile(`(?m)^(?:    )?((?:make|go test|go run|go build|interleave) .*)$`)
	pastes    = regexp.MustCompile(`\s{2,}.*$`) // what a command does, behind it
	variable  = regexp.MustCompile(`^([A-Z_]+)=`)
	quoted    = regexp.MustCompile(`'[^']*'|"[^"]*"`)
	testFunc  = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark|Example)\w*)\(`)
	goTestArg = regexp.MustCompile(`^-(race|v|count|run|short|tags|bench|fuzz|fuzzminimizetime|fuzztime|json|skip|c)\b`)
)

// commandsOf returns the commands in code spans, fenced blocks and indented lines.
func commandsOf(text string) (lines []string) {
	for _, m := range codeSpan.FindAllStringSubmatch(text, -1) {
		lines = append(lines, m[1])
	}
	for _, m := range indented.FindAllStringSubmatch(text, -1) {
		line, _, _ := strings.Cut(m[1], " #")
		lines = append(lines, strings.TrimSpace(pastes.ReplaceAllString(line, "")))
	}
	return lines
}

// checkCommand looks at each part of a command line.
func checkCommand(line string) error {
	line = strings.ReplaceAll(line, "; echo $?", "")
	for part := range strings.SplitSeq(line, " && ") {
		if err := checkPart(fields(part)); err != nil {
			return err
		}
	}
	return nil
}

// fields splits at blanks outside of quotes.
func fields(text string) []string {
	text = quoted.ReplaceAllStringFunc(text, func(q string) string { return strings.ReplaceAll(q[1:len(q)-1], " ", "\x00") })
	all := strings.Fields(text)
	for i := range all {
		all[i] = strings.ReplaceAll(all[i], "\x00", " ")
	}
	return all
}

func checkPart(words []string) error {
	switch {
	case words[0] == "make":
		return checkMake(words[1:])
	case words[0] == "interleave":
		return checkInterleave(words[1:])
	case words[0] == "go" && words[1] == "test":
		return checkGoTest(words[2:])
	case words[0] == "go" && words[1] == "run":
		return checkGoRun(words[2:])
	case words[0] == "go" && words[1] == "build":
		return checkGoRun(words[4:]) // go build -o FILE
	}
	return nil // a program that the part before has built
}

func checkMake(words []string) error {
	text, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		return err
	}
	for _, word := range words {
		if m := variable.FindStringSubmatch(word); m != nil {
			if !bytes.Contains(text, []byte("("+m[1]+")")) && !bytes.Contains(text, []byte(" "+m[1]+"=")) && !read(m[1]) {
				return fmt.Errorf("nothing reads %s", m[1])
			}
		} else if !bytes.Contains(text, []byte("\n"+word+":")) {
			return fmt.Errorf("no target %s", word)
		}
	}
	return nil
}

// read reports whether a command reads the variable of the environment.
func read(name string) bool {
	return slices.ContainsFunc(sources("props", "stress"), func(text []byte) bool { return bytes.Contains(text, []byte(`Getenv("`+name+`")`)) })
}

// sources are the Go files below directories.
func sources(dirs ...string) (texts [][]byte) {
	for _, dir := range dirs {
		_ = filepath.WalkDir(filepath.Join(root, dir), func(path string, d os.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".go") && !d.IsDir() {
				text, _ := os.ReadFile(path)
				texts = append(texts, text)
			}
			return nil
		})
	}
	return texts
}

// directory is the one of a package pattern; "" if the word is none.
func directory(word string) string {
	if word == "./..." || word == "." || word == "./changed/package" {
		return "."
	}
	word = strings.TrimSuffix(word, "/...")
	if path, ours := strings.CutPrefix(word, "eventide/"); ours {
		return "./" + path
	}
	if strings.HasPrefix(word, "./") {
		return word
	}
	return ""
}

func goFiles(dir string) []string {
	files, _ := filepath.Glob(filepath.Join(root, dir, "*.go"))
	return files
}

func checkGoTest(words []string) error {
	dirs, pattern := []string{}, ""
	for i, word := range words {
		dir := directory(word)
		switch {
		case word == "-run" || word == "-bench" || word == "-fuzz":
			pattern, _, _ = strings.Cut(words[i+1], "/")
		case strings.HasPrefix(word, "-") && !goTestArg.MatchString(word):
			if !slices.ContainsFunc(sources("props"), func(text []byte) bool { return bytes.Contains(text, []byte(`"`+word[1:]+`"`)) }) {
				return fmt.Errorf("no flag %s", word)
			}
		case dir != "" && dir != "." && len(goFiles(dir)) == 0 && !strings.HasSuffix(word, "/..."):
			return fmt.Errorf("no packages in %s", dir)
		case dir != "":
			dirs = append(dirs, dir)
		}
	}
	if pattern == "" || pattern == "^$" || slices.Contains(dirs, ".") || len(dirs) == 0 {
		return nil
	}
	match, err := regexp.Compile(pattern)
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		for _, file := range goFiles(dir) {
			text, _ := os.ReadFile(file)
			for _, m := range testFunc.FindAllSubmatch(text, -1) {
				if match.Match(m[1]) {
					return nil
				}
			}
		}
	}
	return fmt.Errorf("no test of %s matches %s", strings.Join(dirs, " "), pattern)
}

func checkGoRun(words []string) error {
	dir := directory(words[0])
	var texts [][]byte
	isCommand := false
	for _, file := range goFiles(dir) {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		isCommand = isCommand || bytes.Contains(text, []byte("\npackage main\n")) || bytes.HasPrefix(text, []byte("package main\n"))
		texts = append(texts, text)
	}
	if dir == "" || !isCommand {
		return fmt.Errorf("no command in %s", dir)
	}
	if strings.HasPrefix(dir, "./props/lanes/") { // flags of the lane's own binary too
		texts = append(texts, sources("props/lanes")...)
	}
	return checkFlags(words[1:], texts)
}

func checkFlags(words []string, texts [][]byte) error {
	for _, word := range words {
		name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
		if !strings.HasPrefix(word, "-") || name == "" {
			continue
		}
		if !slices.ContainsFunc(texts, func(text []byte) bool { return bytes.Contains(text, []byte(`"`+name+`"`)) }) {
			return fmt.Errorf("no flag %s", word)
		}
	}
	return nil
}

func checkInterleave(words []string) error {
	texts := sources("props/interleave/driver", "props/cmd/interleave")
	if len(texts) == 0 {
		return errors.New("the command interleave has no source")
	}
	if !slices.ContainsFunc(texts, func(text []byte) bool { return bytes.Contains(text, []byte(`"`+words[0]+`"`)) }) {
		return fmt.Errorf("no command %s of interleave", words[0])
	}
	return checkFlags(words[1:], texts)
}

var target = regexp.MustCompile(`(?m)^([a-z-]+):`)

// TestMakeHelp: make alone is make help. It lists every target once, in groups, with
// verify and test first.
func TestMakeHelp(t *testing.T) {
	makefile := readPage(t, "Makefile").text
	if err := checkHelp(t, makefile); err != nil {
		t.Error(err)
	}
	for _, wrong := range []string{
		strings.Replace(makefile, "\nlint: ##", "\nlint: #", 1),
		strings.Replace(makefile, "\n##@ Check\n", "\n", 1),
		strings.Replace(makefile, "\nverify: ##", "\nzzz: ##", 1),
	} {
		if checkHelp(t, wrong) == nil {
			t.Error("got no error for a Makefile whose help is wrong")
		}
	}
}

func checkHelp(t *testing.T, makefile string) error {
	file := filepath.Join(t.TempDir(), "Makefile")
	if err := os.WriteFile(file, []byte(makefile), 0o644); err != nil {
		return err
	}
	cmd := exec.Command("make", "-f", file)
	cmd.Env = outsideMake()
	help, err := cmd.Output()
	if err != nil {
		return err
	}
	if !strings.HasPrefix(string(help), "\nCheck\n  verify ") || !strings.Contains(string(help), "\n  test ") {
		return fmt.Errorf("make help does not begin with verify and test:\n%s", help)
	}
	for _, m := range target.FindAllStringSubmatch(makefile, -1) {
		if strings.Count(string(help), "\n  "+m[1]+" ") != 1 {
			return fmt.Errorf("make help does not list %s once:\n%s", m[1], help)
		}
	}
	return nil
}
