//go:build !before135

package conformance

import (
	"github.com/robfig/cron/v3"
	"k8s.io/kubernetes/pkg/util/parsers"
)

// parseSchedule reads a schedule as the real controller does.
func parseSchedule(spec string) (cron.Schedule, error) {
	return parsers.ParseCronScheduleWithPanicRecovery(spec)
}
