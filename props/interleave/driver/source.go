package driver

import (
	"os"
	"strconv"
	"strings"
	"sync"
)

// sourceLines reads lines of source files, each file once.
type sourceLines struct {
	mu    sync.Mutex
	files map[string][]string
}

// at returns a line without the blanks around it; "" if it cannot be read.
func (s *sourceLines) at(file string, line uint64) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines, ok := s.files[file]
	if !ok {
		if b, err := os.ReadFile(file); err == nil {
			lines = strings.Split(string(b), "\n")
		}
		if s.files == nil {
			s.files = map[string][]string{}
		}
		s.files[file] = lines
	}
	if line == 0 || line > uint64(len(lines)) {
		return ""
	}
	return strings.Join(strings.Fields(lines[line-1]), " ")
}

func itoa(n uint64) string { return strconv.FormatUint(n, 10) }
