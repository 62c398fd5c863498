package netty

import (
	"fmt"
	"strconv"
	"strings"
)

// A Program is a sequence of calls that one goroutine outside of an executor makes, with
// the calls of its bodies. The driver of Netty reads its text, which is one line:
//
//	7 nio fail=0 x1{q2 s3(25){}} p4(40) g5(30,100)
//
// Every step is a letter, a label that is unique in the program, arguments in
// milliseconds, and, if the step submits a function, its body.
type Program struct {
	ID    int
	Kind  string // "nio" or "default": the kind of Netty's executor
	Fail  int    // how many attempts to start the loop fail
	Steps []*Step
}

// Step is one call, outside or in a body.
type Step struct {
	Op    byte
	Label int
	A, B  int // milliseconds; A of cancel, remove and listen is the label of the other step
	Body  []*Step
}

// The steps.
const (
	opExecute  = 'x' // a body
	opSubmit   = 'u' // a body with a future
	opLazy     = 'z' // a body that does not wake the loop
	opTail     = 't' // a body at the end of the iteration; nio only
	opSchedule = 's' // (delay) a body
	opRate     = 'f' // (initial, period) a periodic body
	opDelay    = 'd' // (initial, delay) a body with a fixed delay
	opHook     = 'h' // a shutdown hook
	opCancel   = 'c' // (label) a timer or a future
	opRemove   = 'r' // (label) a hook
	opListen   = 'l' // (label) adds a listener to a future
	opGraceful = 'g' // (quiet, timeout)
	opShutdown = 'n' // shutdown at once
	opQuery    = 'q' // the state
	opAwait    = 'a' // (ms) outside: wait for the termination for that time
	opWait     = 'w' // (ms) in a body: wait for the termination future for that time
	opPause    = 'p' // (ms)
	opHold     = 'H' // outside: a task that blocks the loop
	opRelease  = 'R' // outside: ends that task
	opThrow    = '!' // throws; the last step of a body
)

// arity is the number of arguments of each step.
var arity = map[byte]int{
	opSchedule: 1, opRate: 2, opDelay: 2, opCancel: 1, opRemove: 1, opListen: 1,
	opGraceful: 2, opAwait: 1, opWait: 1, opPause: 1,
	opExecute: 0, opSubmit: 0, opLazy: 0, opTail: 0, opHook: 0,
	opShutdown: 0, opQuery: 0, opHold: 0, opRelease: 0, opThrow: 0,
}

// submits reports whether the step has a body.
func submits(op byte) bool { return strings.IndexByte("xuztsfdh", op) >= 0 }

// isTask reports whether the body is a task, to which FIFO order applies.
func isTask(op byte) bool { return op == opExecute || op == opSubmit || op == opLazy }

func isTimer(op byte) bool { return op == opSchedule || op == opRate || op == opDelay }

// String returns the line.
func (p *Program) String() string {
	return fmt.Sprintf("%d %s fail=%d %s", p.ID, p.Kind, p.Fail, stepsText(p.Steps))
}

func stepsText(steps []*Step) string {
	texts := make([]string, len(steps))
	for i, s := range steps {
		texts[i] = s.String()
	}
	return strings.Join(texts, " ")
}

func (s *Step) String() string {
	text := string(s.Op) + strconv.Itoa(s.Label)
	switch arity[s.Op] {
	case 1:
		text += fmt.Sprintf("(%d)", s.A)
	case 2:
		text += fmt.Sprintf("(%d,%d)", s.A, s.B)
	}
	if submits(s.Op) {
		text += "{" + stepsText(s.Body) + "}"
	}
	return text
}

// each visits every step, in the order of the text.
func each(steps []*Step, visit func(*Step)) {
	for _, s := range steps {
		visit(s)
		each(s.Body, visit)
	}
}

// steps returns every step by its label.
func (p *Program) byLabel() map[int]*Step {
	all := map[int]*Step{}
	each(p.Steps, func(s *Step) { all[s.Label] = s })
	return all
}

// Parse parses a line.
func Parse(line string) (*Program, error) {
	head := strings.SplitN(line, " ", 4)
	if len(head) < 4 {
		return nil, fmt.Errorf("netty: program %q, want: id kind fail=n steps", line)
	}
	p := &Program{Kind: head[1]}
	var err, err2 error
	p.ID, err = strconv.Atoi(head[0])
	p.Fail, err2 = strconv.Atoi(strings.TrimPrefix(head[2], "fail="))
	if err != nil || err2 != nil || p.Kind != "nio" && p.Kind != "default" {
		return nil, fmt.Errorf("netty: program %q, want: id kind fail=n steps", line)
	}
	r := &reader{text: head[3]}
	p.Steps = r.steps()
	if r.err == nil && r.at != len(r.text) {
		r.fail("a step")
	}
	if r.err != nil {
		return nil, r.err
	}
	return p, nil
}

// reader parses steps by recursive descent.
type reader struct {
	text string
	at   int
	err  error
}

func (r *reader) fail(want string) {
	if r.err == nil {
		r.err = fmt.Errorf("netty: program, at %q: want %s", r.text[min(r.at, len(r.text)):], want)
	}
}

func (r *reader) peek() byte {
	if r.at < len(r.text) {
		return r.text[r.at]
	}
	return 0
}

func (r *reader) steps() []*Step {
	var steps []*Step
	for r.err == nil && r.peek() != 0 && r.peek() != '}' {
		if r.peek() == ' ' {
			r.at++
			continue
		}
		steps = append(steps, r.step())
	}
	return steps
}

func (r *reader) step() *Step {
	s := &Step{Op: r.peek()}
	n, ok := arity[s.Op]
	if !ok {
		r.fail("a letter that is a step")
		return s
	}
	r.at++
	s.Label = r.number()
	if n > 0 {
		r.expect('(')
		s.A = r.number()
		if n > 1 {
			r.expect(',')
			s.B = r.number()
		}
		r.expect(')')
	}
	if submits(s.Op) {
		r.expect('{')
		s.Body = r.steps()
		r.expect('}')
	}
	return s
}

func (r *reader) expect(c byte) {
	if r.peek() != c {
		r.fail(strconv.Quote(string(c)))
		return
	}
	r.at++
}

func (r *reader) number() int {
	from := r.at
	if r.peek() == '-' {
		r.at++
	}
	for c := r.peek(); c >= '0' && c <= '9'; c = r.peek() {
		r.at++
	}
	n, err := strconv.Atoi(r.text[from:r.at])
	if err != nil {
		r.fail("a number")
	}
	return n
}
