package peers

import (
	"bufio"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
)

// Serve is the driver of the Go implementations: it answers requests until r ends.
// The garbage of earlier slices is collected before each.
func Serve(r io.Reader, w io.Writer) error {
	s := server{impls: goImpls()}
	defer s.close()
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		answer, err := s.answer(lines.Text())
		text := answer.String()
		if err != nil {
			text = answerError + " " + fmt.Sprintf("%q", err.Error())
		}
		if _, err := fmt.Fprintln(w, text); err != nil {
			return err
		}
	}
	return lines.Err()
}

type server struct {
	impls    map[string]impl
	echo     echoServer // nil: none is up
	spinning *burners   // beside it
}

func (s *server) close() {
	if s.echo != nil {
		s.spinning.end()
		s.echo.stop()
	}
	for _, im := range s.impls {
		if im.kept != nil && *im.kept != nil {
			(*im.kept).Close()
		}
	}
}

func (s *server) answer(line string) (a Answer, err error) {
	r, err := ParseRequest(line)
	if err != nil {
		return Answer{}, err
	}
	im, ok := s.impls[r.Args["impl"]]
	if !ok {
		return Answer{}, fmt.Errorf("impl is %q, which this driver does not have", r.Args["impl"])
	}
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return s.do(im, r)
}

func (s *server) do(im impl, r Request) (Answer, error) {
	switch r.Word {
	case "about":
		return Answer{text: map[string]string{"version": im.version}}, nil
	case "echo-start", "echo-stop":
		return s.doEcho(im, r)
	case "memory":
		return memoryNow()
	case "lateness":
		if im.timers == nil {
			return Answer{None: im.why("timers")}, nil
		}
	case "overshoot":
		if im.quiet == nil {
			return Answer{None: im.why("quiet")}, nil
		}
	case "schedulecancel":
		if im.timers == nil {
			return Answer{None: im.why("timers")}, nil
		}
		if r.Args["where"] == "loop" && im.open == nil {
			return Answer{None: im.why("tasks")}, nil
		}
	default:
		if im.open == nil {
			return Answer{None: im.why("tasks")}, nil
		}
	}
	measure, ok := measurements[r.Word]
	if !ok {
		return Answer{}, fmt.Errorf("unknown request %q", r.Word)
	}
	runtime.GC()
	return measure(im, r)
}

func (s *server) doEcho(im impl, r Request) (Answer, error) {
	if im.echo == nil {
		return Answer{None: im.why("echo")}, nil
	}
	if r.Word == "echo-stop" {
		return s.stopEcho()
	}
	return s.startEcho(im, r)
}

func (s *server) startEcho(im impl, r Request) (Answer, error) {
	if s.echo != nil {
		return Answer{}, fmt.Errorf("an echo server is up already")
	}
	spinning := 0
	if r.Args["burn"] != "" {
		var err error
		if spinning, err = r.Int("burn"); err != nil {
			return Answer{}, err
		}
	}
	server, err := im.echo()
	if err != nil {
		return Answer{}, err
	}
	s.echo, s.spinning = server, burn(spinning)
	return Answer{text: map[string]string{"port": fmt.Sprint(server.port())}}, nil
}

func (s *server) stopEcho() (Answer, error) {
	if s.echo == nil {
		return Answer{}, fmt.Errorf("no echo server is up")
	}
	s.spinning.end()
	elapsed, err := s.echo.stop()
	s.echo = nil
	return Answer{Ops: 1, Elapsed: int64(elapsed)}, err
}
