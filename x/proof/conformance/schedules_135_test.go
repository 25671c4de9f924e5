//go:build !before135

package conformance

import (
	"github.com/robfig/cron/v3"
	"k8s.io/kubernetes/pkg/util/parsers"
)

// parseSchedule is how the real controller reads a schedule.
func parseSchedule(spec string) (cron.Schedule, error) {
	return parsers.ParseCronScheduleWithPanicRecovery(spec)
}
