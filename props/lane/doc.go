// Package lane builds the properties into a program of its own and runs it: as
// they are, or with a planted bug (package mutant). A bug may hang or crash the
// program that runs it, so it must not be ours.
package lane
