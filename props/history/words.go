package history

import "fmt"

// The words of the text form. A word is written by String and read by Parse.
var (
	kindWords = [...]string{
		Invoke: "invoke", Admit: "admit", Return: "return", Begin: "begin", End: "end", Complete: "complete",
		Transit: "state", Park: "park", Unpark: "unpark", Wake: "wake", Closed: "closed", Done: "done",
		Sample: "stats", Observe: "observe", Ended: "ended", Readied: "ready", Fault: "fault", Sealed: "report",
	}
	partWords = [...]string{"states", "loop", "oneloop", "parks", "stats", "completions", "timerends", "deadlines", "quiet", "readiness"}
)

// String returns the word of the text form.
func (k LogKind) String() string { return word("kind", kindWords[:], int(k)) }

func word(what string, words []string, i int) string {
	if i < len(words) && words[i] != "" {
		return words[i]
	}
	return fmt.Sprintf("%s(%d)", what, i)
}
