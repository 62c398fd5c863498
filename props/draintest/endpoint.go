package draintest

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"path"
	"strconv"
	"sync"
)

// Endpoint is the part of the kit inside the server: an http.Handler for the paths that
// the clients request. Mount it at "/draintest/", behind the server's middleware. The zero
// Endpoint is ready for use, and belongs to one server.
//
//	POST echo      answers with the body of the request after it has read the whole body
//	GET bytes?n=9  answers with n bytes
//	POST stream    answers each line of the body at once, for HTTP/2
//	GET upgrade    switches from HTTP to lines and answers each line; Leave makes it say goodbye
//
// A server of another language serves the same paths.
type Endpoint struct {
	mu      sync.Mutex
	began   map[string]bool // requests and lines
	leaving chan struct{}
	left    bool
}

// Leave makes upgraded connections say goodbye. Pass it to
// http.Server.RegisterOnShutdown; a handler of WebSockets needs a similar function. Only
// the first call has an effect.
func (e *Endpoint) Leave() {
	gone := e.gone()
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.left {
		e.left = true
		close(gone)
	}
}

func (e *Endpoint) gone() chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.leaving == nil {
		e.leaving = make(chan struct{})
	}
	return e.leaving
}

func (e *Endpoint) begin(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.began == nil {
		e.began = map[string]bool{}
	}
	e.began[id] = true
}

// knows reports whether the server began a request or a line. A nil Endpoint knows none.
func (e *Endpoint) knows(id string) bool {
	if e == nil {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.began[id]
}

// ServeHTTP answers the clients of the kit.
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") == "" {
		e.begin(r.Header.Get(RequestHeader))
	}
	switch path.Base(r.URL.Path) {
	case "echo":
		body, err := io.ReadAll(io.LimitReader(r.Body, longAnswer))
		if err != nil {
			return // the client has gone, or the server has closed its connection
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write(body)
	case "bytes":
		n, err := strconv.Atoi(r.URL.Query().Get("n"))
		if err != nil || n < 0 {
			http.Error(w, "n is not a number", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Length", strconv.Itoa(n))
		for piece := make([]byte, 64<<10); n > 0; n -= len(piece) {
			if _, err := w.Write(piece[:min(n, len(piece))]); err != nil {
				return
			}
		}
	case "stream":
		stream(w, r)
	case "upgrade":
		e.upgrade(w)
	default:
		http.NotFound(w, r)
	}
}

func stream(w http.ResponseWriter, r *http.Request) {
	out := http.NewResponseController(w)
	w.WriteHeader(http.StatusOK)
	if out.Flush() != nil {
		return
	}
	for in := bufio.NewReader(r.Body); ; {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		if _, err := w.Write(line); err != nil || out.Flush() != nil {
			return
		}
	}
}

// upgrade answers lines until the client ends its side.
func (e *Endpoint) upgrade(w http.ResponseWriter) {
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer func() { _ = conn.Close() }()
	var writing sync.Mutex
	write := func(p []byte) error {
		writing.Lock()
		defer writing.Unlock()
		_, err := conn.Write(p)
		return err
	}
	if write([]byte("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: draintest\r\n\r\n")) != nil {
		return
	}
	over := make(chan struct{})
	var told sync.WaitGroup
	defer told.Wait()
	defer close(over)
	told.Go(func() {
		select {
		case <-e.gone():
			_ = write([]byte(goodbye + "\n")) // the reader below gets the same error
		case <-over:
		}
	})
	answer := e.Lines()
	for piece := make([]byte, 4096); ; {
		n, err := buffered.Read(piece)
		if lines := answer(piece[:n]); len(lines) > 0 && write(lines) != nil || err != nil {
			return
		}
	}
}

// Lines returns a function for one connection of a line server. The function takes input in
// pieces and returns the answers to all complete lines. Call it where the server begins to
// handle a line: from then on the line is accepted.
func (e *Endpoint) Lines() func(input []byte) []byte {
	var kept []byte
	return func(input []byte) []byte {
		kept = append(kept, input...)
		end := bytes.LastIndexByte(kept, '\n') + 1
		whole := bytes.Clone(kept[:end])
		kept = kept[end:]
		for line := range bytes.Lines(whole) {
			e.begin(string(bytes.TrimSuffix(line, []byte("\n"))))
		}
		return whole
	}
}
