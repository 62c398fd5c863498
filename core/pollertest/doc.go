// Package pollertest has a poller for tests, and a conformance suite for pollers.
//
// [Model] is a core.IOPoller without an operating system. A test controls which of its
// descriptors are ready and which of its calls fail. With a virtual clock, or in a
// testing/synctest bubble, it is deterministic.
//
//	m := pollertest.NewModel(nil)
//	loop, err := core.NewEventLoop(core.WithPoller(m))
//	...
//	d := m.Open()
//	loop.Register(d.FD(), core.Readable, handle)
//	d.Input() // handle is called on the loop
//
// [Cases] checks the contract of core.IOPoller by scripts that do not depend on the
// implementation. The same cases check the pollers of package core, Model, and yours.
//
// Of the files of package core, only tests import this package.
package pollertest
