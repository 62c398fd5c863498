// Package interleave explores programs on core under schedules that it chooses: the
// interleave lane. It works in a binary that was built with the overlay of package
// rewrite, in which core's synchronisation operations ask package det who goes on;
// in any other it finds none of the planted bugs and says that it has not run.
//
// The programs, their driver and the properties are those of package props: what
// judges the virtual lane judges this one. Event loops sleep on its scripted poller,
// whose calls are scheduling points, and whose faults are steps of the program.
package interleave
