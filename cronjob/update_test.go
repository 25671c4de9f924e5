package cronjob

import (
	"strings"
	"testing"

	"github.com/batchplan/batchplan/internal/value"
)

// TestValidateUpdate: what was there before may stay.
func TestValidateUpdate(t *testing.T) {
	zone := func(s string) *string { return value.To(s) }
	for _, test := range []struct {
		name      string
		old, next Spec
		want      string
	}{
		{"any field", Spec{Schedule: "0 0 * * *"}, Spec{Schedule: "@hourly", TimeZone: zone("Europe/Berlin"), Suspend: value.To(true)}, ""},
		{"a zone that was in the schedule", Spec{Schedule: "TZ=UTC 0 0 * * *"}, Spec{Schedule: "CRON_TZ=UTC 1 0 * * *"}, ""},
		{"a zone that comes into the schedule", Spec{Schedule: "0 0 * * *"}, Spec{Schedule: "TZ=UTC 0 0 * * *"}, "spec.schedule"},
		{"both zones", Spec{Schedule: "TZ=UTC 0 0 * * *"}, Spec{Schedule: "TZ=UTC 0 0 * * *", TimeZone: zone("UTC")}, "spec.schedule"},
		{"a schedule that does not parse", Spec{Schedule: "TZ=UTC 0 0 * * *"}, Spec{Schedule: "TZ=UTC 0 0"}, "spec.schedule"},
		{"an unknown zone that stays", Spec{Schedule: "0 0 * * *", TimeZone: zone("Mars/Base")}, Spec{Schedule: "1 0 * * *", TimeZone: zone("Mars/Base")}, ""},
		{"an unknown zone", Spec{Schedule: "0 0 * * *", TimeZone: zone("UTC")}, Spec{Schedule: "0 0 * * *", TimeZone: zone("Mars/Base")}, "spec.timeZone"},
		{"a negative limit", Spec{Schedule: "0 0 * * *"}, Spec{Schedule: "0 0 * * *", FailedJobsHistoryLimit: value.To[int32](-1)}, "spec.failedJobsHistoryLimit"},
	} {
		Default(&test.old)
		Default(&test.next)
		err := ValidateUpdate(test.old, test.next)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.HasPrefix(err.Error(), test.want+": ")) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}
