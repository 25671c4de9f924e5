// Package stored reads values that a store may have kept for long: their JSON has a
// version, and a value that cannot be read is not an error.
package stored

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Read reads JSON whose field formatVersion has the version into out. Otherwise problem
// says why not, and out is to be ignored. Nothing at all, or null, leaves out as it is.
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
