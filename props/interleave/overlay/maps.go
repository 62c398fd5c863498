package overlay

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"strings"
)

// A sync.Map is a tree whose shape depends on the hashes of its keys, which may be
// addresses. The operations inside of a method are therefore no points: each method is
// one operation, and each call that Range makes is another.

// mapFiles are the files that may declare Map. A release with two of them chooses one by
// a build constraint.
var mapFiles = []string{"sync/map.go", "sync/hashtriemap.go"}

// mapEdits returns the edits of the exported methods of Map.
func mapEdits(read func(name string) ([]byte, error)) ([]edit, error) {
	var edits []edit
	for _, name := range mapFiles {
		src, err := read(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		more, err := mapMethods(name, src)
		if err != nil {
			return nil, err
		}
		edits = append(edits, more...)
	}
	if len(edits) == 0 {
		return nil, fmt.Errorf("none of %s declares Map", strings.Join(mapFiles, ", "))
	}
	return edits, nil
}

// mapMethods returns the edits of one file.
func mapMethods(name string, src []byte) ([]edit, error) {
	file, err := parser.ParseFile(token.NewFileSet(), name, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var edits []edit
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv == nil || !f.Name.IsExported() || !strings.HasPrefix(funcName(f), "(*Map).") {
			continue
		}
		text := "ilvPoint(unsafe.Pointer(m), ilvMap); ilvHush(); defer ilvLoud()"
		if f.Name.Name == "Range" {
			text += "; " + f.Type.Params.List[0].Names[0].Name + " = ilvLoudly(m, " + f.Type.Params.List[0].Names[0].Name + ")"
		}
		edits = append(edits, edit{file: name, in: funcName(f), at: enter, text: text})
	}
	if len(edits) < 9 {
		return nil, fmt.Errorf("%s: found %d methods of Map, want at least 9", name, len(edits))
	}
	return edits, nil
}
