package tcp

import (
	"bytes"
	"flag"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"testing"
	"unsafe"

	"pgregory.net/rapid"
)

// check runs a property, and keeps no files of failures.
func check(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	for name, value := range map[string]string{"rapid.nofailfile": "true", "rapid.shrinktime": "3s"} {
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	rapid.Check(t, property)
}

// spareChunks is how many chunks a pool keeps: 1 MiB.
const spareChunks = 1 << 20 / chunkSize

// TestPropOutbound compares buffers that share a pool of spare chunks with slices of bytes, and the pool
// with a number: chunks are reused before any is made, and spareChunks of them are kept.
func TestPropOutbound(t *testing.T) {
	check(t, func(t *rapid.T) {
		var pool chunkPool
		buffers := make([]outbound, 2)
		want := make([][]byte, len(buffers))
		spare, next := 0, byte(0)
		for range rapid.IntRange(1, 15).Draw(t, "steps") {
			i := rapid.IntRange(0, len(buffers)-1).Draw(t, "buffer")
			o, before := &buffers[i], chunks(t, &buffers[i])
			switch rapid.SampledFrom([]string{"append", "append", "drop", "drop", "release", "gather"}).Draw(t, "step") {
			case "append":
				p := make([]byte, rapid.SampledFrom([]int{0, 1, 100, chunkSize - 1, chunkSize, chunkSize + 1, 3 * chunkSize, 70 * chunkSize, (spareChunks + 3) * chunkSize}).Draw(t, "n"))
				for at := range p {
					next += 7
					p[at] = next
				}
				o.append(&pool, p)
				want[i] = append(want[i], p...)
				clear(p)
			case "drop":
				n := min(len(want[i]), rapid.SampledFrom([]int{0, 1, chunkSize - 1, chunkSize, chunkSize + 1, 40 * chunkSize, len(want[i])}).Draw(t, "n"))
				o.drop(&pool, n)
				want[i] = want[i][n:]
			case "release":
				o.release(&pool)
				want[i] = nil
			case "gather":
				checkGather(t, o, want[i])
			}
			after := chunks(t, o)
			if !bytes.Equal(slices.Concat(after...), want[i]) {
				t.Fatalf("the buffer holds other bytes than were appended and not dropped, or not %d", len(want[i]))
			}
			spare = min(max(spare+len(before)-len(after), 0), spareChunks)
			if kept := pool.kept(); kept != spare || pool.n != spare {
				t.Fatalf("%d chunks are kept and %d counted, want %d", kept, pool.n, spare)
			}
		}
	})
}

// chunks returns the bytes of each chunk. None is empty; only the first has room before its bytes, and
// only the last behind them.
func chunks(t *rapid.T, o *outbound) (all [][]byte) {
	last := o.head
	for c := o.head; c != nil; c = c.next {
		if c.from >= c.to || c != o.head && c.from > 0 || c.next != nil && c.to < chunkSize {
			t.Fatalf("chunk %d holds [%d, %d)", len(all), c.from, c.to)
		}
		all, last = append(all, c.buf[c.from:c.to]), c
	}
	if last != o.tail {
		t.Fatal("the tail is not the last chunk")
	}
	return all
}

// kept counts the spare chunks.
func (p *chunkPool) kept() (n int) {
	for c := p.free; c != nil; c = c.next {
		n++
	}
	return n
}

// checkGather checks that a gathering write is pointed to the first bytes of a buffer, and cut after
// some of them.
func checkGather(t *rapid.T, o *outbound, want []byte) {
	if len(want) == 0 {
		return // no flush gathers nothing
	}
	limit := rapid.SampledFrom([]int{1, chunkSize, chunkSize + 1, len(want)}).Draw(t, "limit")
	var v vector
	total := v.gather(o, int64(limit))
	most := slices.Concat(chunks(t, o)[:min(len(v.iov), len(chunks(t, o)))]...)
	if whole := min(limit, len(most)); total != whole || !bytes.Equal(v.bytes(), want[:whole]) {
		t.Fatalf("%d bytes are gathered with a limit of %d, want %d, or they differ", total, limit, whole)
	}
	cut := rapid.IntRange(0, total).Draw(t, "cut")
	v.truncate(cut)
	if !bytes.Equal(v.bytes(), want[:cut]) {
		t.Fatalf("a gathering write that is cut to %d bytes has %d, or they differ", cut, len(v.bytes()))
	}
}

// bytes returns the bytes that a gathering write sends.
func (v *vector) bytes() (all []byte) {
	for _, io := range unsafe.Slice(v.msg.Iov, v.msg.Iovlen) {
		all = append(all, unsafe.Slice(io.Base, io.Len)...)
	}
	return all
}

// TestPropAddresses: an address of an IP and a number needs no look-up, and no other does without one; an
// address of a socket is the one that the socket was given.
func TestPropAddresses(t *testing.T) {
	check(t, func(t *rapid.T) {
		host := rapid.SampledFrom([]string{"", "127.0.0.1", "0.0.0.0", "::", "::1", "::ffff:1.2.3.4", "fe80::1%lo", "fe80::1%7", "localhost", "300.1.1.1", "1.2.3", "["}).Draw(t, "host")
		port := rapid.SampledFrom([]string{"0", "1", "80", "65535", "65536", "-1", "http", "", " 1"}).Draw(t, "port")
		text := rapid.SampledFrom([]string{net.JoinHostPort(host, port), host + ":" + port, host}).Draw(t, "form")
		got, ok := literal(text)
		want, err := netip.ParseAddrPort(text)
		n, notPort := strconv.ParseUint(port, 10, 16)
		switch {
		case err == nil && (!ok || got != netip.AddrPortFrom(want.Addr().Unmap(), want.Port())):
			t.Fatalf("%q is %v and needs no look-up: %v, want %v", text, got, ok, want)
		case text == ":"+port && ok != (notPort == nil), ok && host == "" && got != netip.AddrPortFrom(netip.Addr{}, uint16(n)):
			t.Fatalf("%q is %v and needs no look-up: %v", text, got, ok)
		case ok && err != nil && host != "":
			t.Fatalf("%q is %v, want no address: %v", text, got, err)
		}
		if !ok || host == "" {
			return
		}
		if again := fromSockaddr(toSockaddr(got)); netAddr(again).String() != netAddr(got).String() {
			t.Fatalf("the address %v of a socket is %v", got, again)
		}
		others := rapid.SliceOfN(rapid.SampledFrom([]netip.AddrPort{got, netip.MustParseAddrPort("[::1]:1"), netip.MustParseAddrPort("1.2.3.4:5")}), 1, 4).Draw(t, "addresses")
		first := slices.IndexFunc(others, func(a netip.AddrPort) bool { return a.Addr().Is4() })
		if of := firstIPv4(others); of != others[max(first, 0)] {
			t.Fatalf("of %v the address to listen at is %v", others, of)
		}
	})
}
