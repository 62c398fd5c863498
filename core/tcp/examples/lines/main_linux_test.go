package main

import (
	"os"
	"testing"

	"eventide/core/internal/coretest/underload"
)

func TestMain(m *testing.M) {
	underload.Main(main)
	os.Exit(m.Run())
}

func TestEveryAcceptedLineIsAnswered(t *testing.T) {
	underload.Test(t, underload.Lines(), "-grace", "50s")
}
