package verdicts

import (
	"testing"
	"time"
)

// What a test leaves behind has a minute.

func TestLeftForAnHour(*testing.T) { go func() { <-time.After(time.Hour) }() }

func TestLeftToATicker(*testing.T) {
	go func() {
		for range time.Tick(time.Hour) {
		}
	}()
}

func TestLeftForAWhile(*testing.T) { go func() { <-time.After(time.Minute - time.Second) }() }

func TestLeftAsleep(*testing.T) { go time.Sleep(time.Hour) }
