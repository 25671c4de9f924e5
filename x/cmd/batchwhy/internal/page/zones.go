package page

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
)

// zonesOf makes a script that contains the zone database that comes with Go. A third of the files
// have the same content as another file, and each content is stored once. If the module contained
// the database, it would be almost twice as large.
func zonesOf(archive string) ([]byte, error) {
	r, err := zip.OpenReader(archive)
	if err != nil {
		return nil, err
	}
	defer r.Close()

	var all bytes.Buffer
	places := make(map[string][2]int) // offset and length of each content
	index := make(map[string][2]int)
	for _, f := range r.File {
		if f.FileInfo().IsDir() {
			continue
		}

		content, err := readZipped(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}

		place, ok := places[string(content)]
		if !ok {
			place = [2]int{all.Len(), len(content)}
			places[string(content)] = place
			all.Write(content)
		}
		index[f.Name] = place
	}

	names, err := json.Marshal(index)
	if err != nil {
		return nil, err
	}
	packed, err := packTwice(all.Bytes())
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "globalThis.batchplanZones = {\"files\": %s, \"data\": %q};\n", names,
		base64.StdEncoding.EncodeToString(packed)), nil
}

func readZipped(f *zip.File) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}
