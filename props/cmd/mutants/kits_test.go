package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestKitsExist: the pattern of each kit matches as many tests as it names. A test that was renamed
// would otherwise look for nothing, and pass.
func TestKitsExist(t *testing.T) {
	test := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	for _, k := range kits {
		files, err := filepath.Glob(filepath.Join(module, k.pkg, "*_test.go"))
		require.NoError(t, err)
		pattern, matches := regexp.MustCompile(k.test), 0
		for _, f := range files {
			text, err := os.ReadFile(f)
			require.NoError(t, err)
			for _, found := range test.FindAllStringSubmatch(string(text), -1) {
				if pattern.MatchString(found[1]) {
					matches++
				}
			}
		}
		require.Equal(t, strings.Count(k.test, "|")+1, matches, "%s %s", k.pkg, k.test)
	}
}
