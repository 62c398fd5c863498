package process

import "context"

// Exiting returns a context that ends when the exit begins, with the reason for the exit as
// its cause: before NotReady is called and before PreDrain. Plan.Start calls it with its
// own context, which ends only when PreDrain has passed. So a part of the program that takes
// work from elsewhere, such as a queue, can stop at the begin of the exit, while servers
// go on until their context ends. The context has the values of ctx. It is an error if ctx
// is not the context of Start, or derived from it.
func Exiting(ctx context.Context) (context.Context, error) {
	start, err := startOf(ctx, "Exiting")
	if err != nil {
		return nil, err
	}
	begun := start.x.begun
	exiting, end := context.WithCancelCause(ctx)
	context.AfterFunc(begun, func() { end(context.Cause(begun)) })
	return exiting, nil
}
