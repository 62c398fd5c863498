// Package vocabulary is the vocabulary of Eventide: the states of an executor, the
// calls on it, the bodies that it runs, the outcomes of calls and bodies, and the
// policies of a shutdown.
//
// The packages core, model, props/history and the verification lanes share these
// types, so that a value means the same in all of them and needs no conversion.
// Package core exports the types that its users need, under its own names.
//
// A value of each type is one word in files: the type implements encoding.TextMarshaler and
// encoding.TextUnmarshaler, and String returns the same word.
package vocabulary
