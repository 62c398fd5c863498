package draintest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
)

// RequestHeader is the header in which a client of the kit names its request.
const RequestHeader = "Draintest-Request"

// link is a connection of HTTP/1.1.
type link struct {
	conn net.Conn // nil: none
	in   *bufio.Reader
}

func (l *link) open(c *Call) error {
	conn, err := c.Dial(context.Background())
	if err == nil {
		l.conn, l.in = conn, bufio.NewReader(conn)
	}
	return err
}

func (l *link) close() {
	if l.conn != nil {
		_ = l.conn.Close()
		l.conn = nil
	}
}

// head returns the request line and the headers of a request; more has additional
// headers.
func head(c *Call, method, path string, more ...string) string {
	return fmt.Sprintf("%s /draintest/%s HTTP/1.1\r\nHost: %s\r\n%s: %s\r\n%s\r\n",
		method, path, c.Addr(), RequestHeader, c.ID(), strings.Join(append(more, ""), "\r\n"))
}

// post returns a request whose answer repeats its body.
func post(c *Call, body string, more ...string) string {
	return head(c, http.MethodPost, "echo", append(more, fmt.Sprintf("Content-Length: %d", len(body)))...) + body
}

// answer reads the headers of the final answer and skips interim answers. For a status
// other than success it returns a *RefusedError.
func (l *link) answer(c *Call) (*http.Response, error) {
	for {
		if _, err := l.in.Peek(1); err != nil {
			return nil, err
		}
		a, err := http.ReadResponse(l.in, nil)
		switch {
		case err != nil:
			c.Begun("part of the headers")
			return nil, err
		case a.StatusCode == http.StatusContinue:
			c.Accepted(a.Status)
		case a.StatusCode/100 == 2 || a.StatusCode == http.StatusSwitchingProtocols:
			c.Begun(a.Status)
			return a, nil
		default:
			_, err := io.Copy(io.Discard, a.Body)
			if err != nil {
				c.Begun(a.Status)
				return nil, err
			}
			return nil, &RefusedError{a.Status}
		}
	}
}

// echo reads an answer that must repeat the body of the request. closes reports that the
// server closes the connection after the answer.
func (l *link) echo(c *Call, body []byte) (closes bool, err error) {
	a, err := l.answer(c)
	if err != nil {
		return true, err
	}
	got, err := io.ReadAll(a.Body)
	if err != nil {
		return true, fmt.Errorf("%d of %d bytes of the answer: %w", len(got), len(body), err)
	}
	if !bytes.Equal(got, body) {
		return true, fmt.Errorf("the answer is %.40q, want %.40q", got, body)
	}
	c.Logf("answered")
	return a.Close, nil
}

func talkFresh(c *Call) error {
	var l link
	if err := l.open(c); err != nil {
		return err
	}
	defer l.close()
	if err := l.send(c, post(c, c.ID(), "Connection: close")); err != nil {
		return err
	}
	_, err := l.echo(c, []byte(c.ID()))
	return err
}

func (l *link) send(c *Call, text string) error {
	_, err := io.WriteString(l.conn, text)
	if err == nil {
		c.Logf("request sent")
	}
	return err
}

func (l *link) talkKeepAlive(c *Call) error {
	if l.conn == nil {
		if err := l.open(c); err != nil {
			return err
		}
	}
	closes := true
	err := l.send(c, post(c, c.ID()))
	if err == nil {
		closes, err = l.echo(c, []byte(c.ID()))
	}
	if closes {
		l.close()
	}
	return err
}

// errBehindLast is the error of a pipelined request that follows the request with whose
// answer the server closed the connection.
var errBehindLast = errors.New("the answer to an earlier request closed the connection")

