package rewrite

// detPath is where the scheduler and its look-alikes are.
const detPath = "eventide/props/lanes/interleave/det"

// lookAlikes replaces packages whose operations are scheduling points.
var lookAlikes = map[string]string{
	"sync":                        detPath + "/sync",
	"sync/atomic":                 detPath + "/atomic",
	"time":                        detPath + "/time",
	"context":                     detPath + "/context",
	"runtime":                     detPath + "/runtime",
	"math/rand/v2":                detPath + "/rand",
	"github.com/petermattis/goid": detPath + "/goid",
}

// values are types of those packages whose methods are no operations: the
// look-alikes have them as they are. (What a Context says is scheduled all the same,
// by the contexts that det/context makes.)
var values = map[string]bool{
	"time.Time": true, "time.Duration": true, "time.Month": true, "time.Weekday": true, "context.Context": true,
}

// quietLookAlikes replaces them for a harness: it writes down what happens, and
// must not double the number of schedules by doing so.
var quietLookAlikes = map[string]string{
	"sync":                        detPath + "/quiet/sync",
	"time":                        detPath + "/quiet/time",
	"context":                     detPath + "/context",
	"github.com/petermattis/goid": detPath + "/goid",

	// Its Mutex is the quiet one.
	"eventide/props/interleave/control": detPath + "/quiet/sync",
}

// kernelLookAlikes is for the model of the kernel: each call of it is one step, as a
// system call is, and who goes on before it, and after, is chosen.
var kernelLookAlikes = map[string]string{"sync": detPath + "/sync"}

// logLookAlikes is for a log whose lock is held for no scheduling point: the real
// lock never has to wait. Who asks for his number writes an entry, which is marked in
// the trace.
var logLookAlikes = map[string]string{
	"time":                        detPath + "/quiet/time",
	"github.com/petermattis/goid": detPath + "/marked/goid",
}

// leftAlone lists the packages that may be used as they are, and why that hides no
// schedule.
var leftAlone = map[string]string{
	"bytes":         "computes",
	"cmp":           "computes",
	"errors":        "computes",
	"fmt":           "computes; its pools are its own",
	"io":            "interfaces and errors; io.Pipe is refused",
	"iter":          "types only; iter.Pull is refused",
	"log/slog":      "hands records to the user's handler; the default one discards them",
	"maps":          "computes",
	"math":          "computes",
	"math/bits":     "computes",
	"net/netip":     "computes",
	"reflect":       "computes; what it does with channels is refused",
	"runtime/debug": "Stack of the caller only",
	"slices":        "computes",
	"sort":          "computes",
	"strconv":       "computes",
	"strings":       "computes",
	"unicode/utf8":  "computes",
	"unsafe":        "no operations",
}

// kernel lists the packages that talk to the operating system. Only files of
// kernelFiles may use them: the lane never runs what is in there.
var kernel = map[string]bool{
	"net": true, "os": true, "os/signal": true, "syscall": true, "golang.org/x/sys/unix": true,
}

// refused lists members of packages that are otherwise left alone.
var refused = map[string]string{
	"iter.Pull": "it makes a goroutine", "iter.Pull2": "it makes a goroutine",
	"reflect.Select": "it waits for channels", "reflect.Send": "it may wait", "reflect.Recv": "it may wait",
	"reflect.TrySend": "it sends", "reflect.TryRecv": "it receives", "reflect.Close": "it closes a channel", // methods of Value
	"io.Pipe": "it waits for the other side", "runtime/debug.SetGCPercent": "it changes the process",
}

// harness says how the files of a package that drives core are rewritten; what they
// import otherwise is theirs. By package, or by file where only one matters.
var harness = map[string]map[string]string{
	"props":                       quietLookAlikes,
	"props/poller.go":             kernelLookAlikes,
	"props/history/log.go":        logLookAlikes,
	"props/lanes/interleave/bare": quietLookAlikes,
}

// kernelFiles lists files of core that talk to the operating system, and why the
// lane can do without them. They are rewritten as well, but for their system calls.
// The epoll pollers, in core/internal/epoll, are not rewritten: the lane's loops sleep on
// the park poller, or on its model poller.
var kernelFiles = map[string]string{
	"yieldthread_linux.go": "one call, which changes nothing, at a backlog that no program of the lane has",
}
