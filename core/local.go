package core

// Local is a variable with one value per executor, like a thread-local; in a Pool, with one
// value per worker. The value belongs to the executor or worker, not to the goroutine, and so
// survives a body that calls runtime.Goexit. Values are dropped when the executor terminates or
// the worker ends (netty's FastThreadLocal.removeAll, #6596; G15).
//
// Only bodies may call the methods; any other caller gets ErrNotInEventLoop.
type Local[T any] struct {
	init func() T
}

// NewLocal returns a Local. Its initial value is init() in each executor, or the zero value
// if init is nil.
func NewLocal[T any](init func() T) *Local[T] { return &Local[T]{init: init} }

// Get returns the calling executor's value. If there is none, it sets the value to init().
func (l *Local[T]) Get() (T, error) {
	var v T
	r := currentRunner()
	if r == nil {
		return v, ErrNotInEventLoop
	}
	if stored, ok := (*r.localValues())[l]; ok {
		v, _ = stored.(T) // false only for a nil of an interface type
		return v, nil
	}
	if l.init != nil {
		v = l.init()
	}
	return v, l.Set(v)
}

// Set replaces the calling executor's value.
func (l *Local[T]) Set(v T) error {
	r := currentRunner()
	if r == nil {
		return ErrNotInEventLoop
	}
	values := r.localValues()
	if *values == nil {
		*values = make(map[any]any)
	}
	(*values)[l] = v
	return nil
}

// Remove drops the calling executor's value; the next Get calls init again.
func (l *Local[T]) Remove() error {
	r := currentRunner()
	if r == nil {
		return ErrNotInEventLoop
	}
	delete(*r.localValues(), l)
	return nil
}
