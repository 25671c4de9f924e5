package read

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
)

// TestFieldNames: a field that the library reads is not reported as unknown.
func TestFieldNames(t *testing.T) {
	for part, of := range map[string]reflect.Type{"job": reflect.TypeFor[job.Spec](), "cronjob": reflect.TypeFor[cronjob.Spec]()} {
		for _, f := range reflect.VisibleFields(of) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if !slices.Contains(strings.Fields(fieldNames[part]), name) {
				t.Errorf("the field %s of %s is not named", name, of)
			}
		}
	}
}
