package tcp

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"

	"eventide/core"
)

// Dial connects to addr, "host:port", on the next loop of group, and returns the channel
// once it is active: Handler.Active has been called, and may still be returning. If addr is a
// name with several addresses, Dial tries them in turn. The kernel can connect a socket to
// itself when a local port without a listener is dialled; Dial then returns the error of a
// refused connection.
//
// Dial blocks until the channel is active or ctx ends. If ctx ends first, its cause is in
// the chain of the error, and a connection that is established later is closed. On a
// loop of the group Dial returns core.ErrInEventLoop and has no effect (G18): use DialAsync.
//
// A loop that was shut down refuses the channel: the error matches core.ErrRejected or names
// the shutdown. A loop with a full queue refuses it at once, with core.ErrQueueFull; a
// core.WithRejectedHandler is not called.
//
// Unless ctx has ended, the socket of a failed dial is closed when Dial returns, or the future of
// DialAsync fails. The handler of a failed dial is not called, with one exception: if the connection is
// established just as ctx ends, the handler gets Active, Inactive and Unregistered, though
// Dial returns an error.
func Dial(ctx context.Context, group *core.Group, addr string, handler Handler, opts ...Option) (*Channel, error) {
	return dial(ctx, "Dial", loops{name: "group", group: group}, addr, handler, opts)
}

// DialOn is Dial on the given loop.
func DialOn(ctx context.Context, loop *core.EventLoop, addr string, handler Handler, opts ...Option) (*Channel, error) {
	return dial(ctx, "DialOn", loops{loop: loop}, addr, handler, opts)
}

// DialAsync is Dial without blocking: it may be called on a loop. Listeners of the
// future run on the loop of the channel. The future cannot be cancelled, but ctx can. A
// name is resolved on another goroutine. A shutdown of the loop cancels the look-up, and
// the loop does not terminate before the future is complete (G9).
func DialAsync(ctx context.Context, group *core.Group, addr string, handler Handler, opts ...Option) *core.Future[*Channel] {
	d, err := newDialer(ctx, "DialAsync", loops{name: "group", group: group}, addr, handler, opts)
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
		defer l.end() // after the promise is completed: the loop may terminate then
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

// dialer has the checked arguments of a dial.
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
	if err := from.check(call); err != nil {
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

// tryEach connects to addrs in turn until one succeeds, and blocks meanwhile.
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

// connectAttempt is the handshake of a channel. Loop only.
type connectAttempt struct {
	d       *dialer
	promise *core.Promise[*Channel]
	stop    func() bool // ends the watch of ctx
}

// start begins to connect, and returns the future of the channel.
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
	c.rareState().connect = &connectAttempt{d: d, promise: p}
	accepted := false
	defer func() {
		if !accepted { // also if the spawner calls runtime.Goexit
			_ = sysClose(d.cfg.faults, fd)
		}
	}()
	// Not Execute: a rejected-handler may retry after ctx has ended, and would block a loop
	// that calls DialAsync.
	if err := loop.TryExecute(func() { c.beginConnect(ctx) }); err != nil {
		p.TryFailure(refusedByLoop(d.call, err))
		return p.Future()
	}
	accepted = true
	return p.Future()
}

// beginConnect runs on the loop.
func (c *Channel) beginConnect(ctx context.Context) {
	a, err := c.rare.connect, errPollerEndedCall
	defer func() {
		if err != nil { // also if the poller panics
			_ = sysClose(c.cfg.faults, c.fd)
			a.promise.TryFailure(refusedByLoop(a.d.call, err))
		}
	}()
	if err = c.register(); err != nil {
		return
	}
	c.rare.connect.stop = context.AfterFunc(ctx, func() {
		c.reg.Post(func() {
			if c.state == stateConnecting {
				c.closeNow(context.Cause(ctx), false)
			}
		})
	})
}

// connected handles the first readiness events of a connecting channel: the handshake has
// failed, or has succeeded once r is writable.
func (c *Channel) connected(r core.Readiness) {
	if errno := c.sysSocketError(opConnect); errno != 0 {
		c.closeNow(os.NewSyscallError("connect", errno), false)
		return
	}
	if !r.Writable() {
		return
	}
	a := c.rare.connect
	c.rare = nil
	a.stop()
	c.local = sysLocalAddr(c.fd)
	defer a.promise.TrySuccess(c) // also if Active panics
	c.activate()
}

// fails completes the dial with an error. The socket is closed already.
func (a *connectAttempt) fails(cause error) {
	a.stop()
	a.promise.TryFailure(a.d.wrap(cause))
}
