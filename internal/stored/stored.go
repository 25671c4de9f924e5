// Package stored reads values that may have been in a store for a long time: their JSON has a
// version, and a value that cannot be read is not an error.
package stored

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Read decodes JSON into out if its field formatVersion equals version. It returns the problem if
// the version or the JSON is wrong; then out must be ignored. Empty data, or null, leaves out
// unchanged.
func Read(data []byte, version int, out any) (problem string) {
	if data = bytes.TrimSpace(data); len(data) == 0 || string(data) == "null" {
		return ""
	}

	var format struct {
		FormatVersion int `json:"formatVersion"`
	}

	err := json.Unmarshal(data, &format)
	if err == nil && format.FormatVersion != version {
		return fmt.Sprintf("its format has version %d, not %d", format.FormatVersion, version)
	}
	if err == nil {
		err = json.Unmarshal(data, out)
	}
	if err != nil {
		return err.Error()
	}
	return ""
}
