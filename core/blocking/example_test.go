package blocking_test

import (
	"fmt"
	"io"
	"net"
	"time"

	"eventide/core/blocking"
)

// shouter answers in its own way.
type shouter struct{ blocking.HandlerBase }

func (shouter) Read(ch *blocking.Channel, p []byte) {
	ch.WriteAndFlush(append(p, '!'))
}

// A server that drains its connections before it ends.
func Example() {
	g, err := blocking.NewGroup(100)
	if err != nil {
		panic(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	served := make(chan error, 1)
	go func() { served <- g.Serve(ln, func() blocking.Handler { return shouter{} }) }()

	conn, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		panic(err)
	}
	answer := make([]byte, 6)
	_, _ = conn.Write([]byte("hello"))
	_, _ = io.ReadFull(conn, answer)
	fmt.Printf("%s\n", answer)

	term, _ := g.ShutdownGracefully(0, 10*time.Second)
	_, err = conn.Read(answer) // the server has nothing more to say
	fmt.Println(err)
	_ = conn.Close()

	<-term.Done()
	fmt.Println(<-served, term.Report().ChannelsDrained, term.Report().BytesDiscarded)
	// Output:
	// hello!
	// EOF
	// <nil> 1 0
}

// An executor of its own for one end of a pipe.
func ExampleGroup_Register() {
	g, err := blocking.NewGroup(0)
	if err != nil {
		panic(err)
	}
	ours, theirs := net.Pipe()
	ch, err := g.Register(ours, shouter{})
	if err != nil {
		panic(err)
	}
	ch.WriteAndFlush([]byte("bye")) // does not wait; the executor does
	ch.CloseGracefully(time.Now().Add(time.Second))
	all, _ := io.ReadAll(theirs)
	fmt.Printf("%s\n", all)
	_ = g.Close()
	// Output:
	// bye
}
