// Package exits runs generated plans on core/process in virtual time, and compares each report, each
// notification and each probe with what a specification of the package predicts (spec.go). Signals
// come from the program, and a service manager is a record of what it was told: package shadow
// replaces the imports of the few files of core/process that reach the system.
package exits
