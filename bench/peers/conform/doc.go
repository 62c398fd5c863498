// Package conform puts executors of others under eventide's conformance kit, each for
// what it promises.
//
// A cell of the matrix is judged only if there is a promise to judge by: a sentence of
// the subject's own documentation, or the one line that anything called Execute is
// taken to say: it returned without an error if and only if the task runs exactly once
// before the end is announced. Everything else is "not offered". What only virtual
// time could tell of a subject that needs the network, or a JVM, is "not judged".
package conform
