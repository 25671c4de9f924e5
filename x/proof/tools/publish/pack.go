package publish

import (
	archive "archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/zip"
)

// Path implements [zip.File].
func (f file) Path() string { return f.name }

// Lstat implements [zip.File].
func (f file) Lstat() (fs.FileInfo, error) {
	info, err := os.Lstat(f.at)
	if err != nil || f.data == nil {
		return info, err
	}
	return sized{info, int64(len(f.data))}, nil
}

// Open implements [zip.File].
func (f file) Open() (io.ReadCloser, error) {
	if f.data == nil {
		return os.Open(f.at)
	}
	return io.NopCloser(bytes.NewReader(f.data)), nil
}

// sized is the description of a file, with another size.
type sized struct {
	fs.FileInfo
	size int64
}

func (s sized) Size() int64 { return s.size }

// pack makes the archive and its hashes, as the go command makes them from a tag: a module in a
// folder without a license gets the license of the repository.
func (m *Module) pack(root string) (err error) {
	var files []zip.File
	licensed, summed := false, len(m.Sum) == 0
	for _, f := range m.files {
		switch f.name {
		case "go.mod":
			f.data = m.Mod
		case "go.sum":
			f.data, summed = m.Sum, true
		case "LICENSE":
			licensed = true
		}
		files = append(files, f)
	}

	if !licensed {
		files = append(files, file{name: "LICENSE", at: filepath.Join(root, "LICENSE")})
	}
	if !summed {
		files = append(files, file{name: "go.sum", at: filepath.Join(root, m.Dir, "go.mod"), data: m.Sum})
	}

	var b bytes.Buffer
	if err := zip.Create(&b, module.Version{Path: m.Path, Version: m.Version}, files); err != nil {
		return err
	}
	m.Zip = b.Bytes()
	if m.ZipHash, err = hashZip(m.Zip); err != nil {
		return err
	}

	m.ModHash, err = dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(m.Mod)), nil
	})
	return err
}

// hashZip returns the hash of an archive.
func hashZip(data []byte) (string, error) {
	r, err := archive.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return "", err
	}
	var names []string
	for _, f := range r.File {
		names = append(names, f.Name)
	}
	return dirhash.Hash1(names, func(name string) (io.ReadCloser, error) { return r.Open(name) })
}

// Proxy writes modules as a module proxy serves them. The folder's file URL can be used in GOPROXY.
func Proxy(dir string, modules []*Module) error {
	for _, m := range modules {
		escaped, err := module.EscapePath(m.Path)
		if err != nil {
			return err
		}

		at := filepath.Join(dir, filepath.FromSlash(escaped), "@v")
		if err := os.MkdirAll(at, 0o777); err != nil {
			return err
		}

		info, err := json.Marshal(map[string]any{"Version": m.Version, "Time": time.Now().UTC()})
		if err != nil {
			return err
		}

		for name, data := range map[string][]byte{
			m.Version + ".zip":  m.Zip,
			m.Version + ".mod":  m.Mod,
			m.Version + ".info": info,
			"list":              []byte(m.Version + "\n"),
		} {
			if err := os.WriteFile(filepath.Join(at, name), data, 0o666); err != nil {
				return err
			}
		}
	}
	return nil
}
