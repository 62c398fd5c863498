package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// confinedVerb, as the first argument, makes this program set up a condition in its own
// process and then become the test binary.
const confinedVerb = "confined-process"

// applied is what the confined process reports when the condition holds.
const applied = "applied"

// reportFD is where it reports: the first of exec.Cmd.ExtraFiles.
const reportFD = 3

// confined sets up the condition of args[0] and executes args[1:]. It returns only if
// one of them failed.
func confined(args []string) int {
	runtime.LockOSThread() // the affinity mask is the thread's
	syscall.CloseOnExec(reportFD)
	report := os.NewFile(reportFD, "report")
	var c condition
	err := json.Unmarshal([]byte(args[0]), &c)
	if err == nil {
		err = c.apply()
	}
	if err == nil {
		fmt.Fprint(report, applied)
		err = syscall.Exec(args[1], args[1:], os.Environ())
	}
	fmt.Fprint(report, err)
	return exitUsage
}

// apply changes this process. What is inherited from the command, the environment and
// the namespaces, is there already.
func (c condition) apply() error {
	if len(c.Sysctl) > 0 {
		if err := raiseLoopback(); err != nil {
			return fmt.Errorf("the loopback interface: %w", err)
		}
	}
	for _, s := range c.Sysctl {
		if err := s.set(); err != nil {
			return err
		}
	}
	if c.OneCPU {
		if err := keepOneCPU(); err != nil {
			return fmt.Errorf("the affinity mask: %w", err)
		}
	}
	if c.Files > 0 {
		// The Go runtime raises the soft limit to the hard one, so both are set.
		limit := syscall.Rlimit{Cur: c.Files, Max: c.Files}
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
			return fmt.Errorf("the limit of open files to %d: %w", c.Files, err)
		}
	}
	if c.User && os.Geteuid() == 0 {
		return fmt.Errorf("the process is root's")
	}
	return nil
}

// set writes the parameter unless it has the value, and reads it back: the kernel may
// refuse a value without an error.
func (s sysctl) set() error {
	has, err := s.read()
	if err != nil {
		return err
	}
	if has == s.Value {
		return nil
	}
	if err := os.WriteFile(s.path(), []byte(s.Value), 0); err != nil {
		return err
	}
	if has, err = s.read(); err == nil && has != s.Value {
		err = fmt.Errorf("%s is %s after %s was written", s.Name, has, s.Value)
	}
	return err
}

func (s sysctl) read() (string, error) {
	data, err := os.ReadFile(s.path())
	return strings.Join(strings.Fields(string(data)), " "), err
}

// raiseLoopback brings up lo, which is down in a new network namespace.
func raiseLoopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, lo); err != nil {
		return err
	}
	lo.SetUint16(lo.Uint16() | unix.IFF_UP)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo)
}

// keepOneCPU leaves the calling thread, which execs, the first processor of its mask.
func keepOneCPU() error {
	var mask, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &mask); err != nil {
		return err
	}
	for cpu := 0; ; cpu++ {
		if mask.IsSet(cpu) {
			one.Set(cpu)
			return unix.SchedSetaffinity(0, &one)
		}
	}
}

// confinements returns the process attributes under which c may hold, the most
// privileged first.
func (c condition) confinements() []*syscall.SysProcAttr {
	group := func(flags uintptr, id int) *syscall.SysProcAttr {
		a := &syscall.SysProcAttr{Setpgid: true, Cloneflags: flags}
		if flags&syscall.CLONE_NEWUSER != 0 {
			a.UidMappings = []syscall.SysProcIDMap{{ContainerID: id, HostID: os.Geteuid(), Size: 1}}
			a.GidMappings = []syscall.SysProcIDMap{{ContainerID: id, HostID: os.Getegid(), Size: 1}}
		}
		return a
	}
	const newNet, newUser = syscall.CLONE_NEWNET, syscall.CLONE_NEWUSER
	const somebody = 1000 // any user but root
	switch {
	case len(c.Sysctl) > 0 && os.Geteuid() == 0:
		return []*syscall.SysProcAttr{group(newNet, 0), group(newNet|newUser, 0)}
	case len(c.Sysctl) > 0:
		return []*syscall.SysProcAttr{group(newNet|newUser, 0)}
	case c.User && os.Geteuid() == 0:
		// The files stay readable: to the file system the user is still root.
		return []*syscall.SysProcAttr{group(newUser, somebody)}
	}
	return []*syscall.SysProcAttr{group(0, 0)}
}

// start starts the command under c. An error says why c could not be set up; the
// command has then not run.
func (c condition) start(build func() *exec.Cmd) (*exec.Cmd, error) {
	var last error
	for _, attr := range c.confinements() {
		cmd := build()
		cmd.SysProcAttr = attr
		if last = startConfined(cmd, c); last == nil {
			return cmd, nil
		}
	}
	return nil, last
}

// startConfined turns cmd into a confined process that becomes cmd, and waits for its
// report.
func startConfined(cmd *exec.Cmd, c condition) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	cmd.Args = slices.Concat([]string{self, confinedVerb, string(text), cmd.Path}, cmd.Args[1:])
	cmd.Path = self
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	defer read.Close()
	cmd.ExtraFiles = []*os.File{write}
	err = cmd.Start()
	write.Close()
	if err != nil {
		return fmt.Errorf("its namespaces: %w", err)
	}
	said, err := io.ReadAll(read)
	if err == nil && string(said) == applied {
		return nil
	}
	exit := cmd.Wait()
	if why := strings.TrimPrefix(string(said), applied); why != "" {
		return errors.New(why)
	}
	return fmt.Errorf("the confined process ended without a report: %w", errors.Join(err, exit))
}

// killGroup ends the process group of cmd, the children of its tests included.
func killGroup(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
