// Package pollertest is for those who test pollers, and executors on pollers.
//
// [Model] is a core.IOPoller without an operating system: its descriptors become
// ready, and its calls fail, when a test says so. With a virtual clock, or in a
// testing/synctest bubble, it is deterministic.
//
//	m := pollertest.NewModel(nil)
//	loop, err := core.NewEventLoop(core.WithPoller(m))
//	...
//	d := m.Open()
//	loop.Register(d.FD(), core.Readable, handle)
//	d.Input() // handle is called on the loop
//
// [Cases] is what a poller has to do, as scripts that know nothing of how it does
// it: the same for the pollers of package core, for Model, and for yours.
//
// Nothing in package core but its tests imports this package.
package pollertest
