package compare

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"strconv"
	"strings"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// A Histogram is the distribution of a case's latency, in nanoseconds.
type Histogram struct {
	Name, Unit string
	*hdr.Histogram
}

// histogramHeader is the first line of the file, whose format package bench
// describes.
const histogramHeader = "# name unit samples histogram"

// WriteHistograms writes the distribution of every case that has one, of all rounds
// together.
func (r Results) WriteHistograms(w io.Writer) error {
	if _, err := fmt.Fprintln(w, histogramHeader); err != nil {
		return err
	}
	for _, s := range r {
		if s.slices[0].Latency == nil {
			continue
		}
		all := hdr.Import(s.slices[0].Latency.Export())
		for _, slice := range s.slices[1:] {
			if dropped := all.Merge(slice.Latency); dropped > 0 {
				return fmt.Errorf("compare: %d samples of %s do not fit its histogram", dropped, s.Name())
			}
		}
		encoded, err := all.Encode(hdr.V2CompressedEncodingCookieBase)
		if err != nil {
			return fmt.Errorf("compare: %s: %w", s.Name(), err)
		}
		if _, err := fmt.Fprintf(w, "%s\tns/%s\t%d\t%s\n", s.Name(), s.Unit, all.TotalCount(), encoded); err != nil {
			return err
		}
	}
	return nil
}

// ReadHistograms reads what WriteHistograms wrote.
func ReadHistograms(r io.Reader) ([]Histogram, error) {
	lines := bufio.NewReader(r)
	header, err := lines.ReadString('\n')
	if err != nil || strings.TrimSpace(header) != histogramHeader {
		return nil, fmt.Errorf("histograms: first line is %q, want %q", strings.TrimSpace(header), histogramHeader)
	}
	var all []Histogram
	for n := 2; ; n++ {
		line, err := lines.ReadString('\n')
		if err == io.EOF && line == "" {
			return all, nil
		}
		if err != nil && err != io.EOF {
			return nil, err
		}
		h, err := parseHistogram(strings.TrimSuffix(line, "\n"))
		if err != nil {
			return nil, fmt.Errorf("histograms, line %d: %w", n, err)
		}
		all = append(all, h)
	}
}

func parseHistogram(line string) (Histogram, error) {
	fields := strings.Split(line, "\t")
	if len(fields) != 4 {
		return Histogram{}, fmt.Errorf("got %d fields, want name, unit, samples and histogram", len(fields))
	}
	if _, err := base64.StdEncoding.DecodeString(fields[3]); err != nil {
		return Histogram{}, err
	}
	h, err := hdr.Decode([]byte(fields[3]))
	if err != nil {
		return Histogram{}, err
	}
	if got := strconv.FormatInt(h.TotalCount(), 10); got != fields[2] {
		return Histogram{}, fmt.Errorf("%s: the histogram has %s samples, want %s", fields[0], got, fields[2])
	}
	return Histogram{Name: fields[0], Unit: fields[1], Histogram: h}, nil
}
