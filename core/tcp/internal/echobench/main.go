//go:build linux

// Command echobench compares echo servers: core/tcp, and package net with a
// goroutine per connection. Server and client are separate processes. The servers take
// turns round by round, in alternating order; the result to compare is the median of the
// ratios within a round.
//
//	go run ./core/tcp/internal/echobench -conns 1,50,1000 -duration 2s -rounds 5
package main

import (
	"bufio"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"eventide/core"
	"eventide/core/tcp"
)

const messageSize = 64

func main() {
	role := flag.String("role", "bench", "bench, server or client")
	server := flag.String("server", "net", "of a server: net, loops, or loops,key=value...")
	servers := flag.String("servers", "net loops", "of a bench: what to compare, the first is the base")
	conns := flag.String("conns", "1,50,1000", "numbers of connections")
	duration := flag.Duration("duration", 2*time.Second, "of one measurement")
	rounds := flag.Int("rounds", 5, "how often")
	addr := flag.String("addr", "", "of a client: the server's")
	count := flag.Int("n", 1, "of a client: connections")
	flag.Parse()
	var err error
	switch *role {
	case "server":
		err = serve(*server)
	case "client":
		err = drive(*addr, *count, *duration)
	default:
		err = bench(strings.Fields(*servers), strings.Split(*conns, ","), *duration, *rounds)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "echobench:", err)
		os.Exit(1)
	}
}

// serve prints its address and serves until its standard input ends.
func serve(kind string) error {
	var err error
	if kind == "net" {
		err = serveNet()
	} else {
		err = serveLoops()
	}
	if err != nil {
		return err
	}
	_, err = bufio.NewReader(os.Stdin).ReadByte()
	_ = err // the end of the input
	return nil
}

func serveNet() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go echoNet(c)
		}
	}()
	return nil
}

func echoNet(c net.Conn) {
	defer c.Close()
	buf := make([]byte, 4096)
	for {
		n, err := c.Read(buf)
		if err != nil {
			return
		}
		if _, err := c.Write(buf[:n]); err != nil {
			return
		}
	}
}

type echo struct{ tcp.HandlerBase }

func (echo) Read(ch *tcp.Channel, p []byte) { ch.WriteAndFlush(p) }

// serveLoops has as many loops as processors; the listener shares one of them.
func serveLoops() error {
	loops, err := core.NewGroup(runtime.GOMAXPROCS(0))
	if err != nil {
		return err
	}
	l, err := tcp.Listen(loops, loops, "127.0.0.1:0", func() tcp.Handler { return echo{} })
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	return nil
}

// drive prints how many echoes it got, and the median and 99th percentile of their
// times in microseconds.
func drive(addr string, n int, d time.Duration) error {
	conns := make([]net.Conn, n)
	for i := range conns {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			return err
		}
		defer c.Close()
		conns[i] = c
	}
	times := make([][]int64, n)
	errs := make([]error, n)
	var wg sync.WaitGroup
	stop := time.Now().Add(d)
	for i, c := range conns {
		wg.Add(1)
		go func() {
			defer wg.Done()
			times[i], errs[i] = pingPong(c, stop)
		}()
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	all := slices.Concat(times...)
	slices.Sort(all)
	fmt.Println(len(all), all[len(all)/2]/1000, all[len(all)*99/100]/1000)
	return nil
}

func pingPong(c net.Conn, stop time.Time) (times []int64, err error) {
	b := make([]byte, messageSize)
	for began := time.Now(); began.Before(stop); {
		if _, err := c.Write(b); err != nil {
			return nil, err
		}
		for got := 0; got < len(b); {
			n, err := c.Read(b[got:])
			if err != nil {
				return nil, err
			}
			got += n
		}
		now := time.Now()
		times = append(times, int64(now.Sub(began)))
		began = now
	}
	return times, nil
}

// sample is one measurement.
type sample struct {
	perSecond, p50, p99, cpu float64 // cpu: microseconds of the server per echo
}

func bench(servers, conns []string, d time.Duration, rounds int) error {
	for _, n := range conns {
		samples := make([][]sample, len(servers))
		for round := range rounds {
			for i := range servers {
				if round%2 == 1 {
					i = len(servers) - 1 - i
				}
				s, err := measure(servers[i], n, d)
				if err != nil {
					return fmt.Errorf("%s, %s connections: %w", servers[i], n, err)
				}
				samples[i] = append(samples[i], s)
			}
		}
		fmt.Printf("conns=%s rounds=%d duration=%v\n", n, rounds, d)
		for i, server := range servers {
			print1(server, samples[i], samples[0])
		}
	}
	return nil
}

func print1(server string, samples, base []sample) {
	pick := func(f func(i int) float64) (values []float64) {
		for i := range samples {
			values = append(values, f(i))
		}
		slices.Sort(values)
		return values
	}
	ratios := pick(func(i int) float64 { return samples[i].perSecond / base[i].perSecond })
	fmt.Printf("  %-8s %8.0f/s  ratio %.2f (%.2f..%.2f)  p50 %4.0f us  p99 %5.0f us  server CPU %.1f us/echo\n", server,
		median(pick(func(i int) float64 { return samples[i].perSecond })),
		median(ratios), ratios[0], ratios[len(ratios)-1],
		median(pick(func(i int) float64 { return samples[i].p50 })),
		median(pick(func(i int) float64 { return samples[i].p99 })),
		median(pick(func(i int) float64 { return samples[i].cpu })))
}

func median(sorted []float64) float64 { return sorted[len(sorted)/2] }

// measure runs a server and a client.
func measure(server, conns string, d time.Duration) (s sample, err error) {
	cmd := exec.Command(os.Args[0], "-role", "server", "-server", server)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return s, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return s, err
	}
	if err := cmd.Start(); err != nil {
		return s, err
	}
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = in.Close()
		return s, fmt.Errorf("the server said nothing: %w", cmd.Wait())
	}
	client := exec.Command(os.Args[0], "-role", "client", "-addr", strings.TrimSpace(addr), "-n", conns, "-duration", d.String())
	client.Stderr = os.Stderr
	result, clientErr := client.Output()
	_ = in.Close()
	if err := cmd.Wait(); err != nil {
		return s, err
	}
	if clientErr != nil {
		return s, clientErr
	}
	var n float64
	if _, err := fmt.Sscan(string(result), &n, &s.p50, &s.p99); err != nil {
		return s, err
	}
	s.perSecond = n / d.Seconds()
	s.cpu = float64((cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Microseconds()) / n
	return s, nil
}
