package draintest

import "slices"

// Client is a kind of client.
type Client struct {
	// Name identifies the client in results: "slow body".
	Name string

	// Open is called once for each worker. talk makes one request, or uses one connection,
	// and returns nil if everything was answered completely. It must return when the kit
	// closes the connection. end is called after the last call of talk.
	Open func() (talk func(*Call) error, end func())

	// Direct clients ignore the load balancer: they begin requests until one is refused.
	Direct bool

	// Long marks a client whose requests span the shutdown: the kit calls Shutdown only
	// while such a request is accepted and not answered.
	Long bool
}

// HTTP returns the clients for a server of HTTP/1.1 that serves the paths of an Endpoint:
// Fresh, KeepAlive, Pipelined, SlowBody, SlowReader and Upgraded.
func HTTP() []Client {
	return []Client{Fresh(), KeepAlive(), Pipelined(), SlowBody(), SlowReader(), Upgraded()}
}

// TCP returns the clients for a server that answers each line with the same line: Lines and
// FreshLine.
func TCP() []Client { return []Client{Lines(), FreshLine()} }

// Without returns the clients except those with the given names.
func Without(clients []Client, names ...string) []Client {
	return slices.DeleteFunc(slices.Clone(clients), func(c Client) bool { return slices.Contains(names, c.Name) })
}

// Fresh makes a new connection for each request, and ignores the load balancer.
func Fresh() Client {
	return Client{Name: "new connection", Direct: true, Open: stateless(talkFresh)}
}

// KeepAlive makes one request after the other on a connection, as long as the server keeps the
// connection open.
func KeepAlive() Client {
	return Client{Name: "keep-alive", Open: func() (func(*Call) error, func()) {
		l := &link{}
		return l.talkKeepAlive, l.close
	}}
}

// Pipelined sends four requests at once on a connection that it reuses.
func Pipelined() Client {
	return Client{Name: "pipelined", Open: func() (func(*Call) error, func()) {
		l := &link{}
		return l.talkPipelined, l.close
	}}
}

// SlowBody sends the headers of a request with Expect: 100-continue, and then its body byte
// for byte, through the shutdown.
func SlowBody() Client {
	return Client{Name: "slow body", Long: true, Open: stateless(talkSlowBody)}
}

// SlowReader reads a long answer slowly, through the shutdown.
func SlowReader() Client {
	return Client{Name: "slow reader", Long: true, Open: stateless(talkSlowReader)}
}

// Upgraded switches from HTTP to lines, as a WebSocket does, and exchanges lines until the
// server says goodbye. It never ends by itself.
func Upgraded() Client {
	return Client{Name: "upgraded", Long: true, Open: stateless(talkUpgraded)}
}

// HTTP2 holds streams of HTTP/2 without TLS open through the shutdown, and exchanges lines on
// them. HTTP does not include it, because the server must enable the protocol
// (http.Protocols).
func HTTP2() Client {
	return Client{Name: "HTTP/2 stream", Long: true, Open: openHTTP2}
}

// Lines sends one line after the other on a connection, until the server ends the
// connection.
func Lines() Client {
	return Client{Name: "lines", Long: true, Open: stateless(talkLines)}
}

// FreshLine makes a new connection for each line, and ignores the load balancer.
func FreshLine() Client {
	return Client{Name: "new connection", Direct: true, Open: stateless(talkFreshLine)}
}

// stateless is the Open of a client that keeps no state between calls.
func stateless(talk func(*Call) error) func() (func(*Call) error, func()) {
	return func() (func(*Call) error, func()) { return talk, func() {} }
}
