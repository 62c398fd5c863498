package vocabulary

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Term is a type of the vocabulary.
type Term interface {
	State | Op | Body | Outcome | Cause | TimerPolicy | DrainPolicy
}

// Words returns the words of a type, in the order of its constants. The slice is the
// caller's.
func Words[T Term]() []string {
	return slices.DeleteFunc(slices.Clone(table[T]()), func(w string) bool { return w == "" })
}

// table returns the words of a type by value. The word "" stands for a zero value
// that names nothing.
func table[T Term]() []string {
	switch any(T(0)).(type) {
	case State:
		return stateWords
	case Op:
		return opWords
	case Body:
		return bodyWords
	case Outcome:
		return outcomeWords
	case Cause:
		return causeWords
	case TimerPolicy:
		return timerPolicyWords
	default:
		return drainPolicyWords
	}
}

// word returns the word of v, or the type's name and the number if v has none.
func word[T Term](v T) string {
	if words := table[T](); v >= 0 && int(v) < len(words) && words[v] != "" {
		return words[v]
	}
	return fmt.Sprintf("%s(%d)", name[T](), int(v))
}

func name[T Term]() string { return reflect.TypeFor[T]().Name() }

func marshal[T Term](v T) ([]byte, error) {
	words := table[T]()
	if v < 0 || int(v) >= len(words) {
		return nil, fmt.Errorf("vocabulary: %s has no word", word(v))
	}
	return []byte(words[v]), nil
}

func unmarshal[T Term](v *T, text []byte) error {
	i := slices.Index(table[T](), string(text))
	if i < 0 {
		return fmt.Errorf("vocabulary: expected one of %s, got %q", strings.Join(Words[T](), "|"), text)
	}
	*v = T(i)
	return nil
}
