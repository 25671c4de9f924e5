package main

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"testing"
)

// TestBugsFit checks that each bug can still be put back.
func TestBugsFit(t *testing.T) {
	for _, b := range bugs {
		for _, e := range b.Edits {
			text, err := e.apply(filepath.Join("..", "..", "..", filepath.FromSlash(e.File)))
			if err != nil {
				t.Errorf("%s: %v", b.Name, err)
				continue
			}
			if _, err := parser.ParseFile(token.NewFileSet(), e.File, text, 0); err != nil {
				t.Errorf("%s: %v", b.Name, err)
			}
		}
	}
}

func TestFirstOf(t *testing.T) {
	for out, want := range map[string]int{
		"seed 1\n\ntestdata/found/1-77.txt: script 77 of seed 1 shows a difference\n": 77,
		"\nround 3 of seed 7 differs:\n":                                              3,
		"2000 scripts, 64000 steps, 0 differences":                                    -1,
		"20000 rounds, 0 differences":                                                 -1,
	} {
		if got, err := firstOf(out); got != want || err != nil {
			t.Errorf("%q: %d, %v; want %d", out, got, err, want)
		}
	}
	if n, err := firstOf("panic: the script does not end"); err == nil {
		t.Errorf("a run without a result: %d", n)
	}
}
