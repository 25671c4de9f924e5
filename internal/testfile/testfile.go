// Package testfile reads and writes the files of tests. An error ends the test.
package testfile

import (
	"os"
	"path/filepath"
	"testing"
)

// Read returns the text of a file, whose path is joined from parts.
func Read(t testing.TB, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Write writes a file, with the folders that it needs.
func Write(t testing.TB, text string, path ...string) {
	t.Helper()
	file := filepath.Join(path...)
	err := os.MkdirAll(filepath.Dir(file), 0o755)
	if err == nil {
		err = os.WriteFile(file, []byte(text), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Folder makes a folder with files, and returns its path.
func Folder(t testing.TB, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range files {
		Write(t, text, folder, name)
	}
	return folder
}
