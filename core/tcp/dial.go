package tcp

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"

	"eventide/core"
)

// Dial connects to addr, "host:port", and returns the channel, on the next loop of
// group, once it is active: Handler.Active has run, or is about to end. If addr is a
// name with several addresses they are tried in turn. A connection is never one of a
// socket with itself, which the kernel can make of a dial of a dead local port: the
// error is that of a refused connection.
//
// It waits until then, or until ctx ends: then its cause is in the chain of the
// error, and a connection that comes about all the same is closed. From inside a
// loop of the group it returns core.ErrInEventLoop and does nothing (G18): see
// DialAsync. A loop that is shut down refuses: the error is core.ErrRejected, or
// names the shutdown. So does one whose queue is full, at once: the error is
// core.ErrQueueFull, and its core.WithRejectedHandler is not asked. A handler whose connection has failed hears nothing; one whose
// connection comes about at the very moment at which ctx ends hears Active, Inactive
// and Unregistered, though the dial returns an error.
func Dial(ctx context.Context, group *core.Group, addr string, handler Handler, opts ...Option) (*Channel, error) {
	return dial(ctx, "Dial", loops{group: group}, addr, handler, opts)
}

// DialOn is Dial with a loop instead of a group.
func DialOn(ctx context.Context, loop *core.EventLoop, addr string, handler Handler, opts ...Option) (*Channel, error) {
	return dial(ctx, "DialOn", loops{loop: loop}, addr, handler, opts)
}

// DialAsync is Dial without the wait: it may be called from a loop. Listeners of the
// future run on the loop of the channel. The future cannot be cancelled; ctx can. A
// name is looked up on another goroutine, which the loop does not end without: a
// shutdown ends the look-up, and the future is complete when Done is (G9).
func DialAsync(ctx context.Context, group *core.Group, addr string, handler Handler, opts ...Option) *core.Future[*Channel] {
	d, err := newDialer(ctx, "DialAsync", loops{group: group}, addr, handler, opts)
	if err != nil {
		p := core.NewPromise[*Channel](nil)
		p.TryFailure(err)
		return p.Future()
	}
	loop := d.loops.next()
	if a, ok := literal(addr); ok {
		return d.start(ctx, loop, a)
	}
	p := core.NewPromise[*Channel](loop)
	p.SetUncancellable()
	l, ctx, err := d.newLookup(ctx, loop)
	if err != nil {
		p.TryFailure(err)
		return p.Future()
	}
	go func() {
		defer l.end() // after the promise
		c, err := d.dialName(ctx, loop)
		if err != nil {
			p.TryFailure(err)
			return
		}
		p.TrySuccess(c)
	}()
	return p.Future()
}

func dial(ctx context.Context, call string, from loops, addr string, handler Handler, opts []Option) (*Channel, error) {
	d, err := newDialer(ctx, call, from, addr, handler, opts)
	if err != nil {
		return nil, err
	}
	if from.inEventLoop() {
		return nil, core.ErrInEventLoop
	}
	loop := from.next()
	if a, ok := literal(addr); ok {
		return d.tryEach(ctx, loop, a)
	}
	l, ctx, err := d.newLookup(ctx, loop)
	if err != nil {
		return nil, err
	}
	defer l.end()
	return d.dialName(ctx, loop)
}

// dialer is the arguments of a dial, checked.
type dialer struct {
	call    string
	loops   loops
	addr    string
	handler Handler
	cfg     *config
}

func newDialer(ctx context.Context, call string, from loops, addr string, handler Handler, opts []Option) (*dialer, error) {
	if !supported {
		return nil, fmt.Errorf("tcp: %s: %w", call, errors.ErrUnsupported)
	}
	if ctx == nil {
		return nil, argumentError(call, "ctx is nil, want a context")
	}
	if err := from.check(call, "group"); err != nil {
		return nil, err
	}
	if handler == nil {
		return nil, argumentError(call, "handler is nil, want a Handler")
	}
	cfg, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	return &dialer{call, from, addr, handler, cfg}, nil
}

func (d *dialer) wrap(err error) error { return fmt.Errorf("tcp: %s %s: %w", d.call, d.addr, err) }

// tryEach tries each address, and waits.
func (d *dialer) tryEach(ctx context.Context, loop *core.EventLoop, addrs ...netip.AddrPort) (*Channel, error) {
	var errs []error
	for _, a := range addrs {
		f := d.start(ctx, loop, a)
		c, err := f.Wait(ctx)
		if err == nil {
			return c, nil
		}
		if ctx.Err() != nil {
			f.OnDone(func(late *Channel, _ error) {
				if late != nil {
					late.Close()
				}
			})
			return nil, errors.Join(append(errs, d.wrap(context.Cause(ctx)))...)
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// connectAttempt is a channel's handshake. Loop only.
type connectAttempt struct {
	d       *dialer
	promise *core.Promise[*Channel]
	stop    func() bool // of the watch on ctx
}

// start begins to connect, and returns the future channel.
func (d *dialer) start(ctx context.Context, loop *core.EventLoop, addr netip.AddrPort) *core.Future[*Channel] {
	p := core.NewPromise[*Channel](loop)
	p.SetUncancellable()
	if err := context.Cause(ctx); err != nil {
		p.TryFailure(d.wrap(err))
		return p.Future()
	}
	if !addr.Addr().IsValid() {
		addr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), addr.Port())
	}
	fd, err := sysConnect(d.cfg, addr)
	if err != nil {
		p.TryFailure(d.wrap(err))
		return p.Future()
	}
	sysTune(d.cfg, fd)
	c := &Channel{loop: loop, handler: d.handler, cfg: d.cfg, fd: fd, remote: addr}
	c.atEdge().connect = &connectAttempt{d: d, promise: p}
	// Not Execute: a rejected-handler may retry beyond ctx, and would hold up the loop
	// that has called DialAsync.
	if err := loop.TryExecute(func() { c.beginConnect(ctx) }); err != nil {
		_ = sysClose(nil, fd)
		p.TryFailure(refusedByLoop(d.call, err))
	}
	return p.Future()
}

// beginConnect runs on the loop.
func (c *Channel) beginConnect(ctx context.Context) {
	if err := c.register(); err != nil {
		_ = sysClose(nil, c.fd)
		c.edge.connect.promise.TryFailure(refusedByLoop(c.edge.connect.d.call, err))
		return
	}
	c.edge.connect.stop = context.AfterFunc(ctx, func() {
		c.reg.Post(func() {
			if c.state == stateConnecting {
				c.closeNow(context.Cause(ctx), false)
			}
		})
	})
}

// connected is called with what the descriptor became ready for.
func (c *Channel) connected(r core.Readiness) {
	if errno := c.sysSocketError(opConnect); errno != 0 {
		c.closeNow(os.NewSyscallError("connect", errno), false)
		return
	}
	if !r.Writable() {
		return
	}
	a := c.edge.connect
	c.edge = nil
	a.stop()
	c.local = sysLocalAddr(c.fd)
	defer a.promise.TrySuccess(c) // Active may panic
	c.activate()
}

// fails completes the dial, after the socket was closed.
func (a *connectAttempt) fails(cause error) {
	a.stop()
	a.promise.TryFailure(a.d.wrap(cause))
}
