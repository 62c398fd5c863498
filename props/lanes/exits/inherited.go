//go:build linux

package exits

import (
	stdos "os"
	"slices"
	"strconv"
	"strings"

	"eventide/core/process"
	"eventide/props/lanes/exits/calls/net"
	"eventide/props/lanes/exits/calls/os"
)

// Inherited describes the listeners that the process was started with (socket activation).
type Inherited struct {
	Pid         string // LISTEN_PID: "", "own", "other" or "x"
	Count       string // LISTEN_FDS
	Names       string // LISTEN_FDNAMES
	Descriptors []struct{ Open, Listens bool }
}

// makeListeners calls process.Listeners, and compares the result with sd_listen_fds(3).
func (r *run) makeListeners() {
	in := r.p.Inherited
	pid := map[string]string{"own": strconv.Itoa(stdos.Getpid()), "other": "1", "x": "x"}[in.Pid]
	for name, value := range map[string]string{"LISTEN_PID": pid, "LISTEN_FDS": in.Count, "LISTEN_FDNAMES": in.Names} {
		if err := stdos.Setenv(name, value); err != nil {
			r.violate("Setenv: %v", err)
		}
	}
	os.Descriptors, os.Closed = in.Descriptors, 0
	got, err := process.Listeners()
	n, countErr := strconv.Atoi(in.Count)
	opened, listens := 0, []int(nil)
	for i := range max(n, 0) {
		if i >= len(in.Descriptors) || !in.Descriptors[i].Open {
			break // those behind it are ignored
		}
		opened++
		if in.Descriptors[i].Listens {
			listens = append(listens, i)
		}
	}
	var wantErr bool
	switch {
	case in.Pid == "" && in.Count == "", in.Pid == "other":
		listens, opened = nil, 0
	case pid == "" || in.Pid == "x" || countErr != nil || n < 0:
		listens, opened, wantErr = nil, 0, true
	case len(listens) < n:
		listens, wantErr = nil, true
	}
	var fds, wantFDs []int
	var names, wantNames []string
	given := strings.Split(in.Names, ":")
	for _, i := range listens {
		wantFDs = append(wantFDs, 3+i)
		name := ""
		if i < len(given) {
			name = given[i]
		}
		wantNames = append(wantNames, name)
	}
	for _, l := range got {
		fds, names = append(fds, l.Listener.(*net.Inherited).FD), append(names, l.Name)
	}
	if (err != nil) != wantErr || !slices.Equal(fds, wantFDs) || !slices.Equal(names, wantNames) {
		r.violate("Listeners returned descriptors %v with names %q and the error %v; want %v, %q, an error: %v", fds, names, err, wantFDs, wantNames, wantErr)
	}
	if os.Closed != opened || net.OpenListeners() != len(listens) {
		r.violate("Listeners has closed %d of %d descriptors, and %d listeners are open, want %d", os.Closed, opened, net.OpenListeners(), len(listens))
	}
	for _, name := range []string{"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"} {
		if _, set := stdos.LookupEnv(name); set {
			r.violate("Listeners leaves %s in the environment", name)
		}
	}
}

// gracefulServer is a process.GracefulServer whose requests take a time.
type gracefulServer struct {
	wait func(stopped <-chan struct{})
	stop chan struct{}
}

func (g *gracefulServer) GracefulStop() { g.wait(g.stop) }
func (g *gracefulServer) Stop()         { close(g.stop) }
