package draintest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
)

// goodbye is the line with which a server announces its shutdown on an upgraded connection.
// The client then sends no more lines and ends its side; the server answers the lines that
// it has received.
const goodbye = "bye"

// conversation is an exchange of lines.
type conversation struct {
	c        *Call
	conn     net.Conn
	in       *bufio.Reader
	sent     int
	answered int
	told     bool // the server has said goodbye
}

func (v *conversation) line(n int) string { return fmt.Sprintf("%s-%d", v.c.ID(), n) }

// exchange sends a line and waits for its answer. It returns io.EOF if the server ended the
// connection between two lines.
func (v *conversation) exchange() error {
	v.sent++
	v.c.Unit(v.line(v.sent))
	if _, err := io.WriteString(v.conn, v.line(v.sent)+"\n"); err != nil {
		return err
	}
	for v.answered < v.sent && !v.told {
		if err := v.hear(); err != nil {
			return err
		}
	}
	return nil
}

// hear reads one line.
func (v *conversation) hear() error {
	text, err := v.in.ReadString('\n')
	switch {
	case err != nil && text != "":
		v.c.Begun("part of a line")
		return fmt.Errorf("line %d is cut: %w", v.answered+1, err)
	case err != nil:
		return err
	case strings.TrimSuffix(text, "\n") == goodbye:
		v.c.Logf("the server says goodbye behind answer %d", v.answered)
		v.told = true
		return nil
	}
	v.answered++
	if want := v.line(v.answered); strings.TrimSuffix(text, "\n") != want {
		v.c.Begun("another line")
		return fmt.Errorf("answer %d is %q, want %q", v.answered, text, want)
	}
	return nil
}

// rest reads to the end of the connection.
func (v *conversation) rest() error {
	for {
		if err := v.hear(); err != nil {
			return err
		}
	}
}

// goOn exchanges lines until the server says goodbye, the server ends, or the connection
// ends. Then it reads to the end of the connection.
func (v *conversation) goOn() error {
	for !v.told {
		select {
		case <-v.c.Ended():
			return v.rest()
		default:
		}
		if err := v.exchange(); err != nil {
			return err
		}
		v.c.Pause()
	}
	if half, ok := v.conn.(*conn).Conn.(*net.TCPConn); ok {
		if err := half.CloseWrite(); err != nil {
			return err
		}
	}
	return v.rest()
}

func talkUpgraded(c *Call) error {
	var l link
	if err := l.open(c); err != nil {
		return err
	}
	defer l.close()
	if err := l.send(c, head(c, http.MethodGet, "upgrade", "Connection: Upgrade", "Upgrade: draintest")); err != nil {
		return err
	}
	a, err := l.answer(c)
	if err != nil {
		return err
	}
	if a.StatusCode != http.StatusSwitchingProtocols {
		return &RefusedError{a.Status}
	}
	v := &conversation{c: c, conn: l.conn, in: l.in}
	err = v.goOn()
	if errors.Is(err, io.EOF) && v.answered == v.sent && v.told {
		c.Logf("all %d lines answered", v.sent)
		return nil
	}
	farewell := "no goodbye"
	if v.told {
		farewell = "then goodbye"
	}
	return fmt.Errorf("%d of %d lines answered, %s: %w", v.answered, v.sent, farewell, err)
}

func talkLines(c *Call) error {
	v, err := openLines(c)
	if err != nil {
		return err
	}
	defer func() { _ = v.conn.Close() }()
	if err := v.exchange(); err != nil {
		return err
	}
	c.Live("line 1 is answered")
	return v.ended(v.goOn())
}

func openLines(c *Call) (*conversation, error) {
	raw, err := c.Dial(context.Background())
	if err != nil {
		return nil, err
	}
	return &conversation{c: c, conn: raw, in: bufio.NewReader(raw)}, nil
}

// ended returns nil if the connection ended after the answer to every line.
func (v *conversation) ended(err error) error {
	switch {
	case errors.Is(err, io.EOF) && v.answered == v.sent:
		v.c.Logf("all %d lines answered", v.sent)
		return nil
	case errors.Is(err, net.ErrClosed):
		v.c.Begun("the connection was open until the kit closed it")
	}
	return fmt.Errorf("line %d is not answered: %w", v.answered+1, err)
}

func talkFreshLine(c *Call) error {
	v, err := openLines(c)
	if err != nil {
		return err
	}
	defer func() { _ = v.conn.Close() }()
	if err := v.exchange(); err != nil {
		return err
	}
	c.Live("line 1 is answered")
	return nil
}
