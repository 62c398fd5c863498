package process

import (
	"math"
	"math/big"
	"regexp"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// decimal is the form in which a service manager writes a number.
var decimal = regexp.MustCompile(`^[0-9]+$`)

// drawMicroseconds draws a value of WATCHDOG_USEC: a number, a number in another form, or none.
func drawMicroseconds(t *rapid.T) string {
	digits := rapid.OneOf(
		rapid.StringMatching(`0{0,3}[0-9]{1,21}`),
		rapid.SampledFrom([]string{"", "0", "1", "9223372036854775", "9223372036854776", "9223372036854775807", "9223372036854775808", "18446744073709551615"}),
	).Draw(t, "digits")
	before := rapid.SampledFrom([]string{"", "", "", "-", "0x", "0b", "0o", " ", "1_"}).Draw(t, "before")
	return before + digits + rapid.SampledFrom([]string{"", "", "", "", "us", " ", ".0", "_0", "e3"}).Draw(t, "after")
}

// TestPropWatchdog: the interval of the watchdog is the decimal number of microseconds in WATCHDOG_USEC. There is no
// watchdog if the variable has another form, if the number is 0 or does not fit into a time.Duration, or if WATCHDOG_PID names
// another process. Without NOTIFY_SOCKET there is no supervisor.
func TestPropWatchdog(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		environment := map[string]string{
			"NOTIFY_SOCKET": rapid.SampledFrom([]string{"/run/notify", "@notify", "x", ""}).Draw(t, "NOTIFY_SOCKET"),
			"WATCHDOG_USEC": drawMicroseconds(t),
			"WATCHDOG_PID":  rapid.SampledFrom([]string{"", "7", "7", "8", "07", "-7", "seven"}).Draw(t, "WATCHDOG_PID"),
		}
		s := newSupervisor(func(name string) string { return environment[name] }, 7, nil)
		if (s == nil) != (environment["NOTIFY_SOCKET"] == "") {
			t.Fatalf("the supervisor is %+v", s)
		}
		if s == nil {
			return
		}
		var want time.Duration
		if pid := environment["WATCHDOG_PID"]; (pid == "" || pid == "7") && decimal.MatchString(environment["WATCHDOG_USEC"]) {
			n, _ := new(big.Int).SetString(environment["WATCHDOG_USEC"], 10)
			if n.Mul(n, big.NewInt(1000)); n.Cmp(big.NewInt(math.MaxInt64)) <= 0 {
				want = time.Duration(n.Int64())
			}
		}
		if s.address != environment["NOTIFY_SOCKET"] || s.watchdog != want {
			t.Fatalf("the supervisor at %q has a watchdog of %v, want %v", s.address, s.watchdog, want)
		}
	})
}
