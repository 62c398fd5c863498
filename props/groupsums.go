package props

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"eventide/core"
)

// wrongSums describes the first field of the group's report or stats that is not what those of
// its children say, or returns "". Every field is compared, so a new one is too.
func wrongSums(g *core.Group, report core.Report) string {
	var reports, stats []any
	for child := range g.All() {
		reports, stats = append(reports, child.Termination().Report()), append(stats, child.Stats())
	}
	if text := wrongSum(report, reports); text != "" {
		return "report: " + text
	}
	if text := wrongSum(g.Stats(), stats); text != "" {
		return "stats: " + text
	}
	return plus
}

// plus is the answer of wrongPlus, which no run changes. It is no sync.Once: under chosen schedules
// the first run would then have other operations than the next.
var plus = wrongPlus()

// wrongPlus compares the sums of two reports and two stats of which no two fields are equal: the
// run of a group of executors has no channels.
func wrongPlus() string {
	var r, s core.Report
	differ(&r, 1000)
	differ(&s, 2000)
	if text := wrongSum(r.Plus(s), []any{r, s}); text != "" {
		return "the sum of two reports: " + text
	}
	var t, u core.Stats
	differ(&t, 1000)
	differ(&u, 2000)
	if text := wrongSum(t.Plus(u), []any{t, u}); text != "" {
		return "the sum of two stats: " + text
	}
	return ""
}

// differ sets the fields of the struct that p points to, each to another value.
func differ(p any, from int64) {
	v := reflect.ValueOf(p).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.String:
			f.SetString(fmt.Sprint("text ", from))
		case reflect.Bool:
			f.SetBool(from == 1000)
		case reflect.Int64, reflect.Int32, reflect.Int:
			f.SetInt(from + int64(i))
		}
	}
}

// wrongSum compares a sum with its parts, field by field: numbers are added, of durations the
// longest counts, of states the least, a bool is true if one of the parts is, and a text has the
// texts of the parts.
func wrongSum(sum any, parts []any) string {
	got := reflect.ValueOf(sum)
	for i := range got.NumField() {
		f := got.Field(i)
		name := got.Type().Field(i).Name
		var want any
		for k, part := range parts {
			p := reflect.ValueOf(part).Field(i).Interface()
			switch p := p.(type) {
			case string:
				if text := f.String(); !strings.Contains(text, p) {
					return fmt.Sprintf("%s is %q, want it to have %q", name, text, p)
				}
				want = f.Interface()
			case bool:
				before, _ := want.(bool)
				want = before || p
			case time.Duration:
				before, _ := want.(time.Duration)
				want = max(before, p)
			case core.State:
				if before, ok := want.(core.State); ok {
					p = min(before, p)
				}
				want = p
			default:
				n := reflect.ValueOf(p).Convert(f.Type())
				if k > 0 {
					n = reflect.ValueOf(reflect.ValueOf(want).Int() + n.Int()).Convert(f.Type())
				}
				want = n.Interface()
			}
		}
		if f.Interface() != want {
			return fmt.Sprintf("%s is %v, want %v", name, f.Interface(), want)
		}
	}
	return ""
}
