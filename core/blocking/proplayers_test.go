package blocking

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"eventide/core"

	"pgregory.net/rapid"
)

// plain is a connection without a layer below it. Its journal has the calls.
type plain struct {
	net.Conn
	name  string
	calls *[]string
}

func (p *plain) add(call string) error {
	*p.calls = append(*p.calls, p.name+" "+call)
	return nil
}

func (p *plain) Close() error { return p.add("Close") }

// lingering has SO_LINGER.
type lingering struct{ plain }

func (l *lingering) SetLinger(sec int) error { return l.add(fmt.Sprint("SetLinger ", sec)) }

// layer is a connection on top of another one, as TLS is; or one that has a NetConn method and no layer below.
type layer struct {
	lingering
	lower net.Conn
}

func (l *layer) NetConn() net.Conn { return l.lower }

// TestPropLayers: the bottom of a connection is the last one of the chain that NetConn gives. SO_LINGER is turned off
// there, cut closes it and nothing else, and shut closes the connection itself. unreceived asks the bottom (G22).
func TestPropLayers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var calls []string
		var conn net.Conn
		want := []string{"bottom SetLinger -1", "bottom Close", "top Close"}
		layers := rapid.IntRange(0, 3).Draw(t, "layers")
		bottom := lingering{plain{name: "bottom", calls: &calls}}
		switch kind := rapid.SampledFrom([]string{"plain", "lingering", "without a lower one"}).Draw(t, "bottom"); kind {
		case "plain":
			conn, want = &bottom.plain, want[1:]
		case "lingering":
			conn = &bottom
		default:
			conn = &layer{lingering: bottom}
		}
		lowest := conn
		for i := range layers {
			name := "middle"
			if i == layers-1 {
				name = "top"
			}
			conn = &layer{lingering{plain{name: name, calls: &calls}}, conn}
		}
		if layers == 0 {
			want[len(want)-1] = "bottom Close"
		}
		c := newConnection(conn)
		if c.bottom != lowest || c.Conn != conn {
			t.Fatalf("the bottom of %d layers is %v", layers, c.bottom)
		}
		c.noLinger()
		c.cut()
		_ = c.shut()
		if n, known, err := c.unreceived(); n != 0 || known || err != nil {
			t.Fatalf("unreceived of a connection that is not the kernel's: %d, %v, %v", n, known, err)
		}
		if got := strings.Join(calls, ", "); got != strings.Join(want, ", ") {
			t.Fatalf("G22: the calls are %s, want %s", got, strings.Join(want, ", "))
		}
	})
}

// optional is a connection with the optional methods of a connection.
type optional struct {
	net.Conn
	err    error
	panics bool
	ctx    context.Context
}

func (o *optional) do() error {
	if o.panics {
		panic("planted")
	}
	return o.err
}

func (o *optional) CloseWrite() error { return o.do() }
func (o *optional) HandshakeContext(ctx context.Context) error {
	o.ctx = ctx
	return o.do()
}

// TestPropOptionalMethods: a connection without CloseWrite, or whose CloseWrite says that it is unsupported, cannot
// half-close, which is no error. One without HandshakeContext has no handshake. Other errors are returned, and panics as
// errors (G14, G22).
func TestPropOptionalMethods(t *testing.T) {
	planted := errors.New("planted")
	rapid.Check(t, func(t *rapid.T) {
		o := &optional{
			err:    rapid.SampledFrom([]error{nil, planted, errors.ErrUnsupported, fmt.Errorf("tls: %w", errors.ErrUnsupported)}).Draw(t, "err"),
			panics: rapid.IntRange(0, 2).Draw(t, "panics") == 0,
		}
		has := rapid.Bool().Draw(t, "has the methods")
		conn := net.Conn(o)
		if !has {
			conn = &plain{}
		}
		same := func(err error, want error) bool {
			var p *core.PanicError
			if has && o.panics {
				return errors.As(err, &p) && p.Value == "planted" && strings.Contains(string(p.Stack), "(*optional).do")
			}
			return err == want
		}
		wantCan, wantClose, wantShake := has, o.err, o.err
		switch {
		case !has:
			wantClose, wantShake = nil, nil
		case !o.panics && errors.Is(o.err, errors.ErrUnsupported):
			wantCan, wantClose = false, nil
		}
		if can, err := newConnection(conn).halfClose(); can != wantCan || !same(err, wantClose) {
			t.Fatalf("halfClose: %v, %v; want %v, %v", can, err, wantCan, wantClose)
		}
		ctx := context.WithValue(context.Background(), optional{}, 1)
		if err := newConnection(conn).handshake(ctx); !same(err, wantShake) || has && o.ctx != ctx {
			t.Fatalf("handshake: %v, want %v", err, wantShake)
		}
	})
}
