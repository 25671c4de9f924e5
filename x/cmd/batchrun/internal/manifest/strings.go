package manifest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// maxWord is the length of the longest argument or variable that Linux passes to a process. The
// final NUL does not count.
const maxWord = 128<<10 - 1

// checkStrings refuses strings that a process cannot receive. Otherwise each pod would fail when it
// starts.
func (d *document) checkStrings(path string, value any) {
	switch v := value.(type) {
	case string:
		if strings.Contains(v, "\x00") {
			d.reject(path, "%s: contains a NUL, which a process cannot receive", brief(v))
		}
	case []any:
		for i := range v {
			d.checkStrings(fmt.Sprintf("%s[%d]", path, i), v[i])
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if strings.Contains(key, "\x00") {
				d.reject(path, "%s: contains a NUL, which a process cannot receive", brief(key))
			}
			d.checkStrings(strings.TrimPrefix(path+"."+key, "."), v[key])
		}
	}
}

// checkLength refuses a word that is too long for a process.
func (d *document) checkLength(path, word string) {
	if len(word) > maxWord {
		d.reject(path, "%s: has %d bytes; the limit of the system is %d", brief(word), len(word), maxWord)
	}
}
