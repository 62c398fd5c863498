package main

import (
	"testing"

	"eventide/core/internal/coretest/underload"
)

func TestMain(m *testing.M) { underload.Main(m, main) }

func TestEveryAcceptedMessageIsAnswered(t *testing.T) {
	underload.Test(t, underload.Lengths(), "-grace", "50s")
}
