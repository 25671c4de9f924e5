package command

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// Caller returns the folder of the user's shell, in which relative paths start. It is the
// working folder, except under "go run -C DIR": then the go command starts the program in DIR
// and leaves the user's folder in PWD.
func Caller() string {
	wd, err := os.Getwd()
	if err != nil {
		return "."
	}
	exe, err := os.Executable()
	caller := os.Getenv("PWD")
	if err != nil || !filepath.IsAbs(caller) || !strings.Contains(exe, string(filepath.Separator)+"go-build") {
		return wd
	}
	if info, err := os.Stat(caller); err != nil || !info.IsDir() {
		return wd
	}
	return caller
}

// Path resolves the path of a file to write, relative to the caller's folder.
func Path(name string) string {
	if name == "" || filepath.IsAbs(name) || Caller() == workingFolder() {
		return name
	}
	return filepath.Join(Caller(), name)
}

// Input resolves the path of a file to read. Under "go run -C DIR" it may also be relative to
// DIR, as the go command's own arguments are; the caller's folder is tried first.
func Input(name string) string {
	path := Path(name)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		if _, err := os.Stat(name); err == nil {
			return name
		}
	}
	return path
}

func workingFolder() string {
	wd, err := os.Getwd()
	if err != nil {
		return "."
	}
	return wd
}
