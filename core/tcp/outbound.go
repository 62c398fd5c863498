package tcp

import "sync"

// chunkSize is the unit in which unsent bytes are kept.
const chunkSize = 8 << 10

// chunk holds bytes [from, to) of buf.
type chunk struct {
	next     *chunk
	from, to int
	buf      [chunkSize]byte
}

// outbound holds the accepted bytes that are not sent yet, in order. The caller locks.
type outbound struct {
	head, tail *chunk
}

// append copies p to the end of o.
func (o *outbound) append(pool *chunkPool, p []byte) {
	for len(p) > 0 {
		if o.tail == nil || o.tail.to == chunkSize {
			c := pool.get()
			if o.tail == nil {
				o.head = c
			} else {
				o.tail.next = c
			}
			o.tail = c
		}
		n := copy(o.tail.buf[o.tail.to:], p)
		o.tail.to += n
		p = p[n:]
	}
}

// drop removes the first n bytes. o holds at least n.
func (o *outbound) drop(pool *chunkPool, n int) {
	for n > 0 {
		c := o.head
		have := c.to - c.from
		if n < have {
			c.from += n
			return
		}
		n -= have
		o.head = c.next
		if o.head == nil {
			o.tail = nil
		}
		pool.put(c)
	}
}

// release removes all bytes.
func (o *outbound) release(pool *chunkPool) {
	for c := o.head; c != nil; {
		next := c.next
		pool.put(c)
		c = next
	}
	o.head, o.tail = nil, nil
}

// chunkPool keeps the spare chunks of one loop. Any goroutine may use it.
type chunkPool struct {
	mu   sync.Mutex
	free *chunk
	n    int
}

// mostSpare bounds the chunks that a pool keeps after a burst: 1 MiB.
const mostSpare = 1 << 20 / chunkSize

func (p *chunkPool) get() *chunk {
	p.mu.Lock()
	c := p.free
	if c != nil {
		p.free = c.next
		p.n--
	}
	p.mu.Unlock()
	if c == nil {
		return new(chunk)
	}
	c.next, c.from, c.to = nil, 0, 0
	return c
}

func (p *chunkPool) put(c *chunk) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.n == mostSpare {
		return
	}
	c.next = p.free
	p.free = c
	p.n++
}
