package draintest

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
)

// errAnother is the error of a complete but wrong answer.
var errAnother = errors.New("another answer")

type callKey struct{}

// openHTTP2 is the Open of a client with one connection on which both sides speak HTTP/2
// without TLS from the first byte.
func openHTTP2() (talk func(*Call) error, end func()) {
	var only http.Protocols
	only.SetUnencryptedHTTP2(true)
	t := &http.Transport{
		Protocols: &only,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return ctx.Value(callKey{}).(*Call).Dial(ctx)
		},
	}
	return func(c *Call) error { return talkHTTP2(t, c) }, t.CloseIdleConnections
}

// talkHTTP2 opens a stream, exchanges lines until held requests must be completed, and
// ends its side.
func talkHTTP2(t *http.Transport, c *Call) error {
	ctx, cancel := context.WithCancel(context.WithValue(c.r.ctx, callKey{}, c))
	defer cancel()
	from, to := io.Pipe()
	defer func() { _ = to.Close() }()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+c.Addr()+"/draintest/stream", from)
	if err != nil {
		return err
	}
	request.Header.Set(RequestHeader, c.ID())
	c.Logf("request sent")
	answer, err := t.RoundTrip(request)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return &RefusedError{answer.Status}
	}
	c.Begun(answer.Status)
	in := bufio.NewReader(answer.Body)
	lines := 0
	for held := true; held; lines++ {
		select {
		case <-c.Ended():
			return errEnded
		case <-c.Held():
			held = false
			continue
		default:
		}
		line := fmt.Sprintf("%s-%d\n", c.ID(), lines)
		if _, err := io.WriteString(to, line); err != nil {
			return err
		}
		if got, err := in.ReadString('\n'); err != nil || got != line {
			return fmt.Errorf("answer %d is %q, want %q: %w", lines, got, line, cmp.Or(err, errAnother))
		}
		c.Pause()
	}
	_ = to.Close()
	if rest, err := in.ReadString('\n'); !errors.Is(err, io.EOF) || rest != "" {
		return fmt.Errorf("the end of the stream is %q: %w", rest, cmp.Or(err, errAnother))
	}
	c.Logf("answered")
	return nil
}
