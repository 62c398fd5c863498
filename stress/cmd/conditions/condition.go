package main

import (
	"fmt"
	"slices"
	"strings"
)

// condition is one column of the table: in what a run differs from the machine as it
// is. It is passed to the confined process as JSON.
type condition struct {
	Name    string   `json:"name"`
	Text    string   `json:"text"`
	Env     []string `json:"env,omitempty"`
	Sysctl  []sysctl `json:"sysctl,omitempty"`  // in a network namespace of its own
	Files   uint64   `json:"files,omitempty"`   // of open files, hard limit included
	OneCPU  bool     `json:"one_cpu,omitempty"` // by the affinity mask
	User    bool     `json:"user,omitempty"`    // without the privileges of root
	TempDir string   `json:"temp_dir,omitempty"`
	Busy    int      `json:"busy,omitempty"` // processes that compute, per processor
}

// sysctl is a parameter of the kernel below /proc/sys.
type sysctl struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// path is the file of the parameter.
func (s sysctl) path() string { return "/proc/sys/" + strings.ReplaceAll(s.Name, ".", "/") }

// buffers are the sizes of TCP's buffers: least, initial, greatest.
func buffers(send, receive string) []sysctl {
	return []sysctl{{"net.ipv4.tcp_wmem", send}, {"net.ipv4.tcp_rmem", receive}}
}

// table returns all conditions, the machine as it is first.
//
// A network namespace has its own TCP buffers and backlog, but shares net.core.rmem_*
// and net.core.wmem_*, which size the buffers of Unix sockets, with the machine: the
// rows core-* run only where the owner of the machine has set these values.
func table() []condition {
	return []condition{
		{Name: "plain", Text: "the machine as it is"},
		{Name: "buffers-kernel", Text: "the TCP buffers of a kernel that nobody tuned", Sysctl: buffers("4096 16384 4194304", "4096 131072 6291456")},
		{Name: "buffers-small", Text: "TCP buffers of at most 64 KiB", Sysctl: buffers("4096 8192 65536", "4096 8192 65536")},
		{Name: "buffers-tiny", Text: "TCP buffers of at most 16 KiB", Sysctl: buffers("4096 4096 16384", "4096 4096 16384")},
		{Name: "buffers-large", Text: "TCP buffers of 8 MiB that grow to 32 MiB", Sysctl: buffers("4096 8388608 33554432", "4096 8388608 33554432")},
		{Name: "core-small", Text: "Unix socket buffers of 16 KiB", Sysctl: []sysctl{{"net.core.wmem_default", "16384"}, {"net.core.rmem_default", "16384"}}},
		{Name: "core-large", Text: "Unix socket buffers of 4 MiB", Sysctl: []sysctl{{"net.core.wmem_default", "4194304"}, {"net.core.rmem_default", "4194304"}}},
		{Name: "backlog-128", Text: "a listen backlog of at most 128, as before Linux 5.4", Sysctl: []sysctl{{"net.core.somaxconn", "128"}}},
		{Name: "no-ipv6", Text: "no IPv6", Sysctl: []sysctl{{"net.ipv6.conf.all.disable_ipv6", "1"}}},
		{Name: "procs-1", Text: "GOMAXPROCS=1", Env: []string{"GOMAXPROCS=1"}},
		{Name: "procs-2", Text: "GOMAXPROCS=2", Env: []string{"GOMAXPROCS=2"}},
		{Name: "procs-4", Text: "GOMAXPROCS=4", Env: []string{"GOMAXPROCS=4"}},
		{Name: "cpu-1", Text: "one processor", OneCPU: true},
		{Name: "files-256", Text: "at most 256 open files", Files: 256},
		{Name: "files-4096", Text: "at most 4096 open files", Files: 4096},
		{Name: "no-preempt", Text: "GODEBUG=asyncpreemptoff=1", Env: []string{"GODEBUG=asyncpreemptoff=1"}},
		{Name: "user", Text: "a user without privileges", User: true},
		{Name: "tmpdir", Text: "a TMPDIR with spaces and a letter beyond ASCII", TempDir: "temporary files of ü "},
		{Name: "locale", Text: "another language, and a time zone far east", Env: []string{"LANG=de_DE.UTF-8", "LC_ALL=de_DE.UTF-8", "LANGUAGE=de", "TZ=Pacific/Apia"}},
		{Name: "load", Text: "five busy processes per processor beside the test", Busy: 5},
	}
}

// choose returns the conditions of a list of names separated by commas, in the order of
// the table.
func choose(all []condition, list string) ([]condition, error) {
	want := strings.Split(list, ",")
	var chosen []condition
	for _, c := range all {
		if slices.Contains(want, c.Name) {
			chosen = append(chosen, c)
		}
	}
	for _, name := range want {
		if !slices.ContainsFunc(all, func(c condition) bool { return c.Name == name }) {
			return nil, fmt.Errorf("there is no condition %q; there are %s", name, strings.Join(names(all), ", "))
		}
	}
	return chosen, nil
}

func names(conditions []condition) (list []string) {
	for _, c := range conditions {
		list = append(list, c.Name)
	}
	return list
}