func (l *link) talkPipelined(c *Call) error {
	const requests = 4
	all := []*Call{c}
	for len(all) < requests {
		all = append(all, c.r.newCall(c.client))
	}
	var text strings.Builder
	for _, one := range all {
		text.WriteString(post(one, one.ID()))
	}
	err := error(nil)
	if l.conn == nil {
		err = l.open(c)
	}
	if err == nil {
		err = l.send(c, text.String())
	}
	errs := make([]error, requests)
	for i, one := range all {
		if err == nil {
			var closes bool
			closes, errs[i] = l.echo(one, []byte(one.ID()))
			if err = errs[i]; closes && err == nil {
				err = errBehindLast
			}
		} else {
			errs[i] = err
		}
		if i > 0 {
			one.finish(errs[i])
		}
	}
	if err != nil {
		l.close()
	}
	return errs[0]
}

func talkSlowBody(c *Call) error {
	var l link
	if err := l.open(c); err != nil {
		return err
	}
	defer l.close()
	if err := l.send(c, head(c, http.MethodPost, "echo", "Transfer-Encoding: chunked", "Expect: 100-continue", "Connection: close")); err != nil {
		return err
	}
	if err := l.untilContinue(c); err != nil {
		return err
	}
	var body []byte
	for held := true; held; {
		select {
		case <-c.Ended():
			return errEnded
		default:
		}
		select {
		case <-c.Held():
			held = false
		default:
			if _, err := io.WriteString(l.conn, "1\r\nx\r\n"); err != nil {
				return l.afterWrite(c, err)
			}
			body = append(body, 'x')
			c.Pause()
		}
	}
	if _, err := io.WriteString(l.conn, "0\r\n\r\n"); err != nil {
		return l.afterWrite(c, err)
	}
	c.Logf("the last of %d bytes sent", len(body))
	_, err := l.echo(c, body)
	return err
}

// untilContinue reads the interim answer 100 Continue, which shows that the server reads
// the body.
func (l *link) untilContinue(c *Call) error {
	if _, err := l.in.Peek(1); err != nil {
		return err
	}
	a, err := http.ReadResponse(l.in, nil)
	switch {
	case err != nil:
		c.Begun("part of the headers")
		return err
	case a.StatusCode != http.StatusContinue:
		return &RefusedError{a.Status}
	}
	c.Accepted(a.Status)
	return nil
}

// afterWrite returns the reason for a failed write of a request: the server's answer if it
// refused the request before it closed the connection, or else the error of the write.
func (l *link) afterWrite(c *Call, failed error) error {
	if _, err := l.answer(c); err != nil {
		var turned *RefusedError
		if errors.As(err, &turned) {
			return err
		}
	}
	return failed
}

// longAnswer is the size of an answer that is read slowly. It is more than the buffers of
// a connection hold if the reader's buffer has slowWindow bytes.
const (
	longAnswer = 32 << 20
	slowWindow = 64 << 10
)

func talkSlowReader(c *Call) error {
	var l link
	if err := l.open(c); err != nil {
		return err
	}
	defer l.close()
	if tcp, ok := l.conn.(*conn).Conn.(*net.TCPConn); ok {
		if err := tcp.SetReadBuffer(slowWindow); err != nil {
			return err
		}
	}
	if err := l.send(c, head(c, http.MethodGet, fmt.Sprintf("bytes?n=%d", longAnswer), "Connection: close")); err != nil {
		return err
	}
	a, err := l.answer(c)
	if err != nil {
		return err
	}
	got, piece := 0, make([]byte, 4096)
	for {
		n, err := a.Body.Read(piece)
		got += n
		switch {
		case errors.Is(err, io.EOF) && got == longAnswer:
			c.Logf("answered")
			return nil
		case err != nil:
			return fmt.Errorf("%d of %d bytes of the answer: %w", got, longAnswer, err)
		}
		select {
		case <-c.Held():
		case <-c.Ended():
		default:
			if got < longAnswer/2 {
				c.Pause()
			} else {
				waitFor(c) // the second half is read only when the shutdown is in progress
			}
		}
	}
}

// waitFor waits until held requests must be completed, or the server has ended.
func waitFor(c *Call) {
	select {
	case <-c.Held():
	case <-c.Ended():
	}
}
