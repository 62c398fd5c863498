package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// cutRequest is a request of TestPropHTTPCut.
type cutRequest struct {
	after, takes time.Duration // of its begin, and of its handler
	hijacks      bool
}

// uncomparableConn is a connection that cannot be the key of a map.
type uncomparableConn struct {
	net.Conn
	_ []byte
}

// uncomparableConns is a listener of such connections.
type uncomparableConns struct{ *pipes }

func (l uncomparableConns) Accept() (net.Conn, error) {
	c, err := l.pipes.Accept()
	if err != nil {
		return nil, err
	}
	return uncomparableConn{Conn: c}, nil
}

// An exit cuts the requests whose handlers are still running at the deadline of the step, and
// no others. It names them in the order in which they began, then by kind and name. A connection
// that cannot be compared is no exception, but a hijack of it is not seen.
func TestPropHTTPCut(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		comparable := rapid.Bool().Draw(rt, "connections that can be compared")
		requests := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) cutRequest {
			return cutRequest{
				time.Duration(rapid.IntRange(0, 3).Draw(t, "begin")) * time.Second,
				time.Duration(rapid.IntRange(4, 20).Draw(t, "takes")) * time.Second,
				comparable && rapid.Bool().Draw(t, "hijacks"),
			}
		}), 0, 12).Draw(rt, "requests")
		slices.SortStableFunc(requests, func(a, b cutRequest) int { return cmp.Compare(a.after, b.after) })
		deadline := time.Duration(rapid.IntRange(1, 9).Draw(rt, "deadline")) * time.Second
		want := []string{}
		for i, r := range requests {
			if r.after+r.takes > cutSignal+deadline {
				kind := "HTTP/1.1"
				if r.hijacks {
					kind = "hijacked"
				}
				want = append(want, fmt.Sprintf("%v %s GET /%02d -1 -1", r.after, kind, i))
			}
		}
		slices.Sort(want) // each begin is of one digit
		got := []string{}
		synctest.Test(t, func(t *testing.T) { got = cutAtTheDeadline(t, requests, comparable, deadline) })
		if !slices.Equal(got, want) {
			rt.Fatalf("cut: %q, want %q", got, want)
		}
	})
}

// cutSignal is when the exit begins: no handler has ended, and none ends at a deadline.
const cutSignal = 3*time.Second + 500*time.Millisecond

// cutAtTheDeadline makes the requests and then an exit, and returns what the exit cut. It
// reports an answer that is missing, and one that should be.
func cutAtTheDeadline(t *testing.T, requests []cutRequest, comparable bool, deadline time.Duration) []string {
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var out io.Writer = w
		i, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
		if err == nil && requests[i].hijacks {
			var c net.Conn
			if c, _, err = http.NewResponseController(w).Hijack(); err == nil {
				defer c.Close()
				out = c
			}
		}
		if err != nil {
			t.Error(err)
			return
		}
		time.Sleep(requests[i].takes)
		if requests[i].hijacks {
			fmt.Fprint(out, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n")
		}
		fmt.Fprint(out, "done")
	})}
	p := newPipes()
	var l net.Listener = p
	if !comparable {
		l = uncomparableConns{p}
	}
	s := service{launch(t, t.Context(), Plan{
		Steps: []Step{HTTP(srv, HTTPOptions{Deadline: deadline})},
		Start: func(context.Context) error { return Served(srv.Serve(l)) },
	}), p, srv}
	var answers []<-chan string
	for i, r := range requests {
		time.Sleep(time.Until(s.began.Add(r.after)))
		answers = append(answers, s.goGet(fmt.Sprintf("/%02d", i)))
	}
	time.Sleep(time.Until(s.began.Add(cutSignal)))
	s.signals <- os.Interrupt
	s.wait()
	for i, r := range requests {
		want := "done"
		if r.after+r.takes > cutSignal+deadline {
			want = ""
		}
		wantAnswer(t, answers[i], want)
	}
	time.Sleep(time.Minute) // the handlers that were cut
	got := []string{}
	if cut, ok := errors.AsType[*CutError](s.report.Steps[0].Err); ok {
		for _, r := range cut.Requests {
			got = append(got, fmt.Sprintf("%v %s %s %d %d", r.Began.Sub(s.began), r.Kind, r.What, r.Acked, r.Unacked))
		}
	}
	return got
}

// TestPropTextOfACutError: the text has the number of all requests, the reason, and the first ten requests; it counts the
// others. A request has its bytes if the system has reported them, even if there are none.
func TestPropTextOfACutError(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &CutError{Reason: ErrDeadline}
		var texts []string
		for i := range rapid.IntRange(1, 13).Draw(t, "requests") {
			r := CutRequest{Kind: rapid.SampledFrom([]string{"HTTP/1.1", "HTTP/2.0", "hijacked"}).Draw(t, "kind"), What: fmt.Sprint("GET /", i), Acked: -1, Unacked: -1}
			text := r.Kind + " " + r.What
			if rapid.Bool().Draw(t, "its bytes are known") {
				r.Acked, r.Unacked = rapid.Int64Range(0, 3).Draw(t, "acknowledged"), rapid.Int64Range(0, 3).Draw(t, "not acknowledged")
				text += fmt.Sprintf(" (%d bytes acknowledged, %d not)", r.Acked, r.Unacked)
			}
			c.Requests, texts = append(c.Requests, r), append(texts, text)
		}
		if n := len(texts); n > 10 {
			texts = append(texts[:10], fmt.Sprintf("and %d more", n-10))
		}
		want := fmt.Sprintf("process: %d requests cut (process: deadline of the exit passed): %s", len(c.Requests), strings.Join(texts, ", "))
		if got := c.Error(); got != want {
			t.Fatalf("the text is\n%s\nwant\n%s", got, want)
		}
	})
}
