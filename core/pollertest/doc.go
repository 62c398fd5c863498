// Package pollertest is for tests of pollers, and of executors with pollers.
//
// [Model] is a core.IOPoller without an operating system: a test makes its descriptors
// ready and its calls fail. With a virtual clock, or in a testing/synctest bubble, it is
// deterministic.
//
//	m := pollertest.NewModel(nil)
//	loop, err := core.NewEventLoop(core.WithPoller(m))
//	...
//	d := m.Open()
//	loop.Register(d.FD(), core.Readable, handle)
//	d.Input() // handle is called on the loop
//
// [Cases] checks what a poller must do, by scripts that do not depend on how it does it.
// They are the same for the pollers of package core, for Model, and for yours.
//
// In package core only tests import this package.
package pollertest
