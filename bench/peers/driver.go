package peers

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// A Driver is the process that runs one or more implementations. Its methods are
// not for several goroutines at once, but for Close.
type Driver struct {
	name  string
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string // closed when the driver's output ends
	once  sync.Once
	err   error // after which nothing more is asked
}

// StartDriver starts a driver. What it writes to standard error goes to ours.
func StartDriver(name string, command ...string) (*Driver, error) {
	d := &Driver{name: name, cmd: exec.Command(command[0], command[1:]...), lines: make(chan string)}
	d.cmd.Stderr = os.Stderr
	var err error
	if d.in, err = d.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := d.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := d.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(d.lines)
		r := bufio.NewReader(out)
		for {
			line, err := r.ReadString('\n')
			if line != "" {
				d.lines <- strings.TrimSuffix(line, "\n")
			}
			if err != nil {
				return
			}
		}
	}()
	return d, nil
}

// Do asks and waits for the answer. One that does not come within patience ends the
// driver: nobody could tell what the next answer belongs to.
func (d *Driver) Do(r Request, patience time.Duration) (Answer, error) {
	if err := d.Send(r.String()); err != nil {
		return Answer{}, err
	}
	line, err := d.Receive(patience)
	if err != nil {
		return Answer{}, fmt.Errorf("%s: %v: %w", d.name, r, err)
	}
	return ParseAnswer(line)
}

// Send writes a line.
func (d *Driver) Send(line string) error {
	if d.err != nil {
		return d.err
	}
	_, err := fmt.Fprintln(d.in, line)
	return err
}

// Receive reads a line.
func (d *Driver) Receive(patience time.Duration) (string, error) {
	if d.err != nil {
		return "", d.err
	}
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	select {
	case line, ok := <-d.lines:
		if ok {
			return line, nil
		}
		d.err = errors.New("the driver has ended")
	case <-timeout.C:
		d.err = fmt.Errorf("the driver did not answer within %v", patience)
		d.cmd.Process.Kill()
	}
	return "", d.err
}

// Close ends the driver.
func (d *Driver) Close() {
	d.once.Do(func() {
		d.in.Close()
		end := time.AfterFunc(5*time.Second, func() { d.cmd.Process.Kill() })
		for range d.lines { // so that it can write to its end
		}
		d.cmd.Wait()
		end.Stop()
	})
}

// A driverKind is a driver that can be started, or not.
type driverKind struct {
	name    string
	command func(dir string) ([]string, error) // the error is the reason why not
}

// built finds a driver that build.sh has compiled into dir.
func built(file string) func(dir string) ([]string, error) {
	return func(dir string) ([]string, error) {
		name := filepath.Join(dir, file)
		if _, err := os.Stat(name); err != nil {
			return nil, fmt.Errorf("%s is missing: make peers-setup builds it", file)
		}
		return []string{name}, nil
	}
}

// NettyCommand starts the driver of Netty; kind is nio or default.
func NettyCommand(dir, kind string) ([]string, error) {
	path, err := os.ReadFile(filepath.Join(dir, "netty.classpath"))
	if err != nil {
		return nil, errors.New("netty.classpath is missing: make peers-setup writes it where Netty and a JDK are installed")
	}
	java, err := exec.LookPath("java")
	if err != nil {
		return nil, err
	}
	return []string{
		java, "-Xmx1g", "-Dio.netty.noUnsafe=false", "-Djdk.attach.allowAttachSelf=false",
		"--add-opens=java.base/java.nio=ALL-UNNAMED", "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
		"-Dio.netty.tryReflectionSetAccessible=true",
		"-cp", strings.TrimSpace(string(path)), "NettyPeer", kind,
	}, nil
}

func netty(kind string) func(dir string) ([]string, error) {
	return func(dir string) ([]string, error) { return NettyCommand(dir, kind) }
}

// ourselves is the driver of the Go implementations: this program, told to serve.
func ourselves(string) ([]string, error) {
	self, err := os.Executable()
	return []string{self, "-serve"}, err
}
