package core_test

import (
	"fmt"
	"os"
	"syscall"

	"eventide/core"
)

// A pipe is read on an event loop.
func ExampleNewEventLoop() {
	loop, err := core.NewEventLoop(core.WithName("pipes"))
	if err != nil {
		fmt.Println(err)
		return
	}
	var ends [2]int
	if err := syscall.Pipe2(ends[:], syscall.O_NONBLOCK|syscall.O_CLOEXEC); err != nil {
		fmt.Println(err)
		return
	}
	read, write := ends[0], os.NewFile(uintptr(ends[1]), "write")

	_, err = loop.Register(read, core.Readable, func(r core.Readiness) {
		buffer := make([]byte, 100)
		n, err := syscall.Read(read, buffer)
		fmt.Printf("readable %v: %q, %v\n", r.Readable(), buffer[:n], err)
		loop.Shutdown()
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Fprint(write, "hello")
	<-loop.Termination().Done() // the registration is closed, and read is the caller's again
	fmt.Println(syscall.Close(read), write.Close())
	// Output:
	// readable true: "hello", <nil>
	// <nil> <nil>
}

// A group of event loops: Next is fair, and the group ends after its last loop.
func ExampleNewGroup() {
	loops, err := core.NewGroup(2, core.WithName("io"))
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 3 {
		fmt.Println(loops.Next())
	}
	fmt.Println(loops.Close())
	// Output:
	// io-0 (NotStarted)
	// io-1 (NotStarted)
	// io-0 (NotStarted)
	// <nil>
}
