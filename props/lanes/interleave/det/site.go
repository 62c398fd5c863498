package det

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// site is what is known of one return address: it is looked up once, since a traced run
// asks at each of its operations.
type site struct {
	pc   uintptr
	kind siteKind
	at   uintptr // outside: of the frame that is
	line string  // "dir/file.go:12"; made when it is asked for
}

type siteKind uint8

const (
	inside  siteKind = iota // of this package, or of the look-alikes below it
	outside                 // of what runs on it
	beyond                  // of the runtime: there is no caller outside
)

// sites is a table by return address, not a map, which the race detector would see. One
// that finds no place is looked up each time.
var sites [1 << 13]site

//go:norace
func siteOf(pc uintptr) *site {
	for i := range uintptr(8) {
		s := &sites[(pc*0x9e3779b1>>4+i)%uintptr(len(sites))]
		switch s.pc {
		case pc:
			return s
		case 0:
			*s = newSite(pc)
			return s
		}
	}
	s := newSite(pc)
	return &s
}

//go:norace
func newSite(pc uintptr) site {
	pcs := [1]uintptr{pc}
	frames := runtime.CallersFrames(pcs[:])
	for {
		f, more := frames.Next()
		switch {
		case strings.HasPrefix(f.Function, "runtime."):
			return site{pc: pc, kind: beyond}
		case !strings.Contains(f.Function, "interleave/det"):
			return site{pc: pc, kind: outside, at: f.PC}
		case !more:
			return site{pc: pc, kind: inside}
		}
	}
}

// callerOutside returns the innermost caller that is not part of this package or
// of the look-alikes below it.
//
//go:norace
func callerOutside() uintptr {
	var pcs [16]uintptr
	n := runtime.Callers(2, pcs[:])
	for _, pc := range pcs[:n] {
		switch s := siteOf(pc); s.kind {
		case outside:
			return s.at
		case beyond:
			return 0
		}
	}
	return 0
}

// lineOf returns "dir/file.go:12".
//
//go:norace
func lineOf(pc uintptr) string {
	if pc == 0 {
		return ""
	}
	s := siteOf(pc + 1)
	if s.line == "" {
		f, _ := runtime.CallersFrames([]uintptr{pc + 1}).Next()
		s.line = fmt.Sprintf("%s/%s:%d", filepath.Base(filepath.Dir(f.File)), filepath.Base(f.File), f.Line)
	}
	return s.line
}
