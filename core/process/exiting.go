package process

import "context"

// Exiting returns a context that ends when the exit begins, before NotReady is called. Its
// cause is the reason for the exit. Plan.Start calls Exiting with its own context, which
// ends only when PreDrain has passed. So a consumer of a queue can stop at the begin of the
// exit, while servers continue until the context of Start ends. The returned context has the
// values of ctx, and ends with it. Exiting returns an error if ctx is neither the context of
// Start nor derived from it. Until the returned context ends, the process keeps ctx: call
// Exiting once, or with a context that ends, such as that of a request.
func Exiting(ctx context.Context) (context.Context, error) {
	start, err := startOf(ctx, "Exiting")
	if err != nil {
		return nil, err
	}
	begun := start.x.begun
	exiting, end := context.WithCancelCause(ctx)
	forget := context.AfterFunc(begun, func() { end(context.Cause(begun)) })
	context.AfterFunc(exiting, func() { forget() }) // or begun would hold ctx until the exit
	return exiting, nil
}
