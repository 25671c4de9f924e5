package pod

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"

	"github.com/batchplan/batchplan/x/cmd/batchrun/internal/patience"
)

// A record is a JSON file in a pod's folder: spec.json, guard.json, state.json or stop. It is
// replaced as a whole, never edited, and contains the checksum of its bytes. So if a record is cut
// short or a bit has flipped, it is recognised as damaged even if it is valid JSON.
//
// Records without a checksum are refused as damaged.

// maxRecord is the maximum size of a record. A container may replace a record by a file of any
// size.
const maxRecord = 64 << 20

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// seal returns the content of the file for a record.
func seal(data []byte) []byte {
	return fmt.Appendf(nil, `{"crc32c":"%08x","record":%s}`+"\n", crc32.Checksum(data, castagnoli), data)
}

// unseal returns the record in a file. The file must be, to the byte, what seal returned.
func unseal(file []byte) ([]byte, error) {
	frame := seal(nil)
	tail := len("}\n")
	if len(file) < len(frame) {
		return nil, errDamaged
	}

	data := file[len(frame)-tail : len(file)-tail]
	if !bytes.Equal(seal(data), file) {
		return nil, errDamaged
	}
	return data, nil
}

// errDamaged is the error for a record whose content has changed.
var errDamaged = errors.New("it is damaged: its checksum does not match")

// Unreadable is the error for a file of a pod that was damaged or replaced. Trying again does not help.
type Unreadable struct {
	Path string
	Err  error
}

// Error names the file.
func (u *Unreadable) Error() string { return fmt.Sprintf("%s cannot be read: %v", u.Path, u.Err) }

// Unwrap returns the reason.
func (u *Unreadable) Unwrap() error { return u.Err }

// IsUnreadable reports whether an error is an *Unreadable.
func IsUnreadable(err error) bool {
	var u *Unreadable
	return errors.As(err, &u)
}

// unreadable wraps an error in an *Unreadable, unless the file is missing or the failure is
// temporary.
func unreadable(path string, err error) error {
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist), patience.IsTransient(err), IsUnreadable(err):
		return err
	}
	return &Unreadable{Path: path, Err: err}
}

func (f Folder) readRecord(name string, v any) error {
	file, err := f.openFile(os.O_RDONLY, name)
	if err != nil {
		return err
	}
	defer file.Close()

	content, err := io.ReadAll(io.LimitReader(file, maxRecord+1))
	if err == nil && len(content) > maxRecord {
		err = errDamaged
	}
	var data []byte
	if err == nil {
		data, err = unseal(content)
	}
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	return unreadable(f.path(name), err)
}

// writeRecord replaces a record of the pod.
func (f Folder) writeRecord(name string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return f.write(name, seal(data))
}
