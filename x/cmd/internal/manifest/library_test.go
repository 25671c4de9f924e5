package manifest

import (
	"reflect"
	"strings"
	"testing"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/job"
)

// TestFieldNames: a field that the library reads is not reported as unknown.
func TestFieldNames(t *testing.T) {
	for part, of := range map[string]reflect.Type{"JobSpec": reflect.TypeFor[job.Spec](), "CronJobSpec": reflect.TypeFor[cronjob.Spec]()} {
		for _, f := range reflect.VisibleFields(of) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if _, ok := schema()[part][name]; !ok {
				t.Errorf("the field %s of %s is not named", name, of)
			}
		}
	}
}
