// Package auto makes mechanical mutants: small changes of Go sources that nobody has
// selected. A bug in testdata/mutants was written by somebody who knew the checks, and was
// kept because a check killed it; the share of such bugs that is killed says nothing about
// the next bug. Here every place that an operator can change is a site, and Pick draws
// sites uniformly, so that the share of killed picks estimates the share of all sites.
//
// A site is a place in a file and one operator. An operator that can change a place in
// several ways, such as a constant to n+1 and to n-1, has one site there, and Pick draws the
// way too. Changes that do not compile are not mutants: Pick draws again, and counts them.
// Two statements whose exchange changes nothing by a rule, see commute, are no site.
//
//	source, err := auto.Load(root, "./core", "./core/tcp")
//	picks, stillborn, err := source.Pick(60, seed)
//	overlay, err := picks[0].Mutant().Overlay(root, dir)
//
// The operators and their names follow the literature and existing tools where these have
// the same (gremlins, go-mutesting, PIT), and add what concurrent code is made of: a dropped
// unlock, a dropped wake-up, a dropped store, a moved lock. Operators returns the list.
//
// What a score of these mutants cannot show: bugs of several lines, bugs of design, and
// missing code. A mutant may be equivalent, which only a proof can tell; a pick that survives
// is therefore a survivor until a file of testdata/mutants/equivalent says why nobody can
// see it.
package auto
