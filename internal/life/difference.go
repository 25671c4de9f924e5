package life

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/batchplan/batchplan/internal/value"
)

// Difference compares two values by their JSON, times by the second. It names the first field that
// differs, as in "startTime: got 00:00:01, want 00:00:00", and is empty if none does. An empty list
// or object equals a missing one.
func Difference(want, is any) string {
	if reflect.DeepEqual(want, is) { // the common case
		return ""
	}
	return differ("", tree(want), tree(is))
}

// tree encodes a value as JSON and decodes it into maps, lists and plain values.
func tree(v any) (all any) {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&all); err != nil {
		return err.Error()
	}
	return all
}

func differ(path string, want, is any) string {
	if isNone(want) && isNone(is) {
		return ""
	}
	switch want := want.(type) {
	case map[string]any:
		is, _ := is.(map[string]any)
		keys := maps.Clone(want)
		maps.Copy(keys, is)
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			if text := differ(join(path, key), want[key], is[key]); text != "" {
				return text
			}
		}
		return ""
	case []any:
		is, _ := is.([]any)
		for i := range max(len(want), len(is)) {
			if text := differ(fmt.Sprintf("%s[%d]", path, i), value.At(want, i), value.At(is, i)); text != "" {
				return text
			}
		}
		return ""
	}

	if a, b := plain(want), plain(is); a != b {
		return fmt.Sprintf("%s: got %s, want %s", path, b, a)
	}
	return ""
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// isNone reports whether a value is missing, or has no elements.
func isNone(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

// plain returns the text of a value that is neither a list nor an object.
func plain(v any) string {
	if text, ok := v.(string); ok {
		if t, err := time.Parse(time.RFC3339, text); err == nil {
			return t.UTC().Truncate(time.Second).Format(time.RFC3339)
		}
	}

	if text, err := json.Marshal(v); err == nil && v != nil {
		return string(text)
	}
	return "missing"
}
