//go:build browser

package main

import (
	"bytes"
	"context"
	"fmt"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"eventide/internal/timeline"

	"github.com/stretchr/testify/require"
)

// The tests of this file open the page in a headless Chromium, which `make report-browser`
// installs. BROWSER names another one.

// browser runs the browser on the page, and returns what it printed to standard output and
// to standard error, where its console goes.
func browser(t *testing.T, page string, args ...string) (out, console string) {
	t.Helper()
	name := os.Getenv("BROWSER")
	if name == "" {
		name = "chromium"
	}
	ctx, stop := context.WithTimeout(t.Context(), 3*time.Minute) // a browser that hangs
	defer stop()
	args = append([]string{"--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr", "--user-data-dir=" + t.TempDir()}, args...)
	cmd := exec.CommandContext(ctx, name, append(args, "file://"+page)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.NoError(t, cmd.Run(), "%s\n%s", strings.Join(cmd.Args, " "), &stderr)
	return stdout.String(), stderr.String()
}

// consoleLine is a message of the page or about it, such as a script that failed.
var consoleLine = regexp.MustCompile(`(?m)^.*:CONSOLE.*$`)

// probe is a script that uses the page as a reader does and writes what came of it into the
// title, which the browser prints with the rest of the document.
const probe = `<script>addEventListener("load", function () {
  var said = [];
  function press(key) {
    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: key, bubbles: true, cancelable: true }));
  }
  function row() { return document.activeElement.querySelector(".number").textContent; }
  press("b"); said.push("b:" + row() + ":" + document.activeElement.hasAttribute("data-breach"));
  press("k"); press("k"); press("j"); said.push("kkj:" + row());
  var box = document.querySelector(".scroll"), breach = document.querySelector("[data-breach]");
  var b = box.getBoundingClientRect(), r = breach.getBoundingClientRect();
  said.push("breach is in the middle:" + (Math.abs((r.top + r.bottom) - (b.top + b.bottom)) < b.height / 4));
  document.querySelectorAll("a[href^='#']").forEach(function (a) {
    a.click();
    if (!document.getElementById(a.getAttribute("href").slice(1)) || location.hash !== a.getAttribute("href")) said.push("dead link " + a.getAttribute("href"));
  });
  said.push("wider than the window:" + (document.documentElement.scrollWidth > document.documentElement.clientWidth));
  document.title = said.join(" | ");
});</script>`

var title = regexp.MustCompile(`<title>([^<]*)</title>`)

// TestBrowserOpensThePage: in a wide and in a narrow window the page has no message on the
// console, its keys and links work, the breach of a long run is in the middle, and nothing
// makes the reader scroll sideways.
func TestBrowserOpensThePage(t *testing.T) {
	page, l := failingPage(t)
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	probed := filepath.Join(t.TempDir(), "probed.html")
	require.NoError(t, os.WriteFile(probed, bytes.Replace(text, []byte("</body>"), []byte(probe+"</body>"), 1), 0o644))
	row := 0
	for i, r := range l.Rows {
		if r.Kind == timeline.Breach {
			row = i + 1
		}
	}
	for _, size := range []string{"1200,900", "400,800"} {
		out, console := browser(t, probed, "--dump-dom", "--window-size="+size, "--virtual-time-budget=5000")
		require.Empty(t, consoleLine.FindAllString(console, -1), "messages on the console at %s", size)
		want := fmt.Sprintf("b:%d:true | kkj:%d | breach is in the middle:true | wider than the window:false", row, row-1)
		require.Equal(t, want, title.FindStringSubmatch(out)[1], "at %s", size)
		require.Contains(t, out, l.Rows[0].Text)
	}
}

// TestBrowserSeesAnError: the test above would see a script that fails.
func TestBrowserSeesAnError(t *testing.T) {
	page := filepath.Join(t.TempDir(), "a.html")
	require.NoError(t, os.WriteFile(page, []byte("<script>missing()</script>"), 0o644))
	_, console := browser(t, page, "--dump-dom")
	require.Contains(t, strings.Join(consoleLine.FindAllString(console, -1), "\n"), "missing is not defined")
}

// TestBrowserScreenshots writes pictures for a person to out/screenshots, and wants them to
// differ where the page must: light and dark, wide and narrow.
func TestBrowserScreenshots(t *testing.T) {
	page, _ := failingPage(t)
	dir, err := filepath.Abs("../../../out/screenshots")
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(dir, 0o755))
	seen := map[string]string{}
	for name, args := range map[string][]string{
		"wide-light":   {"--window-size=1200,3000"},
		"wide-dark":    {"--window-size=1200,3000", "--force-dark-mode", "--blink-settings=preferredColorScheme=0"},
		"narrow-light": {"--window-size=400,4000"},
	} {
		path := filepath.Join(dir, name+".png")
		browser(t, page, append(args, "--screenshot="+path, "--virtual-time-budget=5000")...)
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		_, err = png.Decode(bytes.NewReader(data))
		require.NoError(t, err, path)
		for other, same := range seen {
			require.NotEqual(t, same, string(data), "%s looks like %s", name, other)
		}
		seen[name] = string(data)
	}
	out := filepath.Join(dir, "printed.pdf")
	browser(t, page, "--print-to-pdf="+out)
	require.FileExists(t, out)
}

// failingPage is the page of a run that found a recorded bug, with many rows before and after it.
func failingPage(t *testing.T) (path string, l *timeline.Timeline) {
	v, cases := passing(), t.TempDir()
	v.began = time.Now()
	v.lane.Failed["G3"] = "G3 an accepted task runs: task 2, accepted at #9, never ran"
	l = broken(t)
	before := timeline.Row{At: "0s", Actor: 0, Text: "lock  core/admit.go:12", Detail: "e.mu.Lock()"}
	after := before
	after.State = l.Rows[len(l.Rows)-1].State
	l.Rows = slices.Concat(slices.Repeat([]timeline.Row{before}, 200), l.Rows, slices.Repeat([]timeline.Row{after}, 200))
	require.NoError(t, l.Save(filepath.Join(cases, "G3-new"+timeline.Extension)))
	path, _ = pageOf(t, v, cases)
	return path, l
}
