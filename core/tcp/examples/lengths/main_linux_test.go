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

func TestEveryAcceptedMessageIsAnswered(t *testing.T) {
	underload.Test(t, underload.Lengths(), "-grace", "50s")
}
