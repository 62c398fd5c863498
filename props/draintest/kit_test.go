package draintest_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"eventide/props/draintest"
	"eventide/props/draintest/subjects"
)

// TestMistakesOfTheCaller: what is wrong with a call is an error that names it.
func TestMistakesOfTheCaller(t *testing.T) {
	started := func(s draintest.Server) draintest.Start { return func() (draintest.Server, error) { return s, nil } }
	done, shutdown := make(chan struct{}), func() {}
	ended := make(chan struct{})
	close(ended)
	for want, c := range map[string]struct {
		kit   draintest.Kit
		start draintest.Start
	}{
		"start is nil, want a function":               {},
		"Clients is empty, want at least one":         {kit: draintest.Kit{Clients: []draintest.Client{}}},
		`Clients[0] is "" with Open nil true`:         {kit: draintest.Kit{Clients: []draintest.Client{{}}}},
		"Workers is -1, want more than 0":             {kit: draintest.Kit{Workers: -1}},
		"Rounds is -1, want more than 0":              {kit: draintest.Kit{Rounds: -1}},
		"Lag is -1s, want more than 0":                {kit: draintest.Kit{Lag: -time.Second}},
		"Deadline is -1s, want more than 0":           {kit: draintest.Kit{Deadline: -time.Second}},
		"Patience is -1s, want more than 0":           {kit: draintest.Kit{Patience: -time.Second}},
		"round 1: no port":                            {start: func() (draintest.Server, error) { return draintest.Server{}, errors.New("no port") }},
		`Addr "", Shutdown nil true, Done nil true`:   {start: started(draintest.Server{})},
		`Readiness "ready", want a path, an http URL`: {start: started(draintest.Server{Addr: "127.0.0.1:1", Readiness: "ready", Shutdown: shutdown, Done: done})},
		"the server ended before the shutdown":        {start: started(draintest.Server{Addr: "127.0.0.1:1", Shutdown: shutdown, Done: ended})},
	} {
		if _, err := c.kit.Check(c.start); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestServersThatAreNotReady: a server that does not answer before the shutdown is an error,
// which says what it does not answer.
func TestServersThatAreNotReady(t *testing.T) {
	for want, handler := range map[string]http.HandlerFunc{
		"does not answer 200": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
		`the kind "upgraded"`: func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.URL.Path, "/readyz") {
				(&draintest.Endpoint{}).ServeHTTP(struct{ http.ResponseWriter }{w}, r) // no hijacking
			}
		},
	} {
		srv := httptest.NewServer(handler)
		kit := draintest.Kit{Patience: 200 * time.Millisecond, Clients: []draintest.Client{draintest.Fresh(), draintest.Upgraded()}}
		_, err := kit.Check(func() (draintest.Server, error) {
			return draintest.Server{Addr: srv.Listener.Addr().String(), Shutdown: func() {}, Done: make(chan struct{})}, nil
		})
		srv.Close()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestWithoutReadiness: a server without a probe is judged, and the verdict about the probe is
// not run, which is no pass.
func TestWithoutReadiness(t *testing.T) {
	s := subjects.Right()[0]
	kit := s.Kit
	kit.Rounds = 1
	kit.Clients = []draintest.Client{draintest.SlowBody(), draintest.Fresh()}
	r, err := kit.Check(func() (draintest.Server, error) {
		server, err := s.Start()
		server.Readiness = draintest.NoReadiness
		return server, err
	})
	if err != nil {
		t.Fatal(err)
	}
	if row := r.Row(draintest.ReadyFirst); row.Status != draintest.NotRun || !strings.Contains(r.String(), "NOT RUN") {
		t.Errorf("got %+v, want NOT RUN in the row and in the table", row)
	}
	if r.Failed() != nil || r.Row(draintest.NoneLost).Status != draintest.Pass {
		t.Errorf("got\n%s\nwant no failure", r)
	}
}

// TestThreeRoundsAtLeast: a kit without Rounds starts the server three times.
func TestThreeRoundsAtLeast(t *testing.T) {
	s := subjects.Right()[0]
	kit := s.Kit
	kit.Rounds, kit.Clients = 0, []draintest.Client{draintest.Fresh()}
	r, err := kit.Check(s.Start)
	if err != nil || r.Rounds < 3 {
		t.Errorf("got %v, %d rounds, want at least 3", err, r.Rounds)
	}
}

// TestRunFails runs TestRunOfAWrongSubject in a process of its own, where it fails.
func TestRunFails(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run=^TestRunOfAWrongSubject$", "-test.v")
	cmd.Env = append(os.Environ(), "WRONG=1")
	out, err := cmd.CombinedOutput()
	text := string(out)
	if err == nil {
		t.Error("the test of a wrong subject passed")
	}
	for _, want := range []string{
		"--- FAIL: TestRunOfAWrongSubject/none-cut", "--- PASS: TestRunOfAWrongSubject/none-lost", "--- SKIP: TestRunOfAWrongSubject/ready-first",
		"NOT RUN: Readiness turns before the listener closes: the server has no readiness probe",
		"No response is cut before the deadline: ", "of upgraded)", "ms  connected from ", "-- the server had ended --",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestRunOfAWrongSubject is for TestRunFails: elsewhere it checks the same server with clients
// that its mistake does not meet.
func TestRunOfAWrongSubject(t *testing.T) {
	s := subjects.Wrong()[3]
	s.Kit.Clients = []draintest.Client{draintest.SlowBody(), draintest.Upgraded()}
	if os.Getenv("WRONG") == "" {
		s.Kit.Clients = draintest.Without(s.Kit.Clients, "upgraded")
	}
	s.Kit.Run(t, func() (draintest.Server, error) {
		server, err := s.Start()
		server.Readiness = draintest.NoReadiness
		return server, err
	})
}

// TestVerdictsHaveSentences: each verdict has one, and nothing else does.
func TestVerdictsHaveSentences(t *testing.T) {
	for _, v := range draintest.Verdicts() {
		if draintest.Sentence(v) == "" {
			t.Errorf("%s has no sentence", v)
		}
	}
	if s := draintest.Sentence("none"); s != "" {
		t.Errorf("got %q for no verdict, want nothing", s)
	}
	if row := (draintest.Result{}).Row(draintest.Ended); row.Verdict != "" {
		t.Errorf("got %+v from an empty result, want the zero row", row)
	}
}
