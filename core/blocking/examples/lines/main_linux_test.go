package main

import (
	"testing"

	"eventide/core/internal/coretest/underload"
)

func TestMain(m *testing.M) { underload.Main(m, main) }

func TestEveryAcceptedLineIsAnswered(t *testing.T) {
	underload.Test(t, underload.Lines(), "-grace", "50s")
}
