package tracked_test

import (
	"context"
	"fmt"

	"eventide/core/tracked"
)

// A consumer takes no more messages once the shutdown begins, and ends the one in hand.
func ExampleNewGroup() {
	g := tracked.NewGroup(tracked.WithName("consumers"))
	messages := make(chan string)
	err := g.Go("orders", func(ctx context.Context) error {
		for {
			select {
			case m := <-messages:
				fmt.Println("handled", m)
			case <-g.ShutdownContext().Done():
				return nil
			}
		}
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	messages <- "an order"
	fmt.Println(g.Close())
	// Output:
	// handled an order
	// <nil>
}
