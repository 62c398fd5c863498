package blocking

import (
	"net"
	"os"
	"strconv"
	"testing"
)

// G24: the pending check of the receipt is stopped when the channel ends.
func TestG24ThePendingReceiptCheckIsStopped(t *testing.T) {
	g, err := NewGroup(0)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("unix", "@eventide-receipt-"+strconv.Itoa(os.Getpid())) // abstract: a path may be too long for an address
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	theirs, err := net.Dial("unix", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = theirs.Close() }()
	ours, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	ch, err := g.Register(ours, HandlerBase{}, WithHalfClosure(true))
	if err != nil {
		t.Fatal(err)
	}
	_ = theirs.(*net.UnixConn).CloseWrite() // and it never reads
	ch.WriteAndFlush([]byte("answer"))
	ch.CloseGracefully(longPast.AddDate(200, 0, 0))
	calledOff := make(chan bool, 1)
	var look func()
	look = func() {
		if ch.receipt.delay < mostReceiptDelay {
			_ = ch.loop.Execute(look) // until it has begun to wait
			return
		}
		ch.Close()
		calledOff <- !ch.receipt.next.stop()
	}
	_ = ch.loop.Execute(look)
	if !<-calledOff {
		t.Errorf("G24: the channel has ended, but its next receipt check is still pending")
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}
