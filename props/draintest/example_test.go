package draintest_test

import (
	"fmt"

	"eventide/props/draintest"
)

// What the kit judges.
func ExampleVerdicts() {
	for _, verdict := range draintest.Verdicts() {
		fmt.Printf("%-14s %s\n", verdict, draintest.Sentence(verdict))
	}
	// Output:
	// none-lost      No accepted request is lost
	// none-cut       No response is cut before the deadline
	// clean-refusal  A refusal is clean: no accepted connection is closed or reset without an answer
	// ready-first    Readiness turns before the listener closes
	// ended          The server has ended by the deadline
	// nothing-left   No goroutine and no descriptor is left
}

// Clients for an HTTP server that has HTTP/2 and no upgraded connections, behind a load balancer
// that learns late of the readiness probe.
func ExampleKit() {
	kit := draintest.Kit{
		Clients: append(draintest.Without(draintest.HTTP(), "upgraded"), draintest.HTTP2()),
		Lag:     2 * draintest.DefaultLag,
	}
	for _, client := range kit.Clients {
		fmt.Println(client.Name)
	}
	// Output:
	// new connection
	// keep-alive
	// pipelined
	// slow body
	// slow reader
	// HTTP/2 stream
}

// The clients for a server of lines over TCP.
func ExampleTCP() {
	for _, client := range draintest.TCP() {
		fmt.Println(client.Name)
	}
	// Output:
	// lines
	// new connection
}
