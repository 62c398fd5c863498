// Command outside calls the kit where there is no test.
package main

import (
	"errors"
	"fmt"
	"time"

	"eventide/props/exectest"
)

// direct runs each task on its caller, one at a time.
type direct struct {
	turn   chan struct{} // holds one token; taken by whoever runs or closes
	closed bool
	done   chan struct{}
}

func newDirect() exectest.Subject {
	return &direct{turn: make(chan struct{}, 1), done: make(chan struct{})}
}

func (d *direct) Execute(task func()) error {
	d.turn <- struct{}{}
	defer func() { <-d.turn }()
	if d.closed {
		return errors.New("closed")
	}
	task()
	return nil
}

func (d *direct) Shutdown(time.Duration, time.Duration) error {
	d.turn <- struct{}{}
	defer func() { <-d.turn }()
	if !d.closed {
		d.closed = true
		close(d.done)
	}
	return nil
}

func (d *direct) Done() <-chan struct{} { return d.done }

func main() {
	fmt.Print(exectest.Check(newDirect, exectest.Only("G2", "G6", "G10")))
}
