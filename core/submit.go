package core

import (
	"context"
	"errors"
)

// Submit runs f on ex and returns its future, never nil. If ex refuses f, the future fails
// with that error, and its listeners run on the goroutine that adds them. Submit may be
// called from any goroutine, and in a body of ex.
func Submit[T any](ex EventExecutor, f func() (T, error)) *Future[T] {
	if err := checkSubmit("Submit", ex, f == nil); err != nil {
		return &Future[T]{state: futureDone, err: err}
	}
	if g, ok := ex.(*Group); ok {
		ex = g.Next() // the child that runs the body also runs the listeners
	}
	fut := newFuture[T](ex)
	fut.body, fut.task = f, fut.run
	if err := ex.Execute(fut.task); err != nil {
		// Listeners run on the goroutine that adds them; home reports their panics.
		return &Future[T]{home: fut.home, state: futureDone, err: err, refused: true}
	}
	return fut
}

func checkSubmit(call string, ex EventExecutor, nilBody bool) error {
	switch {
	case isNil(ex):
		return argumentError(call, "ex is nil, want an executor")
	case nilBody:
		return nilFunc(call, "f")
	}
	return nil
}

func isNil(ex EventExecutor) bool {
	switch ex := ex.(type) {
	case nil:
		return true
	case *Executor:
		return ex == nil
	case *EventLoop:
		return ex == nil
	case *Group:
		return ex == nil
	case *Pool:
		return ex == nil
	}
	return false
}

// InvokeAll submits every function and blocks until all have completed. The errors of the
// functions are in their futures. The returned error is that of a bad argument (nothing was
// submitted), the first refusal, or the cause of ctx; in the latter two cases the
// functions that have not begun are cancelled. In a body of ex it returns ErrInEventLoop at
// once, in the spawner ErrStarting, and submits nothing (R36; G18).
func InvokeAll[T any](ctx context.Context, ex EventExecutor, fs ...func() (T, error)) ([]*Future[T], error) {
	if err := checkInvoke("InvokeAll", ctx, ex, fs); err != nil {
		return nil, err
	}
	futures := make([]*Future[T], len(fs))
	for i, f := range fs {
		futures[i] = Submit(ex, f)
		if err := refusal(futures[i]); err != nil {
			submitted := futures[:i+1]
			cancelAll(submitted)
			return submitted, err
		}
	}
	for _, f := range futures {
		select {
		case <-f.Done():
		case <-ctx.Done():
			cancelAll(futures)
			return futures, context.Cause(ctx)
		}
	}
	return futures, nil
}

// InvokeAny submits every function, returns the first success, and cancels the functions
// that have not begun. If none succeeds it returns their joined errors; if ctx ends
// first, its cause. Without functions it returns an error. In a body of ex it returns
// ErrInEventLoop at once, in the spawner ErrStarting, and submits nothing (R36; G18).
func InvokeAny[T any](ctx context.Context, ex EventExecutor, fs ...func() (T, error)) (T, error) {
	var none T
	if err := checkInvoke("InvokeAny", ctx, ex, fs); err != nil {
		return none, err
	}
	if len(fs) == 0 {
		return none, argumentError("InvokeAny", "got 0 functions, want at least 1")
	}
	// Do not wait by OnDone: if the caller is a listener that runs off the loop, the listener
	// of a refused future would run only after the caller has returned, and the caller would
	// wait for ever.
	ended := make(chan int, len(fs)) // room for all: a send never blocks
	futures := make([]*Future[T], len(fs))
	for i, f := range fs {
		futures[i] = Submit(ex, func() (T, error) {
			defer func() { ended <- i }()
			return f()
		})
		if refusal(futures[i]) != nil {
			ended <- i
		}
	}
	defer cancelAll(futures)
	var errs []error
	for range fs {
		select {
		case i := <-ended:
			<-futures[i].Done() // its body has sent i, and the future completes next
			v, err, _ := futures[i].result()
			if err == nil {
				return v, nil
			}
			errs = append(errs, err)
		case <-ctx.Done():
			return none, context.Cause(ctx)
		}
	}
	return none, errors.Join(errs...)
}

func checkInvoke[T any](call string, ctx context.Context, ex EventExecutor, fs []func() (T, error)) error {
	if ctx == nil {
		return argumentError(call, "ctx is nil, want a context")
	}
	if err := checkSubmit(call, ex, false); err != nil {
		return err
	}
	for i, f := range fs {
		if f == nil {
			return argumentError(call, "function %d of %d is nil, want a function", i, len(fs))
		}
	}
	return waitError(ex)
}

// refusal returns the error of a future whose body was not accepted.
func refusal[T any](f *Future[T]) error {
	if f.refused {
		return f.err
	}
	return nil
}

func cancelAll[T any](futures []*Future[T]) {
	for _, f := range futures {
		f.Cancel()
	}
}
