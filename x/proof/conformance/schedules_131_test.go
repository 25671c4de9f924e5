//go:build before135

package conformance

import "github.com/robfig/cron/v3"

// parseSchedule is how the real controller reads a schedule.
func parseSchedule(spec string) (cron.Schedule, error) { return cron.ParseStandard(spec) }
