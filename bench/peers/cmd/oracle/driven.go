package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"eventide/bench/peers"
	"eventide/props/netty"
)

// A player runs programs on Netty, many at once, and returns the trace of each by its
// place in the list. One in which the machine did not keep the times has none.
type player func(programs []*netty.Program) (map[int]netty.Trace, error)

// driven is the player of a driver.
func driven(d *peers.Driver) player {
	return func(programs []*netty.Program) (map[int]netty.Trace, error) {
		at := map[int]int{} // by the number of the program
		for i, p := range programs {
			at[p.ID] = i
		}
		sent := make(chan error, 1)
		go func() {
			for _, p := range programs {
				if err := d.Send(fmt.Sprintf("program %v", p)); err != nil {
					sent <- err
					return
				}
			}
			sent <- nil
		}()
		traces := map[int]netty.Trace{}
		for range programs {
			line, err := d.Receive(time.Minute)
			if err != nil {
				return nil, err
			}
			id, text, _ := strings.Cut(strings.TrimPrefix(line, "trace "), " ")
			n, err := strconv.Atoi(id)
			i, known := at[n]
			if err != nil || !known {
				return nil, fmt.Errorf("the driver says %q, want a trace and its id", line)
			}
			if text == "late" {
				continue
			}
			if traces[i], err = netty.ParseTrace(text); err != nil {
				return nil, err
			}
		}
		return traces, <-sent
	}
}
