package manifest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// maxWord is the length of the longest argument or variable that Linux gives to a
// process, the byte that ends it not counted.
const maxWord = 128<<10 - 1

// checkStrings refuses what no process can be given: to find out when it is started
// would cost a pod each time.
func (d *document) checkStrings(path string, value any) {
	switch v := value.(type) {
	case string:
		if strings.Contains(v, "\x00") {
			d.reject(path, "%s: holds a NUL, which no process can be given", brief(v))
		}
	case []any:
		for i := range v {
			d.checkStrings(fmt.Sprintf("%s[%d]", path, i), v[i])
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if strings.Contains(key, "\x00") {
				d.reject(path, "%s: holds a NUL, which no process can be given", brief(key))
			}
			d.checkStrings(strings.TrimPrefix(path+"."+key, "."), v[key])
		}
	}
}

// checkLength refuses a word that is too long for a process.
func (d *document) checkLength(path, word string) {
	if len(word) > maxWord {
		d.reject(path, "%s: has %d bytes; a process can be given words of at most %d", brief(word), len(word), maxWord)
	}
}
