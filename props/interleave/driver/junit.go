package driver

import (
	"encoding/xml"
	"fmt"
	"os"
)

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
	Output   string      `xml:"system-out,omitempty"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitMessage `xml:"failure"`
	Skipped *junitMessage `xml:"skipped"`
	Output  string        `xml:"system-out,omitempty"`
}

type junitMessage struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// writeJUnit writes the results as JUnit XML. A package that could not be built is a
// suite with an error.
func (k *sink) writeJUnit(name string) error {
	var all junitSuites
	for _, s := range k.suites {
		j := junitSuite{Name: s.name, Time: fmt.Sprintf("%.3f", s.took.Seconds())}
		for _, line := range s.text {
			j.Output += line + "\n"
		}
		for _, t := range s.tests {
			c := junitCase{Class: s.name, Name: t.name, Time: fmt.Sprintf("%.3f", t.took.Seconds()), Output: t.notice}
			switch t.result {
			case "fail":
				j.Failures++
				c.Failure = &junitMessage{firstLine(t.text), t.text}
			case "skip":
				j.Skipped++
				c.Skipped = &junitMessage{firstLine(t.text), t.text}
			}
			j.Cases = append(j.Cases, c)
		}
		j.Tests = len(j.Cases)
		if s.result == "fail" && j.Failures == 0 {
			j.Errors++
		}
		all.Tests += j.Tests
		all.Failures += j.Failures + j.Errors
		all.Skipped += j.Skipped
		all.Suites = append(all.Suites, j)
	}
	b, err := xml.MarshalIndent(all, "", "\t")
	if err != nil {
		return err
	}
	if err := os.WriteFile(name, append([]byte(xml.Header), append(b, '\n')...), 0o644); err != nil {
		return inputError("-junit: %w", err)
	}
	return nil
}
